//! May this process use the bridge? Same user, a program on the list, unchanged.

use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use deskhand_protocol::{Error, ErrorCode};

use crate::callers::{self, Caller};
use crate::hash::{HashCache, Identity};
use crate::peer::{Peer, PeerFacts, Suspect};

/// Deskhand's own programs: allowed from the folder the host itself runs from.
pub const OWN_PROGRAMS: [&str; 4] = ["deskhand", "deskhand-agent", "deskhand-mcp", "deskhand-hook"];

/// Which check a caller, or one of its requests, failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Check {
    /// The process could not be examined.
    Process,
    /// It belongs to another user.
    Uid,
    /// Its program is not on the list.
    Path,
    /// Its program is on the list, but was changed.
    Hash,
    /// Bytes came from another process than the one that connected.
    Sender,
    /// `hello` did not repeat the challenge: it was written before the process was examined.
    Challenge,
    /// A request of an allowed caller came with a nonce that was used before.
    Nonce,
    /// A request of an allowed caller came too late, or lies too far ahead.
    Expiry,
}

impl Check {
    /// The word used in `details.check` and in the audit log.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Check::Process => "process",
            Check::Uid => "uid",
            Check::Path => "path",
            Check::Hash => "hash",
            Check::Sender => "sender",
            Check::Challenge => "challenge",
            Check::Nonce => "nonce",
            Check::Expiry => "expiry",
        }
    }
}

/// A caller or a request that was turned away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Who it was.
    pub peer: PeerFacts,
    /// Which check failed.
    pub check: Check,
    /// In words.
    pub why: String,
}

impl Refusal {
    /// What the caller is told.
    #[must_use]
    pub fn to_error(&self) -> Error {
        let exe = self.peer.exe.as_ref().map(|exe| exe.display().to_string());
        let hint = match (self.check, &exe) {
            (Check::Uid, _) => "each user runs a host of their own".to_owned(),
            (Check::Path | Check::Hash, Some(exe)) => format!(
                "the owner can allow this program with `deskhand callers allow {exe}`; \
                 a Deskhand program that was updated needs a restart of the host"
            ),
            (Check::Sender, _) => "open a connection of your own".to_owned(),
            (Check::Challenge, _) => {
                "read the host's first line, then repeat its challenge in hello".to_owned()
            }
            (Check::Nonce, _) => ErrorCode::NonceReplayed.default_hint().to_owned(),
            (Check::Expiry, _) => ErrorCode::RequestExpired.default_hint().to_owned(),
            _ => ErrorCode::CallerRefused.default_hint().to_owned(),
        };
        let code = match self.check {
            Check::Nonce => ErrorCode::NonceReplayed,
            Check::Expiry => ErrorCode::RequestExpired,
            _ => ErrorCode::CallerRefused,
        };
        let mut error = Error::new(code, self.why.clone())
            .hint(hint)
            .detail("check", self.check.as_str())
            .detail("uid", self.peer.uid)
            .detail("pid", self.peer.pid);
        if let Some(exe) = exe {
            error = error.detail("exe", exe);
        }
        error
    }
}

/// The list of programs that may use the bridge.
pub struct Allowlist {
    file: PathBuf,
    own: Vec<Own>,
    listed: Mutex<Listed>,
    hashes: HashCache,
}

/// One of Deskhand's own programs, pinned to the state it had when the host started.
struct Own {
    path: PathBuf,
    pinned: Identity,
}

#[derive(Default)]
struct Listed {
    /// State of the file the entries were read from; `None` before the first look.
    seen: Option<Stamp>,
    callers: Vec<Caller>,
}

/// What shows that the file was changed; `None` inside when there is no file.
type Stamp = Option<(u64, u64, i64, i64, i64, i64)>;

fn stamp(meta: &Metadata) -> Stamp {
    Some((meta.ino(), meta.size(), meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()))
}

