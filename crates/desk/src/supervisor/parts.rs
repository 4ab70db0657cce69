//! The programs a desk is made of, as children of the supervisor.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io::Read;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deskhand_protocol::Size;

use super::own_program;
use crate::error::{DeskError, Result};
use crate::state::State;

/// How much of what a part complains about is kept.
const TAIL_BYTES: usize = 8 << 10;

/// One program.
pub(super) struct Part {
    /// As people know it.
    pub(super) name: &'static str,
    pub(super) pid: u32,
    /// Where it says that it is ready.
    pub(super) out: Option<ChildStdout>,
    tail: Arc<Mutex<VecDeque<u8>>>,
    /// Its last words have been read.
    silent: Arc<std::sync::atomic::AtomicBool>,
}

impl Part {
    /// Starts a program of the desk, tied to the supervisor's life. Its standard output is ours to
    /// read; of its standard error the last bytes are kept in memory, never in a file that grows.
    pub(super) fn start(
        name: &'static str,
        program: &Path,
        args: Vec<OsString>,
        state: &State,
    ) -> Result<Self> {
        let mut command = own_child("part");
        state.apply(&mut command);
        let mut child = command
            .arg(program)
            .args(args)
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| DeskError::start(name, e))?;
        let (tail, silent) = keep_tail(&mut child);
        Ok(Self { name, pid: child.id(), out: child.stdout.take(), tail, silent })
    }

    /// What it complained about last.
    pub(super) fn complaint(&self) -> String {
        // Its words may still be on the way when its end is seen; a moment is enough, it is over.
        for _ in 0..50 {
            if self.silent.load(std::sync::atomic::Ordering::Acquire) {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        let tail: Vec<u8> =
            self.tail.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = String::from_utf8_lossy(&tail);
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        lines[lines.len().saturating_sub(4)..].join("; ")
    }
}

/// `deskhand-desk child`, ready to take the program's name and arguments.
pub(super) fn own_child(kind: &str) -> Command {
    let mut command = Command::new(own_program());
    command.arg("child").arg(std::process::id().to_string()).arg(kind).arg("--");
    command
}

type Tail = (Arc<Mutex<VecDeque<u8>>>, Arc<std::sync::atomic::AtomicBool>);

fn keep_tail(child: &mut Child) -> Tail {
    let (tail, silent): Tail = Default::default();
    if let Some(mut from) = child.stderr.take() {
        let (tail, silent) = (Arc::clone(&tail), Arc::clone(&silent));
        std::thread::spawn(move || {
            let mut bytes = [0; 1024];
            while let Ok(n @ 1..) = from.read(&mut bytes) {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend(&bytes[..n]);
                let over = tail.len().saturating_sub(TAIL_BYTES);
                tail.drain(..over);
            }
            silent.store(true, std::sync::atomic::Ordering::Release);
        });
    }
    (tail, silent)
}

/// The X server's arguments. It says on its standard output when it is ready.
pub(super) fn x_args(number: u32, screen: Size, dpi: u32, key: &Path) -> Vec<OsString> {
    let number = format!(":{number}");
    let screen = format!("{}x{}x24", screen.width, screen.height);
    let dpi = dpi.to_string();
    let mut args: Vec<OsString> =
        [&number, "-displayfd", "1", "-nolisten", "tcp", "-noreset", "-screen", "0", &screen, "-dpi", &dpi]
            .map(OsString::from)
            .into();
    // No screen saver and no power saving: a desk nobody looks at must not go dark.
    args.extend(["-s", "0", "-dpms", "-auth"].map(OsString::from));
    args.push(key.into());
    args
}

/// The session bus's arguments.
pub(super) fn bus_args(address: &str) -> Vec<OsString> {
    let address = format!("--address={address}");
    ["--session", &address, "--nofork", "--nopidfile", "--nosyslog", "--print-address=1"]
        .map(OsString::from)
        .into()
}

/// The window manager's arguments.
pub(super) fn manager_args(config: &Path) -> Vec<OsString> {
    vec!["--sm-disable".into(), "--config-file".into(), config.into()]
}

/// The window manager's configuration.
pub(super) const MANAGER_CONFIG: &str = include_str!("openbox.xml");

/// The address of a bus socket. Bytes that mean something in an address are written as `%xx`.
pub(super) fn bus_address(socket: &Path) -> String {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;
    let mut address = "unix:path=".to_owned();
    for &byte in socket.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || b"-_/.\\*".contains(&byte) {
            address.push(byte.into());
        } else {
            let _ = write!(address, "%{byte:02x}");
        }
    }
    address
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_escaped() {
        assert_eq!(bus_address(Path::new("/a/b-1_c.d/bus")), "unix:path=/a/b-1_c.d/bus");
        assert_eq!(bus_address(Path::new("/a b,c/ä")), "unix:path=/a%20b%2cc/%c3%a4");
    }
}
