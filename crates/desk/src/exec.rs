//! One command on a fresh desk.

use std::ffi::OsString;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use deskhand_config::Home;
use rustix::process::{Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use crate::error::{DeskError, Result};
use crate::options::Options;
use crate::state::random_hex;
use crate::supervisor::in_foreground;
use crate::{dirs, locate, procs, registry};

/// Runs `command` on a fresh desk, on the terminal of this process, and returns its exit code (128 +
/// the signal that ended it). Then everything it has started is ended, also what it left in the
/// background, and the desk is gone. `options.owner` does not matter: the desk ends with the command.
///
/// Signals that ask this process to end are passed on to the command until it has ended, so this is
/// for programs whose whole work is the command.
pub fn exec(options: &Options, home: &Home, command: &[OsString]) -> Result<u8> {
    options.check()?;
    let desks = dirs::desks(home)?;
    let program = locate::supervisor()?;
    let report = desks.join(registry::report_name(&random_hex()?));
    let options = serde_json::to_string(options).map_err(|e| DeskError::start("the supervisor", e))?;
    let signals = Signals::new()?;
    let mut child = Command::new(&program)
        .arg("exec")
        .arg(home.root())
        .arg(options)
        .arg(std::process::id().to_string())
        .arg(&report)
        .arg("--")
        .args(command)
        .spawn()
        .map_err(DeskError::io("run", &program))?;
    let status = wait(&mut child, &signals)?;
    let told = std::fs::read(&report).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let _ = std::fs::remove_file(&report);
    if let Some(error) = told {
        return Err(DeskError::Told(error));
    }
    match status.code().and_then(|code| u8::try_from(code).ok()) {
        Some(code) => Ok(code),
        None => {
            registry::sweep(home)?;
            Err(DeskError::Ended(format!("its supervisor was killed ({status})")))
        }
    }
}

/// The signals that ask us to end.
struct Signals(Vec<(i32, Arc<AtomicBool>, signal_hook::SigId)>);

impl Signals {
    fn new() -> Result<Self> {
        let mut signals = Self(Vec::new());
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
            let flag = Arc::new(AtomicBool::new(false));
            let id = signal_hook::flag::register(signal, Arc::clone(&flag))
                .map_err(|e| DeskError::start("the supervisor", e))?;
            signals.0.push((signal, flag, id));
        }
        Ok(signals)
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for (_, _, id) in &self.0 {
            signal_hook::low_level::unregister(*id);
        }
    }
}

/// Waits as long as the command takes, and passes signals on.
fn wait(child: &mut Child, signals: &Signals) -> Result<ExitStatus> {
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait().map_err(|e| DeskError::start("the supervisor", e))? {
            return Ok(status);
        }
        for (signal, flag, _) in &signals.0 {
            // What the terminal sends has reached the command already.
            let by_terminal = matches!(*signal, SIGINT | SIGQUIT) && in_foreground();
            let asked = flag.swap(false, Ordering::Relaxed) && !by_terminal;
            let target = procs::raw(child.id()).zip(Signal::from_named_raw(*signal));
            if let (true, Some((pid, signal))) = (asked, target) {
                let _ = kill_process(pid, signal);
            }
        }
        // Commands that are short are seen to end at once; long ones cost nothing.
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}