impl Allowlist {
    /// Callers from `file`, and Deskhand's own programs beside the running executable.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>) -> Self {
        let exe = std::fs::read_link("/proc/self/exe").ok();
        Self::with_programs_in(file, exe.as_deref().and_then(Path::parent))
    }

    /// Callers from `file`, and Deskhand's own programs in `folder` as they are now.
    #[must_use]
    pub fn with_programs_in(file: impl Into<PathBuf>, folder: Option<&Path>) -> Self {
        let own = folder
            .and_then(|folder| folder.canonicalize().ok())
            .map(|folder| {
                let pin = |name: &&str| {
                    let path = folder.join(name).canonicalize().ok()?;
                    let pinned = Identity::of(&File::open(&path).ok()?).ok()?;
                    Some(Own { path, pinned })
                };
                OWN_PROGRAMS.iter().filter_map(pin).collect()
            })
            .unwrap_or_default();
        Self { file: file.into(), own, listed: Mutex::default(), hashes: HashCache::default() }
    }

    /// Examines a process that connected. A file of callers that cannot be used allows nobody, and
    /// `notice` is told so each time it is read anew.
    pub(crate) fn examine(&self, facts: PeerFacts, notice: &dyn Fn(&str)) -> Result<Peer, Refusal> {
        let me = rustix::process::geteuid().as_raw();
        if facts.uid != me {
            let why = format!("the caller runs as uid {}, this host serves uid {me}", facts.uid);
            return Err(Refusal { peer: facts, check: Check::Uid, why });
        }
        let mut suspect = Suspect::open(facts).map_err(|(peer, error)| {
            let why = format!("the program of pid {} cannot be examined: {error}", peer.pid);
            Refusal { peer, check: Check::Process, why }
        })?;
        match self.judge(&mut suspect, notice) {
            Ok(()) => {
                let facts = suspect.facts.clone();
                suspect.accept().ok_or_else(|| Refusal {
                    why: format!("pid {} ended or started another program while it was examined", facts.pid),
                    peer: facts,
                    check: Check::Process,
                })
            }
            Err((check, why)) => Err(Refusal { peer: suspect.facts, check, why }),
        }
    }

    fn judge(&self, suspect: &mut Suspect, notice: &dyn Fn(&str)) -> Result<(), (Check, String)> {
        let path = suspect.facts.exe.clone().unwrap_or_default();
        let shown = path.display().to_string();
        if suspect.deleted {
            return Err((
                Check::Path,
                format!("{shown}: this program was removed or replaced after it was started"),
            ));
        }
        let listed = self.listed(notice).into_iter().find(|caller| caller.path == path);
        let own = self.own.iter().find(|own| own.path == path);
        if listed.is_none() && own.is_none() {
            return Err((
                Check::Path,
                format!("{shown} is not on the list of programs that may use the bridge"),
            ));
        }
        let (identity, hash) = suspect
            .hash(&self.hashes)
            .map_err(|error| (Check::Process, format!("{shown} cannot be read: {error}")))?;
        let own_same = own.is_some_and(|own| own.pinned == identity);
        let listed_same = listed.as_ref().is_some_and(|caller| caller.sha256 == hash);
        if own_same || listed_same {
            return Ok(());
        }
        let since = if listed.is_some() { "it was allowed" } else { "the host started" };
        Err((Check::Hash, format!("{shown} was changed since {since}: its SHA-256 is now {hash}")))
    }

    /// The entries of the file, read again when it changed.
    fn listed(&self, notice: &dyn Fn(&str)) -> Vec<Caller> {
        let now = std::fs::metadata(&self.file).ok().as_ref().and_then(stamp);
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if listed.seen != Some(now) {
            listed.callers = callers::list(&self.file).unwrap_or_else(|error| {
                notice(&format!("nobody but Deskhand's own programs may call: {error}"));
                Vec::new()
            });
            listed.seen = Some(now);
        }
        listed.callers.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::os::unix::net::UnixStream;

    fn me() -> PeerFacts {
        let (one, _two) = UnixStream::pair().unwrap();
        crate::peer::credentials(&one).unwrap()
    }

    fn check(list: &Allowlist, facts: PeerFacts) -> Option<Check> {
        list.examine(facts, &|_| ()).err().map(|refusal| refusal.check)
    }

    #[test]
    fn path_hash_and_user_must_all_fit() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("callers.json");
        let list = Allowlist::with_programs_in(&file, None);
        assert_eq!(check(&list, me()), Some(Check::Path));
        let exe = std::env::current_exe().unwrap();
        let caller = callers::allow(&file, &exe, None).unwrap();
        assert_eq!(check(&list, me()), None, "the file is read again when it changes");
        assert_eq!(check(&list, PeerFacts { uid: 12345, ..me() }), Some(Check::Uid));
        assert_eq!(check(&list, PeerFacts { pid: 0, ..me() }), Some(Check::Process));

        let wrong = std::fs::read_to_string(&file).unwrap().replace(&caller.sha256, &"0".repeat(64));
        std::fs::write(&file, wrong).unwrap();
        let refusal = list.examine(me(), &|_| ()).unwrap_err();
        assert_eq!(refusal.check, Check::Hash);
        assert!(refusal.why.contains(&caller.sha256));
        let error = refusal.to_error();
        assert_eq!(error.code, ErrorCode::CallerRefused);
        assert!(error.hint.contains(&*exe.to_string_lossy()));
    }

    #[test]
    fn a_broken_file_allows_nobody_and_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("callers.json");
        std::fs::write(&file, "{").unwrap();
        let list = Allowlist::with_programs_in(&file, None);
        let said = RefCell::new(Vec::new());
        for _ in 0..3 {
            let refused = list.examine(me(), &|text| said.borrow_mut().push(text.to_owned())).unwrap_err();
            assert_eq!(refused.check, Check::Path);
        }
        let said = said.into_inner();
        assert_eq!(said.len(), 1);
        assert!(said[0].contains("line 1 column 1"), "{said:?}");
    }

    #[test]
    fn own_programs_are_pinned_when_the_host_starts() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().canonicalize().unwrap();
        let program = folder.join("deskhand-mcp");
        let run = || {
            std::fs::copy("/bin/sleep", &program).unwrap();
            std::process::Command::new(&program).arg("60").spawn().unwrap()
        };
        let mut child = run();
        let list = Allowlist::with_programs_in(folder.join("none"), Some(&folder));
        assert_eq!(check(&list, PeerFacts { pid: child.id(), ..me() }), None);
        // The running program is replaced: the process still runs the old, deleted file.
        std::fs::remove_file(&program).unwrap();
        let refusal = list.examine(PeerFacts { pid: child.id(), ..me() }, &|_| ()).unwrap_err();
        assert_eq!(refusal.check, Check::Path);
        assert!(refusal.why.contains("removed or replaced"), "{}", refusal.why);
        child.kill().unwrap();
        child.wait().unwrap();
        // Even the same bytes in a new file are not what was pinned.
        let mut child = run();
        assert_eq!(check(&list, PeerFacts { pid: child.id(), ..me() }), Some(Check::Hash));
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
