//! A private X server for a test, gone when the test ends.
#![allow(dead_code, missing_docs, unreachable_pub)]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use deskhand_platform::{Desktop, Scope};
use deskhand_platform_linux::{Options, connect};
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{ConnectionExt, CreateWindowAux, WindowClass};

/// A generous end to every wait: only a hang reaches it.
pub const LONG: Duration = Duration::from_secs(30);

pub fn scope() -> Scope {
    Scope::timeout(LONG)
}

/// A process that is killed when it goes out of scope.
pub struct Running(pub Child);

impl Running {
    pub fn start(command: &mut Command) -> Self {
        Self(command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts"))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub struct Xvfb {
    pub display: String,
    server: Running,
    manager: Option<Running>,
}

impl Xvfb {
    /// A server of its own on a free number.
    pub fn start() -> Self {
        Self::start_with(&["-screen", "0", "1000x700x24"], None)
    }

    /// With other arguments, and on a given number when one is asked for.
    pub fn start_with(args: &[&str], display: Option<&str>) -> Self {
        let mut command = Command::new("Xvfb");
        command.args(display).args(["-displayfd", "1", "-nolisten", "tcp", "-noreset"]).args(args);
        let mut server = Running::start(command.stdout(Stdio::piped()));
        let mut line = String::new();
        let out = server.0.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).expect("Xvfb tells its number");
        let number: u32 = line.trim().parse().expect("a display number");
        Self { display: format!(":{number}"), server, manager: None }
    }

    /// With a window manager.
    pub fn managed() -> Self {
        let mut x = Self::start();
        let mut command = Command::new("openbox");
        let config = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/common/openbox.xml");
        command.args(["--config-file", config, "--sm-disable"]).env("DISPLAY", &x.display);
        x.manager = Some(Running::start(command.stdout(Stdio::null())));
        let desktop = x.desktop();
        eventually("openbox to start", || desktop.windows.list().is_ok());
        x.wait_until_managing(&desktop);
        x
    }

    /// openbox names itself before it listens: a window mapped in between is never managed. So map one
    /// of our own again and again until it is.
    fn wait_until_managing(&self, desktop: &Desktop) {
        let (conn, screen) = x11rb::connect(Some(&self.display)).expect("connect");
        let root = conn.setup().roots[screen].root;
        let window = conn.generate_id().expect("an id");
        let look = CreateWindowAux::new();
        conn.create_window(0, window, root, 0, 0, 9, 9, 0, WindowClass::INPUT_OUTPUT, 0, &look)
            .expect("create");
        eventually("openbox to manage windows", || {
            conn.unmap_window(window).expect("unmap");
            conn.map_window(window).expect("map");
            conn.flush().expect("flush");
            std::thread::sleep(Duration::from_millis(20));
            !desktop.windows.list().expect("a list").is_empty()
        });
        drop(conn);
        eventually("the display to be empty", || desktop.windows.list().expect("a list").is_empty());
    }

    pub fn desktop(&self) -> Desktop {
        connect(&Options { display: Some(self.display.clone()) })
    }

    /// A program on this display.
    pub fn run(&self, program: &str, args: &[&str]) -> Running {
        let mut command = Command::new(program);
        Running::start(command.args(args).env("DISPLAY", &self.display).stdout(Stdio::null()))
    }

    /// A program on this display that ends by itself; its output.
    pub fn output(&self, program: &str, args: &[&str]) -> String {
        let out = Command::new(program).args(args).env("DISPLAY", &self.display).output().expect(program);
        assert!(out.status.success(), "{program} {args:?}: {}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("text")
    }

    pub fn kill(self) -> String {
        let mut this = self;
        let _ = this.server.0.kill();
        let _ = this.server.0.wait();
        this.display.clone()
    }

    pub fn stop(&self, frozen: bool) {
        let pid = rustix::process::Pid::from_child(&self.server.0);
        let signal = if frozen { rustix::process::Signal::STOP } else { rustix::process::Signal::CONT };
        rustix::process::kill_process(pid, signal).expect("a signal");
    }
}

/// Waits until something holds.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + LONG;
    while !holds() {
        assert!(Instant::now() < until, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
