//! The workspace as cargo and the disk show it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// What a chore returns: whether all is well, or why it could not be done at all.
pub(crate) type Done = Result<bool, Box<dyn std::error::Error>>;

/// The folder of the workspace; `XTASK_ROOT` names another copy of it.
pub(crate) fn root() -> PathBuf {
    if let Some(root) = std::env::var_os("XTASK_ROOT") {
        return PathBuf::from(root);
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}

/// `cargo metadata` with every feature on, so that nothing hides behind one.
pub(crate) fn metadata(root: &Path) -> Result<Value, Box<dyn std::error::Error>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root).args(["metadata", "--format-version", "1", "--all-features", "--locked"]);
    let out = command.output()?;
    if !out.status.success() {
        return Err(format!("cargo metadata failed:\n{}", String::from_utf8_lossy(&out.stderr)).into());
    }
    Ok(serde_json::from_slice(&out.stdout)?)
}

/// One target of a crate: a library, program, test, example.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    /// `lib`, `bin`, `test`, `example`, `bench`, `custom-build`.
    pub kind: String,
    /// Its root file, relative to the workspace.
    pub root: PathBuf,
    /// Whether `cargo test` runs its tests.
    pub tested: bool,
}

/// One member of the workspace.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The package's name.
    pub name: String,
    /// Its folder, relative to the workspace.
    pub dir: PathBuf,
    /// Its targets.
    pub targets: Vec<Target>,
}

/// The dependency graph: package id → name and edges that end up in the finished program.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    /// Name of every package, by id.
    pub names: BTreeMap<String, String>,
    /// Ids it depends on. Tests are left out, and so is what only a web page would link.
    pub edges: BTreeMap<String, Vec<String>>,
    /// Ids of the workspace's own packages.
    pub members: Vec<String>,
}

/// Reads the graph out of `cargo metadata`.
pub(crate) fn graph(metadata: &Value) -> Graph {
    let mut graph = Graph::default();
    for package in items(&metadata["packages"]) {
        graph.names.insert(text(&package["id"]), text(&package["name"]));
    }
    graph.members = items(&metadata["workspace_members"]).map(text).collect();
    for node in items(&metadata["resolve"]["nodes"]) {
        let linked = |dep: &&Value| {
            let counts = |k: &Value| {
                let elsewhere = k["target"].as_str().is_some_and(|t| t.contains("wasm"));
                k["kind"].as_str() != Some("dev") && !elsewhere
            };
            let mut kinds = items(&dep["dep_kinds"]).peekable();
            kinds.peek().is_none() || kinds.any(counts)
        };
        let to = items(&node["deps"]).filter(linked).map(|dep| text(&dep["pkg"])).collect();
        graph.edges.insert(text(&node["id"]), to);
    }
    graph
}

/// Reads the members out of `cargo metadata`.
pub(crate) fn members(metadata: &Value) -> Vec<Member> {
    let root = PathBuf::from(text(&metadata["workspace_root"]));
    let inside = |path: &Value| {
        let path = PathBuf::from(text(path));
        path.strip_prefix(&root).map(Path::to_owned).unwrap_or(path)
    };
    let ids: Vec<String> = items(&metadata["workspace_members"]).map(text).collect();
    let mut found: Vec<Member> = items(&metadata["packages"])
        .filter(|package| ids.contains(&text(&package["id"])))
        .map(|package| Member {
            name: text(&package["name"]),
            dir: inside(&package["manifest_path"]).parent().map(Path::to_owned).unwrap_or_default(),
            targets: items(&package["targets"])
                .map(|target| Target {
                    kind: items(&target["kind"]).next().map(text).unwrap_or_default(),
                    root: inside(&target["src_path"]),
                    tested: target["test"].as_bool().unwrap_or(true),
                })
                .collect(),
        })
        .collect();
    found.sort_by(|a, b| a.name.cmp(&b.name));
    found
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Folders that hold nothing written by hand.
const SKIPPED: &[&str] = &["target", ".git", "artifacts", "node_modules"];

/// Every file under `root` that people wrote, relative to it, sorted.
pub(crate) fn files(root: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut waiting = vec![root.to_owned()];
    while let Some(dir) = waiting.pop() {
        for entry in std::fs::read_dir(&dir)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let skipped = SKIPPED.iter().any(|s| entry.file_name().to_str() == Some(s));
            if kind.is_dir() && !skipped {
                waiting.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path().strip_prefix(root).unwrap_or(&entry.path()).to_owned());
            }
        }
    }
    found.sort();
    Ok(found)
}
