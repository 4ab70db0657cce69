//! Who is on the other end of the socket, by the kernel.
//!
//! What this can and cannot tell: the kernel names the process that connected (`SO_PEERCRED`) and,
//! on every read, the process that wrote (`SCM_CREDENTIALS`), so a connection handed to another
//! process is noticed. A process of the same user may still start an allowed program and steer it
//! from outside; against that stands the gate behind the bridge, not the bridge.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::hash::HashCache;

/// A process that may use the bridge.
#[derive(Debug)]
pub struct Peer {
    /// Its user.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its process id.
    pub pid: u32,
    /// When the process began, in clock ticks since the machine started: with the pid, it names
    /// one process for good.
    pub start_time: u64,
    /// The program it runs.
    pub exe: PathBuf,
    /// SHA-256 of that program, in lower-case hexadecimal.
    pub sha256: String,
    pidfd: OwnedFd,
}

impl Peer {
    /// Whether the process still runs.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        alive(&self.pidfd)
    }

    /// What is known about it.
    #[must_use]
    pub fn facts(&self) -> PeerFacts {
        PeerFacts {
            uid: self.uid,
            gid: self.gid,
            pid: self.pid,
            exe: Some(self.exe.clone()),
            sha256: Some(self.sha256.clone()),
        }
    }

    /// How the audit log names it.
    #[must_use]
    pub fn label(&self) -> String {
        format!("{} (pid {}, uid {})", self.exe.display(), self.pid, self.uid)
    }
}

/// As much as could be found out about a process, allowed or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerFacts {
    /// Its user.
    pub uid: u32,
    /// Its group.
    pub gid: u32,
    /// Its process id; 0 when it lives in a place this host cannot see.
    pub pid: u32,
    /// Its program, if it could be read.
    pub exe: Option<PathBuf>,
    /// The program's hash, if it was computed: only for a path that is on the list.
    pub sha256: Option<String>,
}

impl PeerFacts {
    /// How the audit log names it.
    #[must_use]
    pub fn label(&self) -> String {
        let exe =
            self.exe.as_ref().map_or_else(|| "unknown program".to_owned(), |exe| exe.display().to_string());
        format!("{exe} (pid {}, uid {})", self.pid, self.uid)
    }
}

/// A process under examination: its program is opened once, and that opened file is what is
/// compared, so a file swapped meanwhile changes nothing.
#[derive(Debug)]
pub(crate) struct Suspect {
    pub(crate) facts: PeerFacts,
    start_time: u64,
    pidfd: OwnedFd,
    exe: File,
    pub(crate) deleted: bool,
}

/// The user, group and process that connected.
pub(crate) fn credentials(socket: &UnixStream) -> io::Result<PeerFacts> {
    let cred = rustix::net::sockopt::socket_peercred(socket)?;
    Ok(PeerFacts {
        uid: cred.uid.as_raw(),
        gid: cred.gid.as_raw(),
        pid: u32::try_from(cred.pid.as_raw_nonzero().get()).unwrap_or(0),
        exe: None,
        sha256: None,
    })
}

impl Suspect {
    /// Holds the process by a pidfd, opens its program and makes sure both are still the same process.
    pub(crate) fn open(mut facts: PeerFacts) -> Result<Self, (PeerFacts, io::Error)> {
        let pid = i32::try_from(facts.pid).ok().and_then(Pid::from_raw);
        let opened = (|| {
            let pid = pid.ok_or_else(|| io::Error::other("the kernel does not say which process it is"))?;
            let pidfd = pidfd_open(pid, PidfdFlags::empty())?;
            let start_time = start_time(facts.pid)?;
            let exe = File::open(format!("/proc/{}/exe", facts.pid))?;
            // From the opened file, not from /proc/PID/exe again: path and content belong together.
            let path = std::fs::read_link(format!("/proc/self/fd/{}", exe.as_raw_fd()))?;
            let deleted = exe.metadata()?.nlink() == 0;
            if !alive(&pidfd) {
                return Err(io::Error::other("the process ended while it was looked at"));
            }
            Ok((pidfd, start_time, exe, path, deleted))
        })();
        match opened {
            Ok((pidfd, start_time, exe, path, deleted)) => {
                facts.exe = Some(path);
                Ok(Self { facts, start_time, pidfd, exe, deleted })
            }
            Err(error) => Err((facts, error)),
        }
    }

    /// Hashes the opened program.
    pub(crate) fn hash(&mut self, cache: &HashCache) -> io::Result<(crate::hash::Identity, String)> {
        let (identity, hash) = cache.sha256(&mut self.exe)?;
        self.facts.sha256 = Some(hash.clone());
        Ok((identity, hash))
    }

    /// The verdict was good. `None` when the process ended meanwhile.
    pub(crate) fn accept(self) -> Option<Peer> {
        let alive = alive(&self.pidfd) && start_time(self.facts.pid).ok() == Some(self.start_time);
        let (exe, sha256) = (self.facts.exe?, self.facts.sha256?);
        alive.then_some(Peer {
            uid: self.facts.uid,
            gid: self.facts.gid,
            pid: self.facts.pid,
            start_time: self.start_time,
            exe,
            sha256,
            pidfd: self.pidfd,
        })
    }
}

/// A pidfd becomes readable when its process ends.
fn alive(pidfd: &OwnedFd) -> bool {
    let mut fds = [PollFd::new(pidfd, PollFlags::IN)];
    matches!(poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })), Ok(0))
}

/// Field 22 of /proc/PID/stat. The name in field 2 may hold anything, so counting starts after it.
fn start_time(pid: u32) -> io::Result<u64> {
    let stat = std::fs::read(format!("/proc/{pid}/stat"))?;
    let wrong = || io::Error::other("/proc/PID/stat has an unknown form");
    let end = memchr::memrchr(b')', &stat).ok_or_else(wrong)?;
    let rest = std::str::from_utf8(&stat[end + 1..]).map_err(|_| wrong())?;
    rest.split_ascii_whitespace().nth(19).and_then(|field| field.parse().ok()).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn me() -> PeerFacts {
        let (one, _two) = UnixStream::pair().unwrap();
        credentials(&one).unwrap()
    }

    #[test]
    fn a_process_is_known_by_its_opened_program() {
        let facts = me();
        assert_eq!(facts.pid, std::process::id());
        let mut suspect = Suspect::open(facts).unwrap();
        assert_eq!(suspect.facts.exe, std::env::current_exe().ok());
        assert!(!suspect.deleted);
        let (_, hash) = suspect.hash(&HashCache::default()).unwrap();
        let peer = suspect.accept().unwrap();
        assert_eq!((peer.sha256.len(), &peer.sha256), (64, &hash));
        assert!(peer.is_alive() && peer.start_time > 0);
    }

    #[test]
    fn a_process_that_ended_is_nobody() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let facts = PeerFacts { pid: child.id(), ..me() };
        child.wait().unwrap();
        assert!(Suspect::open(facts).is_err());
        assert!(Suspect::open(PeerFacts { pid: 0, ..me() }).is_err());
    }
}
