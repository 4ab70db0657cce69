//! Programs: installed, running, started, ended.

mod entries;
mod matching;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskhand_platform::{App, Apps, InstalledApp, Launched, PlatformError, Result, Scope, Window, WindowId};

use self::entries::{Entry, file_name};
use self::matching::{Found, find, near};
use crate::process::{self, Pinned, Started};
use crate::windows::X11Windows;
use crate::x11::Link;

/// Longest wait for a first window.
const FIRST_WINDOW: Duration = Duration::from_secs(8);
/// Longest wait for a program that was asked to end.
const ENDING: Duration = Duration::from_secs(5);
/// Windows are asked to close a second time after this long.
const AGAIN: Duration = Duration::from_secs(1);
/// Pause between two looks.
const LOOK: Duration = Duration::from_millis(5);
/// A program that ends this soon without a window did not start.
const AT_ONCE: Duration = Duration::from_millis(1500);
/// What Chromium needs to show its tree to accessibility.
const CHROMIUM: &str = "--force-renderer-accessibility";
/// What Chromium needs besides when it runs as root and must stay quiet.
const CHROMIUM_ROOT: &[&str] = &[
    "--no-sandbox",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// The programs facet on X11.
pub(crate) struct X11Apps {
    link: Arc<Link>,
    windows: Arc<X11Windows>,
}

impl X11Apps {
    pub(crate) fn new(link: Arc<Link>, windows: Arc<X11Windows>) -> Self {
        Self { link, windows }
    }

    /// Waits for the first window of what was started; the process it belongs to.
    fn first_window(
        &self,
        started: &Started,
        names: &[String],
        before: &HashSet<WindowId>,
        scope: &Scope,
    ) -> Result<Option<u32>> {
        let begin = Instant::now();
        let mut failed = None;
        loop {
            let family: HashSet<u32> = process::family(started.pid).into_iter().collect();
            let ours = |w: &&Window| w.pid.is_some_and(|p| family.contains(&p));
            let alike = |w: &&Window| {
                let app = w.app.to_lowercase();
                !before.contains(&w.id) && !app.is_empty() && names.contains(&app)
            };
            let windows = self.windows.any()?;
            if let Some(w) = windows.iter().find(ours).or_else(|| windows.iter().find(alike)) {
                return Ok(Some(w.pid.unwrap_or(started.pid)));
            }
            if let Some(code) = started.ended() {
                failed = code.filter(|c| *c != 0).or(failed);
                if let Some(code) = failed
                    && begin.elapsed() < AT_ONCE
                {
                    return Err(PlatformError::Unsupported {
                        what: "starting the program".into(),
                        why: format!(
                            "it ended at once with exit code {code}; start it in a terminal to see why"
                        ),
                    });
                }
            }
            match scope.sleep(LOOK, "waiting for the first window") {
                Ok(()) => {}
                Err(PlatformError::Timeout { .. }) => return Ok(None),
                Err(e) => return Err(e),
            }
        }
    }

    fn ask_windows_to_close(&self, pid: u32) -> Result<Vec<WindowId>> {
        let ids: Vec<WindowId> = self.windows_of(pid).iter().map(|w| w.id).collect();
        ids.iter().try_for_each(|id| self.windows.ask_to_close(*id))?;
        Ok(ids)
    }

    fn windows_of(&self, pid: u32) -> Vec<Window> {
        self.windows.any().unwrap_or_default().into_iter().filter(|w| w.pid == Some(pid)).collect()
    }
}

/// Adds what a program needs to be usable here.
fn with_needs(program: &str, mut words: Vec<String>) -> Vec<String> {
    let name = file_name(program).to_lowercase();
    let chromium = ["chromium", "chrome", "google-chrome", "brave", "microsoft-edge"];
    if !chromium.iter().any(|c| name.starts_with(c)) {
        return words;
    }
    let root = rustix::process::geteuid().is_root();
    let extra = std::iter::once(CHROMIUM).chain(CHROMIUM_ROOT.iter().copied().filter(|_| root));
    let missing: Vec<String> = extra.filter(|e| !words.iter().any(|w| w == e)).map(str::to_owned).collect();
    words.splice(0..0, missing);
    words
}

/// The words to run in a terminal, for programs that need one.
fn in_terminal(words: Vec<String>) -> Result<Vec<String>> {
    let terminals = ["x-terminal-emulator", "xterm", "xfce4-terminal", "konsole", "gnome-terminal"];
    let Some(terminal) = terminals.iter().find(|t| process::find_program(t).is_some()) else {
        return Err(PlatformError::Unsupported {
            what: "starting a terminal program".into(),
            why: "no terminal is installed; install xterm".into(),
        });
    };
    let run = if *terminal == "gnome-terminal" { "--" } else { "-e" };
    Ok([(*terminal).to_owned(), run.to_owned()].into_iter().chain(words).collect())
}

impl Apps for X11Apps {
    fn installed(&self) -> Result<Vec<InstalledApp>> {
        let mut apps: Vec<InstalledApp> = entries::all()
            .into_iter()
            .filter(|e| !e.hidden)
            .map(|e| InstalledApp {
                program: e.program(),
                desktop_id: e.id,
                name: e.name,
                other_names: e.other_names,
            })
            .collect();
        apps.sort_by_key(|a| a.name.to_lowercase());
        Ok(apps)
    }

    fn running(&self) -> Result<Vec<App>> {
        let windows = self.windows.any()?;
        let entries = entries::all();
        let mut seen = HashSet::new();
        let mut apps = Vec::new();
        for window in &windows {
            let Some(pid) = window.pid.filter(|p| seen.insert(*p) && process::alive(*p)) else { continue };
            let program = process::program(pid);
            let entry = matching::of_window(&entries, &window.app, &program);
            let plain = if window.app.is_empty() { program.clone() } else { window.app.clone() };
            apps.push(App {
                name: entry.map_or(plain, |e| e.name.clone()),
                pid,
                desktop_id: entry.map(|e| e.id.clone()),
                program,
            });
        }
        Ok(apps)
    }

    fn launch(&self, name: &str, args: &[String], scope: &Scope) -> Result<Launched> {
        scope.check("starting a program")?;
        let entries = entries::all();
        let found = find(&entries, name);
        let (shown, program, words, class) = match found {
            Some(Found::Entry(entry)) => {
                let mut words = entries::command(entry, args);
                if entry.terminal {
                    words = in_terminal(words)?;
                }
                let program = words.remove(0);
                (entry.name.clone(), program, words, entry_names(entry))
            }
            Some(Found::Program(path)) => {
                let path = path.to_string_lossy().into_owned();
                let base = file_name(&path).to_lowercase();
                (name.to_owned(), path, args.to_vec(), vec![base])
            }
            None => {
                let near = near(&entries, name);
                let hint =
                    if near.is_empty() { String::new() } else { format!(" (near: {})", near.join(", ")) };
                return Err(PlatformError::AppNotFound { what: format!("called {name:?}{hint}") });
            }
        };
        let before: HashSet<WindowId> = self.windows.any()?.into_iter().map(|w| w.id).collect();
        let words = with_needs(&program, words);
        let display = self.link.display().map(|d| ("DISPLAY".to_owned(), d.to_owned()));
        let env: Vec<_> = display.into_iter().collect();
        let started = process::start(&program, &words, &env).map_err(|e| PlatformError::Unsupported {
            what: format!("starting {program}"),
            why: e.to_string(),
        })?;
        let seen = self.first_window(&started, &class, &before, &scope.within(FIRST_WINDOW))?;
        Ok(Launched { name: shown, pid: seen.unwrap_or(started.pid), window_seen: seen.is_some() })
    }

    fn close(&self, pid: u32, force: bool, scope: &Scope) -> Result<bool> {
        if !process::alive(pid) {
            return Err(PlatformError::AppNotFound { what: format!("with pid {pid}") });
        }
        // Nobody asks to end the system, or the hand that does the ending.
        if pid <= 1 || process::family(pid).contains(&std::process::id()) {
            return Err(PlatformError::Invalid {
                field: "pid".into(),
                why: format!("{pid} is the system or this program itself"),
            });
        }
        scope.check("ending a program")?;
        let mut asked = Vec::new();
        if force {
            Pinned::family(pid).kill();
        } else {
            let pinned = Pinned::one(pid);
            asked = self.ask_windows_to_close(pid)?;
            if asked.is_empty()
                && let Some(pinned) = pinned
            {
                // Without a window there is no close button; this is the polite way that is left.
                pinned.terminate();
            }
        }
        let (short, begin) = (scope.within(ENDING), Instant::now());
        while process::alive(pid) {
            // A program that was still starting missed the request. The very same windows after a while
            // and no question among them: once more.
            if !asked.is_empty() && begin.elapsed() > AGAIN {
                let now: Vec<_> = self.windows_of(pid).iter().map(|w| w.id).collect();
                if now.len() == asked.len() && now.iter().all(|id| asked.contains(id)) {
                    self.ask_windows_to_close(pid)?;
                }
                asked.clear();
            }
            match short.sleep(LOOK, "waiting for the program to end") {
                Ok(()) => {}
                Err(PlatformError::Timeout { .. }) => return Ok(false),
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }
}

/// The names by which a program's windows may be known, in lower case.
fn entry_names(entry: &Entry) -> Vec<String> {
    [Some(entry.program()), Some(entry.id.clone()), entry.wm_class.clone()]
        .into_iter()
        .flatten()
        .chain(entry.id.rsplit('.').next().map(str::to_owned))
        .map(|n| n.to_lowercase())
        .collect()
}
