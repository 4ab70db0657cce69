//! `deskhand-desk child`: becomes a program that dies with the supervisor.

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, getppid, set_parent_process_death_signal, setsid};

/// Like a shell's.
const NOT_FOUND: u8 = 127;
const NOT_RUNNABLE: u8 = 126;

/// Ties itself to its parent and becomes the program. Returns only if that fails.
pub(super) fn become_program(args: &[OsString]) -> Option<u8> {
    let [parent, kind, dashes, program, args @ ..] = args else { return None };
    if dashes != "--" {
        return None;
    }
    let parent: i32 = parent.to_str()?.parse().ok()?;
    if let Err(error) = set_parent_process_death_signal(Some(Signal::KILL)) {
        eprintln!("deskhand-desk: cannot be tied to the supervisor: {error}");
        return Some(1);
    }
    // The parent may have ended before the line above.
    if getppid().map(|pid| pid.as_raw_nonzero().get()) != Some(parent) {
        return Some(1);
    }
    if kind == "part" {
        // A Ctrl-C on the person's terminal is for the command, not for the X server.
        let _ = setsid();
    }
    let error = Command::new(program).args(args).exec();
    eprintln!("deskhand-desk: cannot run {}: {error}", program.display());
    Some(if error.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { NOT_RUNNABLE })
}
