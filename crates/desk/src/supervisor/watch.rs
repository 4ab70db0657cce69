//! What the supervisor waits for: signals, and its owner's end.

use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1};

use crate::error::{DeskError, Result};

/// Signals that ask for the end.
const ENDING: [i32; 4] = [SIGTERM, SIGINT, SIGHUP, SIGQUIT];

/// Wakes the supervisor.
pub(super) struct Watch {
    wake: UnixStream,
    ending: [Arc<AtomicBool>; 4],
    owner_signal: Arc<AtomicBool>,
    owner_on_stdin: bool,
    owner_gone: bool,
}

impl Watch {
    pub(super) fn new(owner_on_stdin: bool) -> Result<Self> {
        let cannot = |e: std::io::Error| DeskError::start("the supervisor", e);
        let (wake, waker) = UnixStream::pair().map_err(cannot)?;
        wake.set_nonblocking(true).map_err(cannot)?;
        waker.set_nonblocking(true).map_err(cannot)?;
        let watch = Self {
            wake,
            ending: Default::default(),
            owner_signal: Arc::default(),
            owner_on_stdin,
            owner_gone: false,
        };
        let flags = ENDING.iter().zip(&watch.ending).chain([(&SIGUSR1, &watch.owner_signal)]);
        for (&signal, flag) in flags {
            signal_hook::flag::register(signal, Arc::clone(flag)).map_err(cannot)?;
            // After the flag, so that who is woken sees it.
            signal_hook::low_level::pipe::register(signal, waker.try_clone().map_err(cannot)?)
                .map_err(cannot)?;
        }
        signal_hook::low_level::pipe::register(SIGCHLD, waker).map_err(cannot)?;
        Ok(watch)
    }

    /// Sleeps until something happens, `also` can be read, or the time is over.
    pub(super) fn wait(&mut self, also: Option<&dyn AsFd>, limit: Option<Duration>) {
        let stdin = std::io::stdin();
        let mut fds = vec![PollFd::new(&self.wake, PollFlags::IN)];
        if self.owner_on_stdin && !self.owner_gone {
            fds.push(PollFd::new(&stdin, PollFlags::IN));
        }
        if let Some(also) = also {
            fds.push(PollFd::from_borrowed_fd(also.as_fd(), PollFlags::IN));
        }
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        // An interruption is as good as a wake-up: the callers look and come back.
        let _ = poll(&mut fds, limit.as_ref());
        let stdin_stirs = self.owner_on_stdin && !self.owner_gone && !fds[1].revents().is_empty();
        let mut bytes = [0; 64];
        while matches!((&self.wake).read(&mut bytes), Ok(1..)) {}
        if stdin_stirs {
            // Nothing is ever sent; its end says that the owner has gone, however it went.
            self.owner_gone = matches!(rustix::io::read(&stdin, &mut bytes), Ok(0) | Err(_));
        }
    }

    /// Whether the owner is no more.
    pub(super) fn owner_gone(&self) -> bool {
        self.owner_gone || self.owner_signal.load(Ordering::Relaxed)
    }

    /// A signal that asked for the end since the last time, each once.
    pub(super) fn take_signal(&self) -> Option<i32> {
        ENDING.iter().zip(&self.ending).find(|(_, flag)| flag.swap(false, Ordering::Relaxed)).map(|(&s, _)| s)
    }
}
