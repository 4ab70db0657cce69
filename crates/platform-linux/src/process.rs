//! Starting and watching processes: the only place that does.

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// Most bytes kept of a helper's output.
const OUTPUT: u64 = 1024 * 1024;

/// How a detached program ended, if it did.
pub(crate) struct Started {
    pub(crate) pid: u32,
    ended: mpsc::Receiver<Option<i32>>,
}

impl Started {
    /// The exit code once it has ended (`Some(None)`: by a signal).
    pub(crate) fn ended(&self) -> Option<Option<i32>> {
        self.ended.try_recv().ok()
    }
}

/// Starts a program in a process group of its own, without a terminal, and reaps it when it ends.
pub(crate) fn start(program: &str, args: &[String], env: &[(String, String)]) -> std::io::Result<Started> {
    let mut command = Command::new(program);
    command
        .args(args)
        .envs(env.iter().map(|(k, v)| (k, v)))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0);
    if let Some(home) = std::env::var_os("HOME").filter(|h| std::path::Path::new(h).is_dir()) {
        command.current_dir(home);
    }
    let mut child = command.spawn()?;
    let pid = child.id();
    let (tell, ended) = mpsc::channel();
    // One thread per program we started: it sleeps in wait(2) and keeps zombies away.
    std::thread::Builder::new().name(format!("reap-{pid}")).stack_size(32 * 1024).spawn(move || {
        let code = child.wait().ok().and_then(|status| status.code());
        let _ = tell.send(code);
    })?;
    Ok(Started { pid, ended })
}

/// Runs a helper program and returns its output; `None` when it is missing, fails or takes too long.
pub(crate) fn output(program: &str, args: &[&str], time: Duration) -> Option<String> {
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .ok()?;
    let stdout = child.stdout.take()?;
    let (send, receive) = mpsc::channel();
    let reader = std::thread::Builder::new().name("helper-output".into()).spawn(move || {
        let mut text = Vec::new();
        let _ = stdout.take(OUTPUT).read_to_end(&mut text);
        let _ = send.send(text);
    });
    let text = reader.ok().and_then(|_| receive.recv_timeout(time).ok());
    let ended = end(&mut child, text.is_none());
    text.filter(|_| ended).map(|t| String::from_utf8_lossy(&t).into_owned())
}

/// Waits briefly for a helper that closed its output; kills it when it must go. True on success.
fn end(child: &mut Child, kill: bool) -> bool {
    let until = Instant::now() + Duration::from_millis(500);
    if !kill {
        while Instant::now() < until {
            match child.try_wait() {
                Ok(Some(status)) => return status.success(),
                Ok(None) => std::thread::sleep(Duration::from_millis(1)),
                Err(_) => break,
            }
        }
    }
    let _ = child.kill();
    let _ = child.wait();
    false
}

/// The file of a program: a path as it is, a name looked up in `PATH`.
pub(crate) fn find_program(name: &str) -> Option<std::path::PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let runs = |p: &std::path::Path| {
        std::fs::metadata(p).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    if name.contains('/') {
        let path = std::path::PathBuf::from(name);
        return (path.is_absolute() && runs(&path)).then_some(path);
    }
    if name.is_empty() {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|p| runs(p))
}

/// What /proc tells of a process.
pub(crate) struct Status {
    pub(crate) parent: u32,
    pub(crate) zombie: bool,
}

/// A process's parent and state; `None` when there is no such process.
pub(crate) fn status(pid: u32) -> Option<Status> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in brackets may itself contain brackets and spaces.
    let mut rest = stat.get(stat.rfind(')')? + 1..)?.split_whitespace();
    let state = rest.next()?;
    Some(Status { zombie: matches!(state, "Z" | "X"), parent: rest.next()?.parse().ok()? })
}

/// Whether a process runs.
pub(crate) fn alive(pid: u32) -> bool {
    status(pid).is_some_and(|s| !s.zombie)
}

/// The program's file name.
pub(crate) fn program(pid: u32) -> String {
    let exe = std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let name = exe.as_deref().and_then(|p| p.file_name()).map(|n| n.to_string_lossy().into_owned());
    name.or_else(|| std::fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|s| s.trim().to_owned()))
        .map(|n| n.trim_end_matches(" (deleted)").to_owned())
        .unwrap_or_default()
}

/// A process and everything it started, itself first.
pub(crate) fn family(pid: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    if let Ok(entries) = std::fs::read_dir("/proc") {
        for entry in entries.flatten() {
            if let Some(child) = entry.file_name().to_str().and_then(|n| n.parse::<u32>().ok())
                && let Some(status) = status(child)
            {
                children.entry(status.parent).or_default().push(child);
            }
        }
    }
    let mut seen = HashSet::from([pid]);
    let mut out = vec![pid];
    let mut at = 0;
    while let Some(&next) = out.get(at) {
        at += 1;
        for &child in children.get(&next).into_iter().flatten() {
            if seen.insert(child) {
                out.push(child);
            }
        }
    }
    out
}

/// Processes pinned by file descriptors, so that a signal never hits a stranger that got the number.
pub(crate) struct Pinned(Vec<rustix::fd::OwnedFd>);

impl Pinned {
    /// Pins a process and everything it started.
    pub(crate) fn family(pid: u32) -> Self {
        Self(
            family(pid)
                .into_iter()
                .filter_map(|p| Pid::from_raw(i32::try_from(p).ok()?))
                .filter_map(|p| pidfd_open(p, PidfdFlags::empty()).ok())
                .collect(),
        )
    }

    /// Pins one process.
    pub(crate) fn one(pid: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        pidfd_open(pid, PidfdFlags::empty()).ok().map(|fd| Self(vec![fd]))
    }

    /// Kills all.
    pub(crate) fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Asks all to end.
    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    fn signal(&self, signal: Signal) {
        for fd in &self.0 {
            let _ = pidfd_send_signal(fd, signal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_helper_that_hangs_is_ended() {
        assert_eq!(output("sh", &["-c", "echo hi"], Duration::from_secs(10)).as_deref(), Some("hi\n"));
        assert_eq!(output("sleep", &["600"], Duration::from_millis(50)), None);
        assert_eq!(output("sh", &["-c", "echo no; exit 3"], Duration::from_secs(10)), None);
        assert_eq!(output("no-such-program-here", &[], Duration::from_secs(1)), None);
    }

    #[test]
    fn a_started_program_leaves_no_zombie_and_its_family_dies() {
        let started = start("sh", &["-c".into(), "sleep 600 & sleep 600".into()], &[]).expect("sh starts");
        let until = Instant::now() + Duration::from_secs(10);
        while family(started.pid).len() < 3 && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        let all = family(started.pid);
        assert!(all.len() >= 3, "{all:?}");
        Pinned::family(started.pid).kill();
        while all.iter().any(|p| alive(*p)) && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(!all.iter().any(|p| alive(*p)));
        while status(started.pid).is_some() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(status(started.pid).is_none(), "the child was not reaped");
    }
}
