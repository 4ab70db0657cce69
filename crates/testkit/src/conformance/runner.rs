//! Runs cases one after another and tells what came of each.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use super::{Case, Stage};

/// A case that takes longer hangs; its name is told and the process ends, since a blocked call
/// cannot be taken back.
const HANG: Duration = Duration::from_secs(120);

/// What came of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Came {
    /// The promise holds.
    Passed,
    /// It does not, and why.
    Failed(String),
    /// It was not tried, and why.
    Skipped(String),
}

/// What came of all.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Each case with what came of it.
    pub cases: Vec<(String, Came)>,
}

impl Report {
    /// Number of cases that passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.cases.iter().filter(|(_, c)| *c == Came::Passed).count()
    }

    /// Those that failed, with why.
    #[must_use]
    pub fn failures(&self) -> Vec<(&str, &str)> {
        let failed = self.cases.iter().filter_map(|(name, came)| match came {
            Came::Failed(why) => Some((name.as_str(), why.as_str())),
            _ => None,
        });
        failed.collect()
    }

    /// Those that were skipped, with why.
    #[must_use]
    pub fn skips(&self) -> Vec<(&str, &str)> {
        let skipped = self.cases.iter().filter_map(|(name, came)| match came {
            Came::Skipped(why) => Some((name.as_str(), why.as_str())),
            _ => None,
        });
        skipped.collect()
    }
}

/// Runs the cases whose name contains `filter` and prints a line for each to standard error.
pub fn run(stage: &dyn Stage, cases: &[Case], filter: &str) -> Report {
    let mut report = Report::default();
    for case in cases.iter().filter(|c| c.name.contains(filter)) {
        let started = Instant::now();
        let lack = case.needs.iter().find_map(|need| Some((need, stage.lacks(*need)?)));
        let came = match lack {
            Some((need, why)) if why.trim().is_empty() => {
                Came::Failed(format!("skipped for {need:?} without a reason"))
            }
            Some((need, why)) => Came::Skipped(format!("{need:?}: {why}")),
            None => watched(stage, case),
        };
        let ms = started.elapsed().as_millis();
        match &came {
            Came::Passed => eprintln!("{}: pass {} ({ms} ms)", stage.name(), case.name),
            Came::Failed(why) => eprintln!("{}: FAIL {} ({ms} ms): {why}", stage.name(), case.name),
            Came::Skipped(why) => eprintln!("{}: skip {}: {why}", stage.name(), case.name),
        }
        report.cases.push((case.name.to_owned(), came));
    }
    let (failed, skipped) = (report.failures().len(), report.skips().len());
    eprintln!("{}: {} passed, {failed} failed, {skipped} skipped", stage.name(), report.passed());
    report
}

/// One case, with a watch on its time.
fn watched(stage: &dyn Stage, case: &Case) -> Came {
    let (done, watch) = channel::<()>();
    let name = case.name;
    std::thread::spawn(move || {
        if watch.recv_timeout(HANG) == Err(RecvTimeoutError::Timeout) {
            eprintln!("FAIL {name}: it hangs (more than {} s)", HANG.as_secs());
            std::process::exit(101);
        }
    });
    let came = attempt(stage, case);
    drop(done);
    came
}

fn attempt(stage: &dyn Stage, case: &Case) -> Came {
    let result = catch_unwind(AssertUnwindSafe(|| (case.run)(stage)));
    // Whatever the case was about: nothing may be left down, for the next one's sake too.
    let left = stage.desktop().input.release_all();
    match (result, left) {
        (Ok(Ok(())), Ok(left)) if left.is_empty() => Came::Passed,
        (Ok(Ok(())), Ok(left)) => Came::Failed(format!("left held down: {left:?}")),
        (Ok(Ok(())), Err(e)) => Came::Failed(format!("release_all: {e}")),
        (Ok(Err(why)), _) => Came::Failed(why),
        (Err(panic), _) => {
            let said = panic
                .downcast_ref::<String>()
                .map(String::as_str)
                .or_else(|| panic.downcast_ref::<&str>().copied());
            Came::Failed(format!("panicked: {}", said.unwrap_or("?")))
        }
    }
}
