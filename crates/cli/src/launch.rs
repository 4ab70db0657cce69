//! Finding and starting programs of ours.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use deskhand_config::Home;
use deskhand_protocol::{Error, ErrorCode, HostStatus};

use crate::connect;
use crate::fail::{self, Fail};

const HOST: &str = "deskhand-host";
/// Where to look when `PATH` is not set at all.
const USUAL_PATH: &str = "/usr/local/bin:/usr/bin:/bin";
/// How long a host (and the desk under it) may take until it answers.
pub(crate) const READY: Duration = Duration::from_secs(40);
/// How long a host may take to end before it is killed.
const END: Duration = Duration::from_secs(10);
/// A log larger than this becomes `host.log.1`, and a new one is begun.
const MAX_LOG: u64 = 4 << 20;
/// How much of a log is shown when something failed.
const TAIL_BYTES: u64 = 8 << 10;
const TAIL_LINES: usize = 12;

/// Looks a program up as a shell would.
pub(crate) fn in_path(program: impl AsRef<OsStr>) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    std::env::split_paths(&path)
        // An empty entry would mean the working folder, which is nobody's intent here.
        .filter(|dir| !dir.as_os_str().is_empty())
        .map(|dir| dir.join(program.as_ref()))
        .find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// This program itself, by its real path.
pub(crate) fn myself() -> Result<PathBuf, Error> {
    std::env::current_exe().map_err(|error| {
        Error::new(ErrorCode::Internal, format!("the path of this program is not known: {error}"))
    })
}

/// The host: the program beside this one, and no other. `serve-host` becomes it in the same process,
/// which the bridge may have taken for `deskhand` already; a variable or `PATH` that chose the program
/// would lend that trust to any. A host from another folder would refuse this program anyway.
pub(crate) fn host_program() -> Result<PathBuf, Error> {
    let beside = myself()?.with_file_name(HOST);
    if is_program(&beside) {
        return Ok(beside);
    }
    Err(Error::new(ErrorCode::NotFound, format!("there is no program {}", beside.display()))
        .hint("deskhand and deskhand-host belong into one folder: install both there")
        .detail("path", beside.display().to_string()))
}

/// The host's log, open for its words.
pub(crate) fn open_log(home: &Home) -> Result<(PathBuf, File), Fail> {
    home.ensure()?;
    let dir = home.logs_dir();
    let path = dir.join("host.log");
    let opened = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&dir).and_then(|()| {
        if path.metadata().is_ok_and(|meta| meta.len() > MAX_LOG) {
            std::fs::rename(&path, dir.join("host.log.1"))?;
        }
        File::options().create(true).append(true).mode(0o600).open(&path)
    });
    let file = opened.map_err(|error| fail::file("open", &path, &error))?;
    Ok((path, file))
}

/// Sends the words of a command into a log.
pub(crate) fn into_log(command: &mut Command, log: &File) -> Result<(), Error> {
    let copy =
        |file: &File| file.try_clone().map_err(|error| Error::new(ErrorCode::Internal, error.to_string()));
    command.stdin(Stdio::null()).stdout(copy(log)?).stderr(copy(log)?);
    Ok(())
}

/// The last lines of a log, from `start` on.
pub(crate) fn tail(path: &Path, start: u64) -> Vec<String> {
    use std::io::{Read, Seek, SeekFrom};
    let read = || -> std::io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let from = start.max(file.metadata()?.len().saturating_sub(TAIL_BYTES));
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].iter().map(|line| (*line).to_owned()).collect()
}

/// Why a host that was started does not answer.
pub(crate) enum NotReady {
    /// It ended.
    Ended(std::process::ExitStatus),
    /// It answers, and refuses us.
    Refused(Error),
    /// Another host came first and serves this home.
    Another(Box<HostStatus>),
    /// It took too long.
    TooLong,
    /// The wait was called off.
    CalledOff,
}

/// Waits until the host of a home answers, its process ends, or `called_off` says so. The host is
/// `child`, or a child of it.
pub(crate) fn wait_ready(
    home: &Home,
    child: &mut Child,
    mut called_off: impl FnMut() -> bool,
) -> Result<HostStatus, NotReady> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(2);
    loop {
        match connect::status(home) {
            Ok(status) if status.pid == child.id() || parent_of(status.pid) == Some(child.id()) => {
                return Ok(status);
            }
            Ok(status) => return Err(NotReady::Another(Box::new(status))),
            Err(error) if matches!(error.code, ErrorCode::HostNotRunning | ErrorCode::Timeout) => {}
            Err(error) => return Err(NotReady::Refused(error)),
        }
        if let Ok(Some(status)) = child.try_wait() {
            return Err(NotReady::Ended(status));
        }
        if called_off() {
            return Err(NotReady::CalledOff);
        }
        if start.elapsed() > READY {
            return Err(NotReady::TooLong);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// A host that did not come up, with its last words.
pub(crate) fn did_not_start(why: &NotReady, log: Option<(&Path, u64)>) -> Error {
    let lines = log.map(|(path, start)| tail(path, start)).unwrap_or_default();
    // A program of ours that fails says the error itself in one of its last lines.
    let told = lines.iter().rev().find_map(|line| serde_json::from_str::<Told>(line).ok());
    if let (Some(told), Some((path, _))) = (told, log) {
        return told.error.detail("log", path.display().to_string());
    }
    let said = lines.last().map(|line| format!(": {}", line.trim())).unwrap_or_default();
    let message = match why {
        NotReady::Refused(error) => return error.clone(),
        NotReady::Ended(status) => format!("the host ended before it answered ({status}){said}"),
        NotReady::Another(status) => {
            return Error::new(
                ErrorCode::HostAlreadyRunning,
                format!("another host (pid {}) came first", status.pid),
            );
        }
        NotReady::TooLong => format!("the host did not answer within {} s{said}", READY.as_secs()),
        NotReady::CalledOff => "the start was called off".to_owned(),
    };
    let error = Error::new(ErrorCode::HostNotRunning, message).hint("`deskhand doctor` says what is missing");
    match log {
        Some((path, _)) => error.detail("log", path.display().to_string()).detail("lastLines", lines),
        None => error,
    }
}

/// The parent of a process.
pub(crate) fn parent_of(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in brackets and may contain anything, so count from its end.
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(1)?.parse().ok()
}

#[derive(serde::Deserialize)]
struct Told {
    error: Error,
}

/// Asks a process to end, waits, and kills it when it does not.
pub(crate) fn end(child: &mut Child) {
    let _ =
        rustix::process::kill_process(rustix::process::Pid::from_child(child), rustix::process::Signal::TERM);
    let start = Instant::now();
    while start.elapsed() < END {
        if !matches!(child.try_wait(), Ok(None)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_parent_is_read_from_the_kernel() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(super::parent_of(child.id()), Some(std::process::id()));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(super::parent_of(0), None);
    }
}
