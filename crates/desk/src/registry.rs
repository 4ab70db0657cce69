//! The desks of a home.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use deskhand_config::Home;
use rustix::process::Signal;

use crate::dirs::{self, Claim};
use crate::error::{DeskError, Result};
use crate::options::check_name;
use crate::procs::Proc;
use crate::state::{DeskInfo, State};
use crate::{procs, x11};

/// The most desks one home keeps.
const MAX_DESKS: usize = 256;
/// How long a supervisor may take to end its desk; then it is killed and swept after.
const STOP: Duration = Duration::from_secs(12);
const REPORT: &str = ".report";

/// The desks that run, by name. Sweeps first.
pub fn list(home: &Home) -> Result<Vec<DeskInfo>> {
    sweep(home)?;
    let desks = home.desks_dir();
    let mut found: Vec<DeskInfo> = names(&desks)
        .into_iter()
        .filter(|name| dirs::is_held(&desks, name))
        .filter_map(|name| Some(State::read(&desks.join(name))?.info))
        .collect();
    found.sort_by(|a, b| (a.name.len(), &a.name).cmp(&(b.name.len(), &b.name)));
    Ok(found)
}

/// Ends what is left of desks whose supervisor was killed: processes, folders, the lock file and the
/// socket of the X server. Returns their names. Living desks are not touched.
pub fn sweep(home: &Home) -> Result<Vec<String>> {
    let desks = home.desks_dir();
    let mut swept = Vec::new();
    for name in names(&desks) {
        if dirs::is_held(&desks, &name) {
            continue;
        }
        if let Some(claim) = Claim::take(&desks, &name, false)? {
            let was_there = claim.dir.exists();
            clean(&claim.dir)?;
            claim.release()?;
            if was_there {
                swept.push(name);
            }
        }
    }
    for entry in fs::read_dir(&desks).into_iter().flatten().flatten() {
        if report_of(&entry.file_name().to_string_lossy()).is_some_and(|pid| !procs::is_alive(pid)) {
            let _ = fs::remove_file(entry.path());
        }
    }
    Ok(swept)
}

