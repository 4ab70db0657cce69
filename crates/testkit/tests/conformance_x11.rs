//! The conformance suite on X11: a virtual desk, real pixels, a real GTK program.
//!
//! The facets find their buses by the environment, so the suite runs in a child: this program again,
//! on the desk. `CONFORMANCE=words` runs only the cases whose name contains the words.

// Helpers of tests may panic as tests do.
#![allow(clippy::unwrap_used)]

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use deskhand_platform::Desktop;
use deskhand_platform_linux::{Options, connect};
use deskhand_testkit::conformance::{FormApp, FormControl, Need, Stage, run, suite};
use deskhand_testkit::live::LiveDesk;
use rustix::process::{Pid, Signal, kill_process_group};

/// Set in the child: the desk's folder.
const ON_DESK: &str = "DESKHAND_CONFORMANCE_ON_DESK";
const NOTIFIER: &str = "/usr/bin/dunst";

#[test]
fn x11_conforms() {
    conforms("x11_conforms", &deskhand_desk::Options::default().size(1280, 1024), "");
}

/// Odd sizes, so that a wrong stride or offset shows.
#[test]
fn two_monitors_conform() {
    let options = deskhand_desk::Options::default().size(1281, 1025).second(801, 603);
    conforms("two_monitors_conform", &options, "screen:");
}

/// Runs the cases whose name contains `filter` on a desk of its own.
fn conforms(test: &str, options: &deskhand_desk::Options, filter: &str) {
    if let Some(dir) = std::env::var_os(ON_DESK) {
        on_desk(Path::new(&dir), filter);
        return;
    }
    let desk = LiveDesk::with(options).unwrap();
    desk.install_form().unwrap();
    if Path::new(NOTIFIER).exists() {
        desk.spawn(NOTIFIER, &[]).unwrap();
    }
    let status = desk.run_self(test, ON_DESK).unwrap();
    assert!(status.success(), "X11 does not conform (see above): {status}");
}

/// In the child, on the desk.
fn on_desk(dir: &Path, filter: &str) {
    let desktop = connect(&Options::default());
    let stage = X11Stage { desktop, script: dir.join("form.py") };
    let filter = std::env::var("CONFORMANCE").unwrap_or_else(|_| filter.to_owned());
    let report = run(&stage, &suite(), &filter);
    assert!(!report.cases.is_empty(), "no case has {filter:?} in its name");
    assert_eq!(report.failures(), [], "X11 does not conform");
}

struct X11Stage {
    desktop: Desktop,
    script: PathBuf,
}

impl Stage for X11Stage {
    fn name(&self) -> &'static str {
        "x11"
    }

    fn desktop(&self) -> &Desktop {
        &self.desktop
    }

    fn launch_form(&self) -> Result<FormApp, String> {
        let mut command = Command::new("/usr/bin/python3");
        command.arg(&self.script).stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        let mut child = command.spawn().map_err(|e| format!("python3: {e}"))?;
        let pid = child.id();
        let gone = Arc::new(AtomicBool::new(false));
        // Reaped at once when a case ends it, so that no zombie looks like a running program.
        let reaper = std::thread::spawn({
            let gone = gone.clone();
            move || {
                let _ = child.wait();
                gone.store(true, Ordering::SeqCst);
            }
        });
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or("a strange pid")?;
        Ok(FormApp::new(pid, Box::new(Process { pid: raw, gone, reaper: Some(reaper) })))
    }

    fn lacks(&self, need: Need) -> Option<String> {
        let no_notifier = need == Need::Notifications && !Path::new(NOTIFIER).exists();
        no_notifier.then(|| format!("{NOTIFIER} is not installed"))
    }
}

struct Process {
    pid: Pid,
    gone: Arc<AtomicBool>,
    reaper: Option<JoinHandle<()>>,
}

impl FormControl for Process {
    fn freeze(&self, frozen: bool) -> Result<(), String> {
        let signal = if frozen { Signal::STOP } else { Signal::CONT };
        kill_process_group(self.pid, signal).map_err(|e| format!("{signal:?}: {e}"))
    }

    fn end(&mut self) {
        if !self.gone.load(Ordering::SeqCst) {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
        if let Some(reaper) = self.reaper.take() {
            let _ = reaper.join();
        }
    }
}
