//! The program `deskhand-desk`: keeps one desk and leaves nothing of it behind.
//!
//! ```text
//! deskhand-desk supervise HOME OPTIONS OWNER               one desk; owner = our standard input
//! deskhand-desk exec HOME OPTIONS OWNER REPORT -- CMD…     one command on a fresh desk
//! deskhand-desk child PARENT part|command -- PROGRAM…      becomes PROGRAM, which dies with PARENT
//! ```

mod child;
mod keep;
mod log;
mod parts;
mod watch;

use std::ffi::{OsStr, OsString};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use deskhand_config::Home;
use rustix::process::{Signal, getppid, set_child_subreaper, set_parent_process_death_signal, setsid};
use serde::Serialize;

use crate::error::{DeskError, Result, Said};
use crate::options::{Options, Owner};
use crate::procs;
use keep::Keeper;
pub(crate) use keep::in_foreground;
use watch::Watch;

const USAGE: u8 = 2;

/// Runs the program. `args` without its own name.
#[must_use]
pub fn main(args: Vec<OsString>) -> ExitCode {
    let mut args = args.into_iter();
    let mode = args.next().unwrap_or_default();
    let rest: Vec<OsString> = args.collect();
    let code = match mode.to_str() {
        Some("child") => child::become_program(&rest),
        Some("supervise") => Job::read(&rest, false).map(|job| supervise(&job)),
        Some("exec") => Job::read(&rest, true).map(|job| exec(&job)),
        _ => None,
    };
    ExitCode::from(code.unwrap_or_else(|| {
        eprintln!("deskhand-desk is started by deskhand; type `deskhand desk --help`");
        USAGE
    }))
}

/// What a supervisor is told on its command line.
struct Job {
    home: Home,
    options: Options,
    owner: u32,
    report: Option<PathBuf>,
    command: Vec<OsString>,
}

impl Job {
    fn read(args: &[OsString], exec: bool) -> Option<Self> {
        let (args, command) = match args.iter().position(|a| a == "--") {
            Some(at) => (&args[..at], args[at + 1..].to_vec()),
            None => (args, Vec::new()),
        };
        let [home, options, owner, report @ ..] = args else { return None };
        if exec != (report.len() == 1 && !command.is_empty()) {
            return None;
        }
        Some(Self {
            home: Home::at(home),
            options: serde_json::from_str(options.to_str()?).ok()?,
            owner: owner.to_str()?.parse().ok()?,
            report: report.first().map(PathBuf::from),
            command,
        })
    }
}

/// Keeps a desk until its owner goes away or somebody stops it.
fn supervise(job: &Job) -> u8 {
    // Out of the owner's session: a Ctrl-C there is not meant for the desk.
    let _ = setsid();
    let owned = job.options.owner == Owner::ThisProcess;
    let kept = settle(job, owned, None).and_then(|mut keeper| match keeper.bring_up(&job.options) {
        Ok(()) => {
            say(&Said::Ready(keeper.state()));
            let end = keeper.run(None);
            keeper.tear_down();
            Ok(end)
        }
        Err(error) => {
            keeper.tear_down();
            Err(error)
        }
    });
    match kept {
        Ok(end) => {
            if let Some(why) = end.fault {
                // The owner, if it still is there, learns why when it looks.
                say(&why);
                return 1;
            }
            0
        }
        Err(error) => {
            say(&Said::<()>::Error(error.into()));
            1
        }
    }
}

/// Runs one command on a fresh desk, with our terminal, and ends like it.
fn exec(job: &Job) -> u8 {
    let ran = tied_to_owner(job.owner).and_then(|()| {
        let mut keeper = settle(job, false, Some(job.owner))?;
        let ran = keeper.bring_up(&job.options).and_then(|()| {
            let command = keeper.start_command(&job.command)?;
            let end = keeper.run(Some(command));
            end.fault.map_or(Ok(end.code), |why| Err(DeskError::Ended(why)))
        });
        keeper.tear_down();
        ran
    });
    ran.unwrap_or_else(|error| {
        if let (Some(report), true) = (&job.report, procs::is_alive(job.owner)) {
            let error: deskhand_protocol::Error = error.into();
            let _ = std::fs::write(report, serde_json::to_vec(&error).unwrap_or_default());
        }
        1
    })
}

/// In `exec`, standard input belongs to the command, so the owner's end is told by a signal.
fn tied_to_owner(owner: u32) -> Result<()> {
    set_parent_process_death_signal(Some(Signal::USR1)).map_err(|e| DeskError::start("the supervisor", e))?;
    // It may have ended before the line above.
    if getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs()) != Some(owner) {
        return Err(DeskError::Ended("its owner went away".into()));
    }
    Ok(())
}

fn settle(job: &Job, owner_on_stdin: bool, owner: Option<u32>) -> Result<Keeper> {
    let cannot = |e: rustix::io::Errno| DeskError::start("the supervisor", e);
    let watch = Watch::new(owner_on_stdin)?;
    // Whatever on the desk loses its parent becomes our child, so that nothing slips away.
    set_child_subreaper(Some(rustix::process::getpid())).map_err(cannot)?;
    let owner_pid = owner.or_else(|| owner_on_stdin.then_some(job.owner));
    Keeper::claim(&job.home, &job.options, owner_pid, watch)
}

fn say<T: Serialize>(what: &T) {
    if let Ok(mut line) = serde_json::to_vec(what) {
        line.push(b'\n');
        let mut out = std::io::stdout();
        // Whoever listened may be gone; that is theirs.
        let _ = out.write_all(&line).and_then(|()| out.flush());
    }
}

/// This very program, even if its file has been replaced since.
fn own_program() -> &'static Path {
    Path::new(OsStr::new("/proc/self/exe"))
}