/// Stops a desk and waits until all of it is gone.
pub fn stop(home: &Home, name: &str) -> Result<()> {
    check_name(name)?;
    let desks = home.desks_dir();
    if !dirs::is_held(&desks, name) {
        let swept = sweep(home)?.iter().any(|swept| swept == name);
        return if swept { Ok(()) } else { Err(DeskError::NotFound(name.to_owned())) };
    }
    let start = Instant::now();
    let mut asked = None;
    while dirs::is_held(&desks, name) {
        // A desk that has only just been claimed has not said yet who keeps it.
        if let Some((keeper, state)) = State::read(&desks.join(name)).and_then(|s| Some((keeper(&s)?, s))) {
            // Asked once: the desk of the same name that follows is another desk.
            let who = (keeper.pid, state.keeper_started);
            if asked.is_none() {
                keeper.signal(Signal::TERM);
                asked = Some(who);
            } else if asked != Some(who) {
                break;
            } else if start.elapsed() > STOP {
                keeper.signal(Signal::KILL);
            }
        }
        if start.elapsed() > STOP + Duration::from_secs(3) {
            let what = format!("the desk {name:?} did not end");
            return Err(DeskError::Timeout { what, seconds: start.elapsed().as_secs() });
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    sweep(home).map(drop)
}

/// The supervisor of a desk; none if its number belongs to another process by now.
fn keeper(state: &State) -> Option<Proc> {
    Proc::known(state.info.pid, state.keeper_started)
}

/// The state of a running desk.
pub(crate) fn find(home: &Home, name: &str) -> Result<State> {
    check_name(name)?;
    let desks = home.desks_dir();
    let state = dirs::is_held(&desks, name).then(|| State::read(&desks.join(name))).flatten();
    state.filter(|state| state.info.alive).ok_or_else(|| DeskError::NotFound(name.to_owned()))
}

/// Takes a name for a new desk: the one given, or the first that is free.
pub(crate) fn claim(home: &Home, name: Option<&str>) -> Result<(String, Claim)> {
    let desks = dirs::desks(home)?;
    if let Some(name) = name {
        check_name(name)?;
        let claim = Claim::take(&desks, name, true)?.ok_or_else(|| DeskError::InUse(name.to_owned()))?;
        clean(&claim.dir)?;
        return Ok((name.to_owned(), claim));
    }
    for number in 1..=MAX_DESKS {
        let name = format!("desk-{number}");
        if dirs::is_held(&desks, &name) {
            continue;
        }
        if let Some(claim) = Claim::take(&desks, &name, false)? {
            clean(&claim.dir)?;
            return Ok((name, claim));
        }
    }
    Err(DeskError::TooMany(MAX_DESKS))
}

/// Ends and removes what is left of a desk whose name we hold.
pub(crate) fn clean(dir: &Path) -> Result<()> {
    let state = State::read(dir);
    if let Some(state) = &state {
        procs::end(|| procs::on_desk(None, &state.id));
    }
    remove_files(dir, state.as_ref())
}

/// Removes the files of a desk whose processes have ended.
pub(crate) fn remove_files(dir: &Path, state: Option<&State>) -> Result<()> {
    if let Some(state) = state {
        if let Some(number) = state.x_number {
            x11::remove_leftovers(number, state.x_pid);
        }
        if !state.info.runtime_dir.starts_with(dir) {
            dirs::remove_tree(&state.info.runtime_dir)?;
        }
    }
    dirs::remove_tree(dir)
}

/// The name of the file in which an `exec` supervisor says what was wrong.
pub(crate) fn report_name(random: &str) -> String {
    format!("exec-{}-{random}{REPORT}", std::process::id())
}

fn report_of(file: &str) -> Option<u32> {
    file.strip_prefix("exec-")?.strip_suffix(REPORT)?.split('-').next()?.parse().ok()
}

/// Names that have a lock or a folder.
fn names(desks: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(desks)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let file = entry.file_name().into_string().ok()?;
            let name = file.strip_suffix(".lock").unwrap_or(&file);
            check_name(name).is_ok().then(|| name.to_owned())
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::Command;

    use super::*;

    /// A desk.json whose supervisor's number is by now that of somebody else's process.
    #[test]
    fn a_foreign_process_of_the_same_number_is_never_signalled() {
        let root = tempfile::tempdir().unwrap();
        let home = Home::at(root.path());
        let desks = dirs::desks(&home).unwrap();
        let (name, claim) = super::claim(&home, Some("mine")).unwrap();
        dirs::private(&claim.dir).unwrap();
        let mut foreign = Command::new("sleep").arg("600").spawn().unwrap();
        let started = procs::started(foreign.id()).unwrap();
        let text = serde_json::json!({
            "info": {
                "name": name, "display": ":1", "size": { "width": 800, "height": 600 }, "second": null,
                "pid": foreign.id(), "started": 0, "ownerPid": null, "alive": true, "xauthority": "/x",
                "bus": "", "runtimeDir": claim.dir.join("run"),
            },
            "id": "0123456789abcdef", "xPid": null, "xNumber": null,
        });
        let write = |keeper: Option<u64>| {
            let mut text = text.clone();
            if let Some(keeper) = keeper {
                text["keeperStarted"] = keeper.into();
            }
            std::fs::write(claim.dir.join("desk.json"), text.to_string()).unwrap();
            State::read(&claim.dir).unwrap()
        };
        // Another start, and a file of an older version that does not know it.
        for keeper in [Some(started + 1), Some(started.saturating_sub(1)), None] {
            assert_eq!(super::keeper(&write(keeper)), None, "{keeper:?}");
        }
        assert!(dirs::is_held(&desks, "mine"));
        let (stopped, done) = std::sync::mpsc::channel();
        std::thread::spawn(move || stopped.send(stop(&home, "mine")));
        assert!(done.recv_timeout(Duration::from_millis(700)).is_err(), "the desk is held");
        assert!(foreign.try_wait().unwrap().is_none(), "it was signalled");
        claim.release().unwrap();
        done.recv_timeout(Duration::from_secs(60)).unwrap().unwrap();
        assert!(foreign.try_wait().unwrap().is_none(), "it was signalled");
        foreign.kill().unwrap();
        assert_eq!(foreign.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn the_supervisor_itself_is_known_by_its_start() {
        let mut child = Command::new("sleep").arg("600").spawn().unwrap();
        let started = procs::started(child.id()).unwrap();
        Proc::known(child.id(), started).unwrap().signal(Signal::TERM);
        assert_eq!(child.wait().unwrap().signal(), Some(15));
        assert_eq!(Proc::known(child.id(), started), None);
    }
}
