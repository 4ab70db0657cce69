//! A host in the care of this process, with the desk under it if it has one.

use std::fs::File;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use deskhand_config::Home;
use deskhand_desk::{Desk, Options, Owner};
use deskhand_protocol::{Error, ErrorCode, HostStatus};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::fail::Fail;
use crate::launch::{self, NotReady};

/// How it ended.
pub(crate) enum End {
    /// Somebody asked for it.
    Asked,
    /// The host fell over.
    Host(ExitStatus),
    /// The desk under it ended.
    Desk(String),
}

/// A host that runs, and ends when this is dropped.
pub(crate) struct Serving {
    host: Child,
    desk: Option<Desk>,
    signals: Signals,
}

impl Serving {
    /// Starts a host, on a fresh desk if one is asked for. Its words go to `log`, else to our
    /// standard error. Both end when this process ends, even if it is killed.
    pub(crate) fn start(home: &Home, desk: Option<&Options>, log: Option<&File>) -> Result<Self, Fail> {
        // Before anything is started, so that no signal and no end of a child is missed.
        let signals = Signals::new([SIGINT, SIGTERM, SIGHUP, SIGCHLD]).map_err(|error| {
            Error::new(ErrorCode::Internal, format!("signals cannot be watched: {error}"))
        })?;
        // Known before a desk is started in vain.
        launch::host_program()?;
        let desk = match desk {
            Some(options) => {
                Some(Desk::start(&Options { owner: Owner::ThisProcess, ..options.clone() }, home)?)
            }
            None => None,
        };
        let program = launch::myself()?;
        let mut command = match &desk {
            Some(desk) => desk.command(&program),
            None => Command::new(&program),
        };
        command
            .arg("serve-host")
            .arg("--with-parent")
            .arg(std::process::id().to_string())
            .env("DESKHAND_HOME", home.root());
        match log {
            Some(log) => launch::into_log(&mut command, log)?,
            None => {
                command.stdin(Stdio::null()).stdout(Stdio::null());
            }
        }
        let host = command.spawn().map_err(|error| crate::fail::file("run", &program, &error))?;
        Ok(Self { host, desk, signals })
    }

    /// Waits until the host answers.
    pub(crate) fn wait_ready(&mut self, home: &Home) -> Result<HostStatus, NotReady> {
        let signals = &mut self.signals;
        launch::wait_ready(home, &mut self.host, || signals.pending().any(|signal| signal != SIGCHLD))
    }

    /// Waits until the host or its desk ends, or a signal asks for it.
    pub(crate) fn hold(&mut self) -> End {
        loop {
            if let Ok(Some(status)) = self.host.try_wait() {
                // A host on a desk that ends is asked to end, too, and obeys.
                return match self.why_desk_ended() {
                    Some(why) => End::Desk(why),
                    None if status.success() => End::Asked,
                    None => End::Host(status),
                };
            }
            if let Some(why) = self.desk.as_mut().and_then(Desk::ended) {
                return End::Desk(why);
            }
            if self.signals.wait().any(|signal| signal != SIGCHLD) {
                return End::Asked;
            }
        }
    }

    /// Why the desk is ending, if it is: its host goes a moment before the desk is gone.
    fn why_desk_ended(&mut self) -> Option<String> {
        let desk = self.desk.as_mut()?;
        let socket = format!("/tmp/.X11-unix/X{}", desk.display().trim_start_matches(':'));
        if UnixStream::connect(socket).is_ok() {
            return None;
        }
        (0..300).find_map(|_| {
            let why = desk.ended();
            if why.is_none() {
                std::thread::sleep(Duration::from_millis(10));
            }
            why
        })
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // The host first, so that it can say goodbye to a display that is still there. The desk ends
        // by its own drop, after this.
        launch::end(&mut self.host);
    }
}

/// The desk that lives and ends with a host: its owner is the host's parent.
pub(crate) fn desk_of(home: &Home, status: &HostStatus) -> Option<String> {
    let parent = launch::parent_of(status.pid)?;
    let desks = deskhand_desk::list(home).ok()?;
    desks
        .into_iter()
        .find(|desk| desk.owner_pid == Some(parent) && desk.display == status.display)
        .map(|desk| desk.name)
}
