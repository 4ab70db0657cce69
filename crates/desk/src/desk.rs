//! A desk in the hand of a program.

use std::ffi::OsStr;
use std::io::Read;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use deskhand_config::Home;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::error::{DeskError, Result, Said};
use crate::options::{Options, Owner};
use crate::state::{DeskInfo, State};
use crate::{dirs, locate, registry, x11};

/// How long a supervisor may take until it speaks. Longer than it gives its own parts.
const READY: Duration = Duration::from_secs(30);
/// How long it may take to end everything.
const END: Duration = Duration::from_secs(12);
/// The longest line a supervisor may say.
const MAX_LINE: usize = 64 << 10;

/// A running desk. One that this process owns ends when it is dropped, at the latest when the
/// process ends.
#[derive(Debug)]
pub struct Desk {
    state: State,
    home: Home,
    /// The supervisor, if we started it.
    child: Option<Child>,
    owned: bool,
}

impl Desk {
    /// Starts a desk and waits until applications can be started on it.
    pub fn start(options: &Options, home: &Home) -> Result<Self> {
        options.check()?;
        dirs::desks(home)?;
        let owned = options.owner == Owner::ThisProcess;
        let program = locate::supervisor()?;
        let options = serde_json::to_string(options).map_err(|e| DeskError::start("the supervisor", e))?;
        let mut child = Command::new(&program)
            .arg("supervise")
            .arg(home.root())
            .arg(options)
            .arg(std::process::id().to_string())
            // The other end is ours alone and closes when we end, however we end.
            .stdin(if owned { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(DeskError::io("run", &program))?;
        let said = read_line(&mut child, READY).and_then(|line| {
            serde_json::from_str::<Said<State>>(&line)
                .map_err(|_| DeskError::start("the supervisor", format!("it said {line:?}")))
        });
        let failed = match said {
            Ok(Said::Ready(state)) => {
                return Ok(Self { state, home: home.clone(), child: Some(child), owned });
            }
            Ok(Said::Error(error)) => DeskError::Told(error),
            Err(error) => error,
        };
        drop(child.stdin.take());
        if !wait(&mut child, END) {
            let _ = child.kill();
            let _ = child.wait();
        }
        Err(failed)
    }

    /// A desk that runs already. Dropping it leaves the desk alone.
    pub fn attach(home: &Home, name: &str) -> Result<Self> {
        let state = registry::find(home, name)?;
        Ok(Self { state, home: home.clone(), child: None, owned: false })
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.state.info.name
    }

    /// Its X display, such as `:3`.
    #[must_use]
    pub fn display(&self) -> &str {
        &self.state.info.display
    }

    /// All that is known about it.
    #[must_use]
    pub fn info(&self) -> &DeskInfo {
        &self.state.info
    }

    /// The variables that lead a program to this desk. [`UNSET`](crate::UNSET) names those that must
    /// not be set beside them. A program that gets only these is on the desk but no part of it: it is
    /// not ended with the desk.
    #[must_use]
    pub fn env(&self) -> Vec<(String, String)> {
        self.state.env()
    }

    /// A command on this desk: its environment set, what would lead elsewhere removed. It is a child
    /// of this process, and is ended with the desk.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        self.state.apply(&mut command);
        command
    }

    /// The whole screen, all monitors, as a PNG.
    pub fn screenshot_png(&self) -> Result<Vec<u8>> {
        let cookie = x11::read_key(&self.state.info.xauthority)?;
        let display = self.state.info.display.clone();
        x11::within(move || x11::screenshot(&display, cookie))
    }

    /// Why the desk has ended, if it has: its X server crashed, its supervisor was killed, or
    /// somebody stopped it.
    pub fn ended(&mut self) -> Option<String> {
        let Some(child) = &mut self.child else {
            let there = registry::find(&self.home, &self.state.info.name);
            let same = there.is_ok_and(|state| state.id == self.state.id);
            return (!same).then(|| "it was stopped".to_owned());
        };
        let status = child.try_wait().ok().flatten()?;
        if status.success() {
            return Some("it was stopped".to_owned());
        }
        let mut line = String::new();
        if let Some(out) = child.stdout.take() {
            let _ = out.take(MAX_LINE as u64).read_to_string(&mut line);
        }
        Some(serde_json::from_str(&line).unwrap_or_else(|_| format!("its supervisor was ended: {status}")))
    }

    /// Ends the desk and waits until every process and file of it is gone.
    pub fn stop(mut self) -> Result<()> {
        self.end()
    }

    fn end(&mut self) -> Result<()> {
        let name = self.state.info.name.clone();
        let Some(mut child) = self.child.take() else { return registry::stop(&self.home, &name) };
        if self.owned {
            drop(child.stdin.take());
        } else {
            match registry::stop(&self.home, &name) {
                // It has ended by itself before.
                Ok(()) | Err(DeskError::NotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        let ended = wait(&mut child, END);
        if !ended {
            let _ = child.kill();
            let _ = child.wait();
        }
        // Removes what a supervisor that was killed could not.
        registry::sweep(&self.home).map(drop)
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        if self.owned && self.child.is_some() {
            let _ = self.end();
        }
    }
}

/// Waits for a child to end, for a limited time.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> bool {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(None) if start.elapsed() < limit => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) => return false,
            Ok(Some(_)) | Err(_) => return true,
        }
    }
}

/// Reads a line from a child's standard output, for a limited time. Reads by the byte, so that what
/// comes after stays there.
fn read_line(child: &mut Child, limit: Duration) -> Result<String> {
    let silent = |why: &str| DeskError::start("the supervisor", why);
    let out = child.stdout.as_ref().ok_or_else(|| silent("it has no output"))?;
    let start = Instant::now();
    let mut line = Vec::new();
    while line.len() < MAX_LINE {
        let left = limit.saturating_sub(start.elapsed());
        let timeout = Timespec::try_from(left).map_err(|e| silent(&e.to_string()))?;
        match poll(&mut [PollFd::new(out, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => {
                let what = "the desk was not ready".to_owned();
                return Err(DeskError::Timeout { what, seconds: limit.as_secs() });
            }
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(silent(&error.to_string())),
        }
        let mut byte = [0];
        match rustix::io::read(out, &mut byte) {
            Ok(0) => return Err(silent("it ended without a word")),
            Ok(_) if byte[0] == b'\n' => return Ok(String::from_utf8_lossy(&line).into_owned()),
            Ok(_) => line.push(byte[0]),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(silent(&error.to_string())),
        }
    }
    Err(silent("it said too much"))
}
