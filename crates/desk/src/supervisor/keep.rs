//! The life of one desk: claimed, brought up, kept, torn down.

use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::process::{ChildStdout, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use deskhand_config::Home;
use rustix::process::{Signal, WaitOptions, WaitStatus, kill_process, wait};
use rustix::termios::tcgetpgrp;

use super::log;
use super::parts::{MANAGER_CONFIG, Part, bus_address, bus_args, manager_args, own_child, x_args};
use super::watch::Watch;
use crate::dirs::{self, Claim};
use crate::error::{DeskError, Result};
use crate::locate::Programs;
use crate::options::Options;
use crate::state::{DeskInfo, State, now, random, random_hex};
use crate::{a11y, locate, procs, registry, x11};

/// How long all parts together may take to come up.
const START: Duration = Duration::from_secs(15);
/// How often an X server may find its number taken.
const X_TRIES: u32 = 8;
const X: &str = "the X server (Xvfb)";
const BUS: &str = "the session bus (dbus-daemon)";
const MANAGER: &str = "the window manager (openbox)";

type Env = Vec<(String, String)>;

/// How a desk came to its end.
pub(super) struct End {
    /// The command's, in `exec`.
    pub(super) code: u8,
    /// What broke, if anything did.
    pub(super) fault: Option<String>,
}

/// One desk in our keeping.
pub(super) struct Keeper {
    home: Home,
    claim: Claim,
    state: State,
    parts: Vec<Part>,
    watch: Watch,
    /// Children whose end has been seen.
    ended: Vec<(u32, WaitStatus)>,
}

impl Keeper {
    /// Takes the name and the folders.
    pub(super) fn claim(
        home: &Home,
        options: &Options,
        owner_pid: Option<u32>,
        watch: Watch,
    ) -> Result<Self> {
        options.check()?;
        let (name, claim) = registry::claim(home, options.name.as_deref())?;
        dirs::private(&claim.dir)?;
        let runtime_dir = dirs::runtime(&claim.dir)?;
        let info = DeskInfo {
            name,
            display: String::new(),
            size: options.size,
            second: options.second,
            pid: std::process::id(),
            started: now(),
            owner_pid,
            alive: false,
            xauthority: claim.dir.join("Xauthority"),
            bus: bus_address(&runtime_dir.join("bus")),
            runtime_dir,
        };
        let keeper_started = procs::started(info.pid)
            .ok_or_else(|| DeskError::start("the desk", "/proc does not show its own supervisor"))?;
        let state = State { info, keeper_started, id: random_hex()?, x_pid: None, x_number: None };
        let keeper = Self { home: home.clone(), claim, state, parts: Vec::new(), watch, ended: Vec::new() };
        keeper.state.write(&keeper.claim.dir)?;
        Ok(keeper)
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// Starts all parts, side by side as far as they do not need each other.
    pub(super) fn bring_up(&mut self, options: &Options) -> Result<()> {
        let deadline = Instant::now() + START;
        let programs = locate::programs(options)?;
        let cookie = random::<16>()?.to_vec();
        let key = self.state.info.xauthority.clone();
        x11::write_key(&key, "", &cookie)?;
        if options.accessibility {
            a11y::write_service(&self.state.info.runtime_dir, &programs)?;
        }
        self.start_x(&programs, options)?;
        let mut bus = Part::start(BUS, &programs.dbus, bus_args(&self.state.info.bus), &self.state)?;
        let ready = bus.out.take();
        self.parts.push(bus);
        let (to_bus, from_bus) = self.talk_to_bus(ready, options.accessibility);

        let number = self.display_number(&programs, options, deadline)?;
        self.state.info.display = format!(":{number}");
        x11::write_key(&key, &number, &cookie)?;
        let _ = to_bus.send(self.state.env());
        let (display, wanted) = (self.state.info.display.clone(), options.clone());
        let x = x11::within(move || {
            let x = x11::connect(&display, cookie)?;
            x11::set_monitors(&x, &wanted)?;
            x11::paint(&x)?;
            Ok(x)
        })?;
        if options.window_manager {
            let config = self.claim.dir.join("openbox.xml");
            std::fs::write(&config, MANAGER_CONFIG).map_err(DeskError::io("write", &config))?;
            self.parts.push(Part::start(MANAGER, &programs.openbox, manager_args(&config), &self.state)?);
            x11::wait_for_manager(&x, deadline, || self.trouble())?;
        }
        loop {
            match from_bus.recv_timeout(Duration::from_millis(50)) {
                Ok(Ok(())) => break,
                Ok(Err(error)) => {
                    // If a part has died, that says more than the words of who talked to it.
                    self.trouble()?;
                    return Err(error);
                }
                Err(mpsc::RecvTimeoutError::Timeout) if Instant::now() < deadline => self.trouble()?,
                Err(_) => return Err(DeskError::start("the accessibility bus", "it did not answer in time")),
            }
        }
        self.trouble()?;
        self.state.info.alive = true;
        self.state.write(&self.claim.dir)
    }

    /// Starts an X server on a number nobody uses. The number is drawn from those that login managers
    /// and `ssh -X` leave alone, and written down first, so that its socket can be found and removed
    /// whatever happens.
    fn start_x(&mut self, programs: &Programs, options: &Options) -> Result<()> {
        let number = x11::draw_number()?;
        let key = &self.state.info.xauthority;
        let args = x_args(number, options.screen(), options.dpi, key);
        self.state.x_number = Some(number);
        let x = Part::start(X, &programs.xvfb, args, &self.state)?;
        self.state.x_pid = Some(x.pid);
        self.parts.push(x);
        self.state.write(&self.claim.dir)
    }

    /// Waits until the X server is ready. If another has taken the number first, draws again.
    fn display_number(
        &mut self,
        programs: &Programs,
        options: &Options,
        deadline: Instant,
    ) -> Result<String> {
        let mut tries = 1;
        loop {
            match self.first_line(X, deadline) {
                Err(DeskError::Start { why, .. }) if why.contains(x11::NUMBER_TAKEN) && tries < X_TRIES => {
                    self.parts.retain(|part| part.name != X);
                    self.start_x(programs, options)?;
                    tries += 1;
                }
                result => return result,
            }
        }
    }

    /// Connects to the bus while the X server starts, and goes on when the environment is sent.
    fn talk_to_bus(
        &self,
        ready: Option<ChildStdout>,
        accessibility: bool,
    ) -> (mpsc::Sender<Env>, mpsc::Receiver<Result<()>>) {
        let (send_env, env) = mpsc::channel::<Env>();
        let (send_result, result) = mpsc::sync_channel(1);
        let address = self.state.info.bus.clone();
        std::thread::spawn(move || {
            let talk = || {
                // It says its address when it is ready, and nothing more.
                let mut line = String::new();
                let said = ready.map(|ready| BufReader::new(ready.take(4096)).read_line(&mut line));
                if !matches!(said, Some(Ok(1..))) {
                    return Err(DeskError::start(BUS, "it ended without a word"));
                }
                let bus = a11y::connect(&address)?;
                // No environment means that the desk is being torn down already.
                let Ok(env) = env.recv() else { return Ok(()) };
                a11y::tell_services(&bus, &env)?;
                if accessibility { a11y::enable(&bus) } else { Ok(()) }
            };
            let _ = send_result.send(talk());
        });
        (send_env, result)
    }

    /// The line a part writes when it is ready.
    fn first_line(&mut self, name: &str, deadline: Instant) -> Result<String> {
        let part = self.parts.iter().position(|part| part.name == name);
        let Some((part, out)) = part.and_then(|part| Some((part, self.parts[part].out.take()?))) else {
            return Err(DeskError::start(name, "it has no output"));
        };
        let mut line = Vec::new();
        loop {
            let limit = deadline.saturating_duration_since(Instant::now());
            self.watch.wait(Some(&out), Some(limit));
            if rustix::io::ioctl_fionread(&out).is_ok_and(|waiting| waiting > 0) {
                let mut bytes = [0; 512];
                let n = rustix::io::read(&out, &mut bytes).unwrap_or(0);
                line.extend(&bytes[..n]);
                if let Some(end) = line.iter().position(|&b| b == b'\n') {
                    // Kept open: a part that writes more must not be ended by it.
                    self.parts[part].out = Some(out);
                    return Ok(String::from_utf8_lossy(&line[..end]).trim().to_owned());
                }
            } else {
                self.trouble()?;
            }
            if Instant::now() >= deadline || line.len() > 4096 {
                return Err(DeskError::start(name, format!("it was not ready within {} s", START.as_secs())));
            }
        }
    }

    /// Whether there is a reason not to go on starting.
    fn trouble(&mut self) -> Result<()> {
        self.watch.wait(None, Some(Duration::ZERO));
        self.reap();
        if let Some((part, status)) = self.dead_part() {
            let complaint = part.complaint();
            let why = if complaint.is_empty() { how_ended(status) } else { complaint };
            return Err(DeskError::start(part.name, why));
        }
        if self.watch.owner_gone() {
            return Err(DeskError::Ended("its owner went away".into()));
        }
        match self.watch.take_signal() {
            Some(_) => Err(DeskError::Ended("it was stopped while it started".into())),
            None => Ok(()),
        }
    }

    /// Takes note of every child that has ended.
    fn reap(&mut self) {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            let pid = pid.as_raw_nonzero().get().unsigned_abs();
            self.ended.push((pid, status));
        }
    }

    fn dead_part(&self) -> Option<(&Part, WaitStatus)> {
        self.parts.iter().find_map(|part| {
            let (_, status) = self.ended.iter().find(|(pid, _)| *pid == part.pid)?;
            Some((part, *status))
        })
    }

    /// Starts the command of `exec` on our own terminal.
    pub(super) fn start_command(&self, command: &[OsString]) -> Result<u32> {
        let mut child = own_child("command");
        self.state.apply(&mut child);
        let child = child.args(command).stdin(Stdio::inherit()).spawn();
        child.map(|child| child.id()).map_err(|e| DeskError::start("the command", e))
    }

    /// Keeps the desk until there is a reason to end it.
    pub(super) fn run(&mut self, command: Option<u32>) -> End {
        let fine = |code| End { code, fault: None };
        loop {
            self.reap();
            if let Some((_, status)) = self.ended.iter().find(|(pid, _)| Some(*pid) == command) {
                return fine(exit_code(*status));
            }
            // Orphans of the desk come to us by the dozen; only our own parts matter from here on.
            self.ended.retain(|(pid, _)| self.parts.iter().any(|part| part.pid == *pid));
            if let Some((part, status)) = self.dead_part() {
                let (name, pid) = (part.name, part.pid);
                let why = format!("{name} ended by itself: {} {}", how_ended(status), part.complaint());
                log::record(&self.home, &self.state.info.name, why.trim());
                if name != MANAGER {
                    return End { code: 1, fault: Some(why.trim().to_owned()) };
                }
                // A desk can do without, and people replace it by another.
                self.parts.retain(|part| part.pid != pid);
            }
            if self.watch.owner_gone() {
                return fine(1);
            }
            while let Some(signal) = self.watch.take_signal() {
                match command {
                    None => return fine(0),
                    Some(pid) => pass_on(signal, pid),
                }
            }
            self.watch.wait(None, None);
        }
    }

    /// Ends everything on the desk and removes every trace. Applications first, so that they can
    /// still save what they have through services of the bus; then the services; then the parts.
    pub(super) fn tear_down(mut self) {
        let me = std::process::id();
        let id = self.state.id.clone();
        let parts: Vec<u32> = self.parts.iter().map(|part| part.pid).collect();
        let bus = self.parts.iter().find(|part| part.name == BUS).map(|part| part.pid);
        for spare in [bus, None] {
            procs::end(|| {
                self.reap();
                let spared = spare.map(procs::below).unwrap_or_default();
                let mut found = procs::on_desk(Some(me), &id);
                found.retain(|proc| !parts.contains(&proc.pid) && !spared.contains(&proc.pid));
                found
            });
        }
        let left = procs::end(|| {
            self.reap();
            procs::on_desk(Some(me), &id)
        });
        self.reap();
        let name = &self.state.info.name;
        for proc in left {
            log::record(&self.home, name, &format!("process {} could not be ended", proc.pid));
        }
        if let Err(error) = registry::remove_files(&self.claim.dir, Some(&self.state)) {
            log::record(&self.home, name, &error.to_string());
        }
        if let Err(error) = self.claim.release() {
            log::record(&self.home, name, &error.to_string());
        }
    }
}

fn how_ended(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "ended".to_owned(),
    }
}

/// As a shell would say it.
fn exit_code(status: WaitStatus) -> u8 {
    let code = status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

/// Passes a signal on to the command, unless the terminal has sent it to the command already.
fn pass_on(signal: i32, pid: u32) {
    let from_terminal =
        matches!(signal, signal_hook::consts::SIGINT | signal_hook::consts::SIGQUIT) && in_foreground();
    if let (false, Some(pid), Some(signal)) = (from_terminal, procs::raw(pid), Signal::from_named_raw(signal))
    {
        let _ = kill_process(pid, signal);
    }
}

/// Whether a Ctrl-C on the terminal reaches this process and those beside it.
pub(crate) fn in_foreground() -> bool {
    let Ok(terminal) = std::fs::File::open("/dev/tty") else { return false };
    tcgetpgrp(&terminal).is_ok_and(|group| group == rustix::process::getpgrp())
}
