//! A stream to the X server whose waits end.
//!
//! x11rb waits for replies without a limit; a server that is stopped (or held by another client's
//! grab) would hold us for ever. Here every single wait ends after [`LIMIT`] with an I/O error, which
//! the callers report as a display that does not answer.

use std::io::{Error, ErrorKind, IoSlice, Result};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use x11rb::rust_connection::{DefaultStream, PollMode, Stream};
use x11rb::utils::RawFdContainer;

/// Longest wait for the server.
pub(crate) const LIMIT: Duration = Duration::from_secs(5);

/// [`DefaultStream`] with an end to every wait.
pub(crate) struct TimedStream(pub(crate) DefaultStream);

impl AsFd for TimedStream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl Stream for TimedStream {
    fn poll(&self, mode: PollMode) -> Result<()> {
        let mut flags = PollFlags::empty();
        if mode.readable() {
            flags |= PollFlags::IN;
        }
        if mode.writable() {
            flags |= PollFlags::OUT;
        }
        if wait(self.as_fd(), flags, Some(LIMIT))? {
            Ok(())
        } else {
            Err(Error::new(ErrorKind::TimedOut, "the X server did not answer within 5 s"))
        }
    }

    fn read(&self, buf: &mut [u8], fd_storage: &mut Vec<RawFdContainer>) -> Result<usize> {
        self.0.read(buf, fd_storage)
    }

    fn write(&self, buf: &[u8], fds: &mut Vec<RawFdContainer>) -> Result<usize> {
        self.0.write(buf, fds)
    }

    fn write_vectored(&self, bufs: &[IoSlice<'_>], fds: &mut Vec<RawFdContainer>) -> Result<usize> {
        self.0.write_vectored(bufs, fds)
    }
}

/// Waits for `flags` on `fd`; false when the time passed (no time: for ever).
pub(crate) fn wait(fd: BorrowedFd<'_>, flags: PollFlags, time: Option<Duration>) -> Result<bool> {
    let until = time.map(|t| Instant::now() + t);
    loop {
        let left = until.map(|u| u.saturating_duration_since(Instant::now()));
        let spec = left.map(|l| Timespec {
            tv_sec: i64::try_from(l.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: i64::from(l.subsec_nanos()),
        });
        let mut fds = [PollFd::from_borrowed_fd(fd, flags)];
        match poll(&mut fds, spec.as_ref()) {
            Ok(0) => return Ok(false),
            Ok(_) => return Ok(true),
            Err(rustix::io::Errno::INTR) => {}
            Err(e) => return Err(e.into()),
        }
    }
}

/// Whether the other side has closed, told without waiting.
pub(crate) fn hung_up(fd: BorrowedFd<'_>) -> bool {
    let mut fds = [PollFd::from_borrowed_fd(fd, PollFlags::RDHUP)];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    match poll(&mut fds, Some(&now)) {
        Ok(n) => n > 0 && fds[0].revents().intersects(PollFlags::HUP | PollFlags::RDHUP | PollFlags::ERR),
        Err(_) => false,
    }
}
