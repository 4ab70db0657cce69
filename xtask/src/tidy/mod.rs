//! `cargo xtask tidy`: what the documents say must stay true, checked.
//!
//! Each rule is a table in a file of its own and gives [`Finding`]s with file and line.

mod directions;
mod forgotten;
mod manifests;
mod rust;
mod sizes;
mod table;
mod words;

use std::path::{Path, PathBuf};

use crate::project::{self, Done};

/// Whether a finding fails the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Said, and no more.
    Warn,
    /// Fails the run.
    Fail,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    rule: &'static str,
    weight: Weight,
    file: PathBuf,
    line: usize,
    what: String,
}

impl Finding {
    fn fail(rule: &'static str, file: &Path, line: usize, what: impl Into<String>) -> Self {
        Self { rule, weight: Weight::Fail, file: file.to_owned(), line, what: what.into() }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { rule, weight, file, line, what } = self;
        let weight = if *weight == Weight::Fail { "error" } else { "warning" };
        write!(f, "{}:{line}: {weight}[{rule}] {what}", file.display())
    }
}

/// A file with its text; `code` is the text of a Rust file without comments and strings.
pub(crate) struct Source {
    path: PathBuf,
    text: String,
    code: Option<rust::Code>,
}

impl Source {
    fn new(path: impl Into<PathBuf>, text: impl Into<String>) -> Self {
        let (path, text) = (path.into(), text.into());
        let code = path.extension().is_some_and(|e| e == "rs").then(|| rust::Code::read(&text));
        Self { path, text, code }
    }
}

/// Checks the workspace and prints what was found.
pub(crate) fn run() -> Done {
    let root = project::root();
    let metadata = project::metadata(&root)?;
    let members = project::members(&metadata);
    let sources = read(&root)?;
    let mut found = directions::check(&project::graph(&metadata), &members, &sources);
    found.extend(manifests::check(&members, &sources));
    found.extend(sizes::check(&sources));
    found.extend(words::check(&sources));
    found.extend(forgotten::check(&members, &sources));
    for finding in &found {
        eprintln!("{finding}");
    }
    let failed = found.iter().filter(|f| f.weight == Weight::Fail).count();
    eprintln!(
        "tidy: {} files, {} crates, {failed} errors, {} warnings",
        sources.len(),
        members.len(),
        found.len() - failed
    );
    Ok(failed == 0)
}

/// Every text file of the workspace; what is not UTF-8 (pictures) is left out.
fn read(root: &Path) -> std::io::Result<Vec<Source>> {
    let mut sources = Vec::new();
    for path in project::files(root)? {
        if let Ok(text) = String::from_utf8(std::fs::read(root.join(&path))?) {
            sources.push(Source::new(path, text));
        }
    }
    Ok(sources)
}
