//! `cargo xtask bench desktop`: Deskhand and its peers in the same run, sample by sample in turn, as
//! ratios. The outer run builds and opens a virtual desk; the inner run, on that desk, measures.

mod apps;
mod host;
mod peer;
mod report;
mod rows;
mod stats;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deskhand_config::Home;
use deskhand_desk::{Desk, Options as DeskOptions};

use crate::project::{self, Done};
use report::Line;

/// What a row returns, or why it could not be measured.
type Rows = Result<Vec<Line>, Box<dyn std::error::Error>>;

/// What was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Options {
    inner: bool,
    list: bool,
    json: bool,
    samples: Option<usize>,
    only: Vec<String>,
}

impl Options {
    fn read(words: &[&str]) -> Result<Self, String> {
        let mut options = Self::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
            match *word {
                "--inner" => options.inner = true,
                "--list" => options.list = true,
                "--json" => options.json = true,
                "--samples" => {
                    let text = value()?;
                    let number = text.parse().ok().filter(|n| (1..=100_000).contains(n));
                    options.samples =
                        Some(number.ok_or_else(|| format!("--samples is {text:?}: give 1 to 100000"))?);
                }
                "--only" => options.only = value()?.split(',').map(str::to_owned).collect(),
                _ => return Err(format!("bench desktop: unknown option {word}")),
            }
        }
        let known = |name: &&String| !rows::ALL.iter().any(|row| row.name == **name);
        match options.only.iter().find(known) {
            Some(name) => Err(format!("there is no row {name:?}; `--list` names them")),
            None => Ok(options),
        }
    }
}

/// Where things are, and how many samples to take.
struct Bench {
    /// The workspace.
    root: PathBuf,
    /// The finished programs.
    programs: PathBuf,
    /// A folder for this run, removed after.
    scratch: PathBuf,
    samples: Option<usize>,
    /// A desk of its own; else the one this process was started on.
    desk: Option<Desk>,
}

impl Bench {
    fn program(&self, name: &str) -> PathBuf {
        self.programs.join(name)
    }

    /// A command on the desk.
    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        match &self.desk {
            Some(desk) => desk.command(program),
            None => Command::new(program),
        }
    }

    /// The same on a fresh desk, for what would spoil this one for those who come after.
    fn on_fresh_desk(&self) -> Result<Self, Box<dyn std::error::Error>> {
        let count = std::fs::read_dir(&self.scratch)?.count();
        let scratch = self.scratch.join(format!("d{count}"));
        std::fs::create_dir(&scratch)?;
        let desk = Desk::start(&DeskOptions::default(), &Home::at(scratch.join("home")))?;
        let (root, programs) = (self.root.clone(), self.programs.clone());
        Ok(Self { root, programs, scratch, samples: self.samples, desk: Some(desk) })
    }

    fn samples(&self, usual: usize) -> usize {
        self.samples.unwrap_or(usual)
    }
}

/// Measures, or opens the desk to measure on.
pub(crate) fn run(words: &[&str]) -> Done {
    let options = Options::read(words)?;
    if options.list {
        for row in rows::ALL {
            eprintln!("{:<12} {}", row.name, row.about);
        }
        return Ok(true);
    }
    if options.inner { inner(&options) } else { outer(words) }
}

/// Builds what is measured, and measures on a fresh desk.
fn outer(words: &[&str]) -> Done {
    let root = project::root();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let packages = ["deskhand-cli", "deskhand-host", "deskhand-desk", "xtask"];
    let built = Command::new(cargo)
        .current_dir(&root)
        .args(["build", "--release", "--bins", "--quiet"])
        .args(packages.iter().flat_map(|p| ["-p", p]))
        .stdout(Stdio::null())
        .status()?;
    if !built.success() {
        return Err("the programs do not build".into());
    }
    let metadata = project::metadata(&root)?;
    let programs = Path::new(metadata["target_directory"].as_str().unwrap_or("target")).join("release");
    let done = Command::new(programs.join("deskhand"))
        .current_dir(&root)
        .args(["desk", "exec", "--size", "1920x1080", "--"])
        .arg(programs.join("xtask"))
        .args(["bench", "desktop", "--inner"])
        .args(words)
        .status()?;
    Ok(done.success())
}

/// Measures on the desk it was started on.
fn inner(options: &Options) -> Done {
    let exe = std::env::current_exe()?;
    let programs = exe.parent().ok_or("this program has no folder")?.to_owned();
    let scratch = std::env::temp_dir().join(format!("deskhand-bench-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let bench = Bench { root: project::root(), programs, scratch, samples: options.samples, desk: None };
    let wanted =
        |row: &&rows::Row| options.only.is_empty() || options.only.iter().any(|name| name == row.name);
    let mut lines = Vec::new();
    eprintln!("{}", report::HEADING);
    for row in rows::ALL.iter().filter(wanted) {
        let measured =
            (row.run)(&bench).unwrap_or_else(|error| vec![Line::broken(row.name, &error.to_string())]);
        for line in measured {
            eprintln!("{line}");
            lines.push(line);
        }
    }
    let _ = std::fs::remove_dir_all(&bench.scratch);
    let failed = lines.iter().filter(|line| line.failed()).count();
    eprintln!("bench: {} lines, {failed} below their bar", lines.len());
    if options.json {
        report::print_json(&lines)?;
    }
    Ok(failed == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let read = Options::read(&["--only", "click,idle", "--samples", "5", "--json"]).unwrap();
        let only = vec!["click".to_owned(), "idle".to_owned()];
        assert_eq!(read, Options { only, samples: Some(5), json: true, ..Options::default() });
        for (words, said) in [
            (vec!["--only", "nothing"], "no row \"nothing\""),
            (vec!["--only"], "needs a value"),
            (vec!["--samples", "0"], "1 to 100000"),
            (vec!["--fast"], "unknown option"),
        ] {
            let error = Options::read(&words).unwrap_err();
            assert!(error.contains(said), "{words:?}: {error}");
        }
    }
}
