//! Real applications on a virtual desk, for live tests.
//!
//! ```no_run
//! let desk = deskhand_testkit::live::LiveDesk::new()?;
//! let pid = desk.spawn("mousepad", &[])?;
//! # Ok::<(), String>(())
//! ```
//!
//! Everything lives in a temporary folder and ends with the [`LiveDesk`]: the applications first,
//! then the desk.

use std::ffi::OsStr;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskhand_config::Home;
use deskhand_desk::{Desk, Options};
use deskhand_platform::{Window, Windows};
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

/// The conformance form as a GTK 3 program.
pub const FORM_PY: &str = include_str!("../fixtures/form.py");

/// How often is looked whether something is there.
const LOOK: Duration = Duration::from_millis(20);

/// A virtual desk with a home of its own.
pub struct LiveDesk {
    children: Mutex<Vec<Child>>,
    desk: Option<Desk>,
    home: Home,
    dir: TempDir,
}

impl LiveDesk {
    /// A desk of one monitor.
    pub fn new() -> Result<Self, String> {
        Self::with(&Options::default())
    }

    /// A desk as asked for.
    pub fn with(options: &Options) -> Result<Self, String> {
        supervisor()?;
        let dir = tempfile::Builder::new()
            .prefix("deskhand-live-")
            .tempdir()
            .map_err(|e| format!("temporary folder: {e}"))?;
        for sub in ["home", "config", "cache", "data/applications"] {
            std::fs::create_dir_all(dir.path().join(sub)).map_err(|e| format!("{sub}: {e}"))?;
        }
        let home = Home::at(dir.path().join("deskhand"));
        home.ensure().map_err(|e| e.to_string())?;
        let desk = Desk::start(options, &home).map_err(|e| format!("starting a desk: {e}"))?;
        Ok(Self { children: Mutex::default(), desk: Some(desk), home, dir })
    }

    /// Deskhand's home folder, with the desk in it.
    #[must_use]
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The temporary folder; gone with this.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The X display.
    #[must_use]
    pub fn display(&self) -> &str {
        self.desk.as_ref().map_or("", Desk::display)
    }

    /// The folder of desktop files that programs on this desk see first.
    #[must_use]
    pub fn applications(&self) -> PathBuf {
        self.dir.path().join("data/applications")
    }

    /// A command on the desk, with folders of its own instead of the user's.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = match &self.desk {
            Some(desk) => desk.command(program),
            None => Command::new(program),
        };
        for (name, sub) in [
            ("HOME", "home"),
            ("XDG_CONFIG_HOME", "config"),
            ("XDG_CACHE_HOME", "cache"),
            ("XDG_DATA_HOME", "data"),
        ] {
            command.env(name, self.dir.path().join(sub));
        }
        command.env("DESKHAND_HOME", self.home.root()).env("LC_ALL", "C.UTF-8").stdin(Stdio::null());
        command
    }

    /// Starts an application; it and its children end with this desk. Its pid.
    pub fn spawn(&self, program: &str, args: &[&str]) -> Result<u32, String> {
        let mut command = self.command(program);
        command.args(args).stdout(Stdio::null()).stderr(Stdio::null());
        self.keep(command)
    }

    /// Starts a prepared command; it and its children end with this desk. Its pid.
    pub fn keep(&self, mut command: Command) -> Result<u32, String> {
        // A group of its own, so that children of the program end with it.
        let child =
            command.process_group(0).spawn().map_err(|e| format!("{:?}: {e}", command.get_program()))?;
        let pid = child.id();
        self.children.lock().unwrap_or_else(PoisonError::into_inner).push(child);
        Ok(pid)
    }

    /// Runs the test program that asks again, on the desk and with `marker` set, only for the test
    /// called `test`. For facets that find their buses by the environment of their process.
    pub fn run_self(&self, test: &str, marker: &str) -> Result<ExitStatus, String> {
        let me = std::env::current_exe().map_err(|e| format!("this program: {e}"))?;
        let mut command = self.command(me);
        command.args(["--exact", test, "--nocapture", "--include-ignored"]).env(marker, self.dir.path());
        command.status().map_err(|e| format!("this program on the desk: {e}"))
    }

    /// Puts the conformance form among the installed programs of this desk; the path of its script.
    pub fn install_form(&self) -> Result<PathBuf, String> {
        let script = self.dir.path().join("form.py");
        let entry = format!(
            "[Desktop Entry]\nType=Application\nName={}\nName[zh_CN]={}\nExec=/usr/bin/python3 {}\n",
            crate::conformance::FORM_APP,
            crate::conformance::FORM_APP_CHINESE,
            script.display()
        );
        std::fs::write(&script, FORM_PY).map_err(|e| format!("form.py: {e}"))?;
        let file = self.applications().join("deskhand-conformance-form.desktop");
        std::fs::write(file, entry).map_err(|e| format!("desktop file: {e}"))?;
        Ok(script)
    }
}

impl Drop for LiveDesk {
    fn drop(&mut self) {
        for mut child in self.children.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            if let Some(pid) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                // A stopped process must be able to die, too; one that is gone is fine.
                let _ = kill_process_group(pid, Signal::KILL);
                let _ = kill_process_group(pid, Signal::CONT);
            }
            let _ = child.kill();
            let _ = child.wait();
        }
        if let Some(desk) = self.desk.take()
            && let Err(e) = desk.stop()
        {
            eprintln!("the desk did not end well: {e}");
        }
    }
}

/// Waits until a window whose title contains `title` (of process `pid`, when given) is there.
pub fn wait_for_window(
    windows: &dyn Windows,
    title: &str,
    pid: Option<u32>,
    time: Duration,
) -> Result<Window, String> {
    let end = Instant::now() + time;
    loop {
        let list = windows.list().map_err(|e| format!("listing windows: {e}"))?;
        let fits = |w: &&Window| w.title.contains(title) && (pid.is_none() || w.pid == pid);
        if let Some(window) = list.iter().find(fits) {
            return Ok(window.clone());
        }
        if Instant::now() > end {
            let titles: Vec<&str> = list.iter().map(|w| w.title.as_str()).collect();
            return Err(format!("no window {title:?} after {time:?}; there are {titles:?}"));
        }
        std::thread::sleep(LOOK);
    }
}

/// Builds the desk's supervisor when it is not beside the test programs: `cargo test -p CRATE` builds
/// no programs of other crates.
fn supervisor() -> Result<(), String> {
    static ONCE: Mutex<bool> = Mutex::new(false);
    let mut done = ONCE.lock().unwrap_or_else(PoisonError::into_inner);
    let me = std::env::current_exe().map_err(|e| format!("this program: {e}"))?;
    let there = |dir: &Path| dir.join("deskhand-desk").is_file();
    if *done || std::env::var_os("DESKHAND_DESK_BIN").is_some() || me.ancestors().skip(1).take(2).any(there) {
        return Ok(());
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build.args(["build", "--quiet", "-p", "deskhand-desk", "--bin", "deskhand-desk"]);
    if !cfg!(debug_assertions) {
        build.arg("--release");
    }
    build.current_dir(env!("CARGO_MANIFEST_DIR"));
    let built = build.status().map_err(|e| format!("building deskhand-desk: {e}"))?;
    *done = built.success();
    if *done {
        Ok(())
    } else {
        Err("deskhand-desk does not build; type `cargo build -p deskhand-desk`".to_owned())
    }
}
