//! Who is on the other end of the socket, by the kernel.
//!
//! What this can and cannot tell: the kernel names the process that connected (`SO_PEERCRED`) and,
//! on every read, the process that wrote (`SCM_CREDENTIALS`), so a connection handed to another
//! process is noticed. Both name a pid only, and a pid may change its program with `exec`: so what
//! was written before the examination is void (it cannot know the challenge), and [`Peer::check`]
//! finds on every request whether the process still is what was examined. A process of the same
//! user may still start an allowed program and steer it from outside; against that stands the gate
//! behind the bridge, not the bridge.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{AtFlags, Mode, OFlags};
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
    program: Program,
}

/// Why a process that was examined is no longer trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Changed {
    /// It ended, or cannot be looked at any more.
    Unknown(String),
    /// It started a program, perhaps the same one, in its place.
    Exec,
    /// It runs another file.
    File,
}

/// What a process ran when it was examined. The kernel ties both handles to the process, not to
/// its number: a successor with the same pid is not mistaken for it.
#[derive(Debug)]
struct Program {
    folder: OwnedFd,
    /// Belongs to the memory the process had when this was opened, and reads as empty once that is
    /// gone: a process that went through another program and back is found out, too.
    maps: File,
    file: (u64, u64),
}

impl Program {
    /// Some microseconds: this runs for each request.
    fn check(&self) -> Result<(), Changed> {
        let unknown = |error: io::Error| Changed::Unknown(error.to_string());
        let now = rustix::fs::statat(&self.folder, "exe", AtFlags::empty())
            .map_err(|error| unknown(error.into()))?;
        if (now.st_dev, now.st_ino) != self.file {
            return Err(Changed::File);
        }
        match self.maps.read_at(&mut [0], 0) {
            Ok(0) => Err(Changed::Exec),
            Ok(_) => Ok(()),
            Err(error) => Err(unknown(error)),
        }
    }
}

impl Peer {
    /// Whether the process still runs what was examined.
    pub(crate) fn check(&self) -> Result<(), Changed> {
        self.program.check()
    }

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
    program: Program,
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
            let folder = rustix::fs::open(
                format!("/proc/{}", facts.pid),
                OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
                Mode::empty(),
            )?;
            let look = |name: &str| {
                rustix::fs::openat(&folder, name, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
                    .map(File::from)
            };
            // Before the program: a program started between the two shows in the check at the end.
            let maps = look("maps")?;
            let exe = look("exe")?;
            let meta = exe.metadata()?;
            let program = Program { file: (meta.dev(), meta.ino()), folder, maps };
            // From the opened file, not from /proc/PID/exe again: path and content belong together.
            let path = std::fs::read_link(format!("/proc/self/fd/{}", exe.as_raw_fd()))?;
            let deleted = meta.nlink() == 0;
            if !alive(&pidfd) {
                return Err(io::Error::other("the process ended while it was looked at"));
            }
            Ok((pidfd, start_time, exe, program, path, deleted))
        })();
        match opened {
            Ok((pidfd, start_time, exe, program, path, deleted)) => {
                facts.exe = Some(path);
                Ok(Self { facts, start_time, pidfd, exe, program, deleted })
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

    /// The verdict was good. `None` when the process ended or became another program meanwhile.
    pub(crate) fn accept(self) -> Option<Peer> {
        let alive = alive(&self.pidfd)
            && start_time(self.facts.pid).ok() == Some(self.start_time)
            && self.program.check().is_ok();
        let (exe, sha256) = (self.facts.exe?, self.facts.sha256?);
        alive.then_some(Peer {
            uid: self.facts.uid,
            gid: self.facts.gid,
            pid: self.facts.pid,
            start_time: self.start_time,
            exe,
            sha256,
            pidfd: self.pidfd,
            program: self.program,
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

    #[test]
    fn a_process_that_starts_a_program_is_no_longer_who_it_was() {
        use std::io::Write;
        // The same shell again, and another program: each is another life of the same pid.
        for (next, want) in [("sh -c 'read b'", Changed::Exec), ("sleep 60", Changed::File)] {
            let mut child = std::process::Command::new("sh")
                .args(["-c", &format!("echo; read a; exec {next}")])
                .stdin(std::process::Stdio::piped())
                .stdout(std::process::Stdio::piped())
                .spawn()
                .unwrap();
            // Its first word shows that the shell, not the fork of this test, runs.
            io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
            let mut suspect = Suspect::open(PeerFacts { pid: child.id(), ..me() }).unwrap();
            suspect.hash(&HashCache::default()).unwrap();
            let peer = suspect.accept().unwrap();
            assert_eq!((peer.check(), peer.check()), (Ok(()), Ok(())));
            child.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
            let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
            let found = loop {
                assert!(std::time::Instant::now() < deadline, "{next} was not noticed");
                match peer.check() {
                    Ok(()) => std::thread::sleep(std::time::Duration::from_millis(2)),
                    // Between two programs the process has none.
                    Err(changed) if changed == want => break changed,
                    Err(_) => {}
                }
            };
            assert_eq!(found, want);
            assert!(peer.is_alive());
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(matches!(peer.check(), Err(Changed::Unknown(_))));
        }
    }
}
