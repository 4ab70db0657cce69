//! The processes of a desk: who they are and how they are ended.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::env::MARK;

/// How long a process may take to end when asked.
pub(crate) const GRACE: Duration = Duration::from_millis(300);
/// How long to go on killing. Only a process stuck in the kernel outlives this.
const GIVE_UP: Duration = Duration::from_secs(5);
const LOOK_EVERY: Duration = Duration::from_millis(4);

/// A process, told from a later one of the same number by when it started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Proc {
    pub(crate) pid: u32,
    parent: u32,
    started: u64,
}

impl Proc {
    /// Reads one; none if it has ended, even if nobody has taken note of its end yet.
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
        // The name, in brackets, may hold anything; the fields start after the last bracket.
        let after = stat.iter().rposition(|&b| b == b')')? + 1;
        let fields = String::from_utf8_lossy(&stat[after..]);
        let mut fields = fields.split_ascii_whitespace();
        if matches!(fields.next()?, "Z" | "X") {
            return None;
        }
        let parent = fields.next()?.parse().ok()?;
        let started = fields.nth(17)?.parse().ok()?;
        Some(Self { pid, parent, started })
    }

    fn has_mark(&self, mark: &[u8]) -> bool {
        fs::read(format!("/proc/{}/environ", self.pid))
            .is_ok_and(|environ| environ.split(|&b| b == 0).any(|entry| entry == mark))
    }

    /// The process of that number, if it is still the one that started then.
    pub(crate) fn known(pid: u32, started: u64) -> Option<Self> {
        Self::read(pid).filter(|now| now.started == started)
    }

    /// Sends a signal to this very process, never to another that has got its number since.
    pub(crate) fn signal(&self, signal: Signal) {
        let Some(pid) = raw(self.pid) else { return };
        let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if Self::known(self.pid, self.started).is_some() {
            // It may end in between, or belong to root: both show in the next look.
            let _ = pidfd_send_signal(handle, signal);
        }
    }
}

/// A process number as the kernel takes it.
pub(crate) fn raw(pid: u32) -> Option<Pid> {
    Pid::from_raw(i32::try_from(pid).ok()?)
}

/// When a process started, in ticks since the machine did (field 22 of its `stat`).
pub(crate) fn started(pid: u32) -> Option<u64> {
    Proc::read(pid).map(|proc| proc.started)
}

/// Whether a process of that number runs.
pub(crate) fn is_alive(pid: u32) -> bool {
    Proc::read(pid).is_some()
}

fn all() -> Vec<Proc> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| Proc::read(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Everything that descends from `root`.
pub(crate) fn below(root: u32) -> HashSet<u32> {
    below_in(&all(), root)
}

fn below_in(all: &[Proc], root: u32) -> HashSet<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    for proc in all {
        children.entry(proc.parent).or_default().push(proc.pid);
    }
    let mut below = HashSet::new();
    let mut next = vec![root];
    while let Some(pid) = next.pop() {
        for &child in children.get(&pid).into_iter().flatten() {
            if below.insert(child) {
                next.push(child);
            }
        }
    }
    below
}

/// Everything on the desk `id`: what descends from `root` (if given) and what carries the mark,
/// without this process itself.
pub(crate) fn on_desk(root: Option<u32>, id: &str) -> Vec<Proc> {
    let all = all();
    let me = std::process::id();
    let below = root.map(|root| below_in(&all, root)).unwrap_or_default();
    let mark = format!("{MARK}={id}").into_bytes();
    all.into_iter()
        .filter(|proc| proc.pid != me && (below.contains(&proc.pid) || proc.has_mark(&mark)))
        .collect()
}

/// Ends what `find` finds: asks, after [`GRACE`] kills, and looks again until there is none, as they
/// may start others while they are being ended. Returns what could not be ended.
pub(crate) fn end(mut find: impl FnMut() -> Vec<Proc>) -> Vec<Proc> {
    let start = Instant::now();
    let mut asked = HashSet::new();
    loop {
        let left = find();
        if left.is_empty() || start.elapsed() > GIVE_UP {
            return left;
        }
        let kill = start.elapsed() > GRACE;
        for proc in &left {
            if kill {
                proc.signal(Signal::KILL);
            } else if asked.insert(*proc) {
                proc.signal(Signal::TERM);
            }
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn ends_marked_processes_and_spares_others() {
        let sleep = |id: &str| {
            Command::new("sh")
                // Ignores the polite request, so that the harder one is seen to work.
                .args(["-c", "trap '' TERM; while :; do sleep 0.1; done"])
                .env(MARK, id)
                .stdin(Stdio::null())
                .spawn()
                .unwrap()
        };
        let id = format!("test-{}", std::process::id());
        let (mut ours, mut other) = (sleep(&id), sleep("another"));
        // `exec` replaces the environment a moment after the start.
        let deadline = Instant::now() + Duration::from_secs(20);
        while on_desk(None, &id).is_empty() && Instant::now() < deadline {
            std::thread::sleep(LOOK_EVERY);
        }
        assert!(!on_desk(None, &id).is_empty());
        assert_eq!(end(|| on_desk(None, &id)), vec![]);
        assert!(!is_alive(ours.id()));
        assert!(is_alive(other.id()));
        ours.wait().unwrap();
        other.kill().unwrap();
        other.wait().unwrap();
        let mut ended = Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        assert!(!is_alive(ended.id()));
    }

    #[test]
    fn descendants_are_found_without_a_mark() {
        let mut parent = Command::new("sh").args(["-c", "sleep 60 & wait"]).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(20);
        let mine = |procs: Vec<Proc>| procs.into_iter().filter(|p| p.parent == parent.id()).count();
        while mine(on_desk(Some(std::process::id()), "none")) == 0 && Instant::now() < deadline {
            std::thread::sleep(LOOK_EVERY);
        }
        let found: Vec<_> = on_desk(Some(parent.id()), "none");
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(end(|| on_desk(Some(parent.id()), "none")).is_empty());
        parent.wait().unwrap();
    }
}
