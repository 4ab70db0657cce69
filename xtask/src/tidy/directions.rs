//! The "must never contain" column of the design, as a table: who may not be linked into whom,
//! directly or through others. Tests are free.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;

use super::table::TABLE;
use super::{Finding, Source};
use crate::project::{Graph, Member};

const RULE: &str = "direction";

/// The only crates with `unsafe` code.
const MAY_BE_UNSAFE: &[&str] =
    &["deskhand-platform-linux", "deskhand-platform-macos", "deskhand-platform-windows"];

/// Forbidden ways through the graph, test helpers in programs, `unsafe` outside its place.
pub(crate) fn check(graph: &Graph, members: &[Member], sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    for id in &graph.members {
        let Some(name) = graph.names.get(id) else { continue };
        let ways = ways(graph, id);
        for row in TABLE.iter().filter(|row| name.strip_prefix("deskhand-") == Some(row.part)) {
            let banned = |name: &str| row.never.iter().flat_map(|list| list.iter()).any(|p| fits(p, name));
            found.extend(shortest(&ways, banned).map(|way| finding(members, sources, &way, row.why)));
        }
        if name != "deskhand-testkit" {
            let testkit = |name: &str| name == "deskhand-testkit";
            let why = "the test kit belongs to tests only";
            found.extend(shortest(&ways, testkit).map(|way| finding(members, sources, &way, why)));
        }
    }
    found.extend(unsafe_code(members, sources));
    found
}

fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

/// The shortest way from `start` to every package it links, by name.
fn ways(graph: &Graph, start: &str) -> Vec<Vec<String>> {
    let name = |id: &str| graph.names.get(id).cloned().unwrap_or_else(|| id.to_owned());
    let mut from: BTreeMap<&str, &str> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    let mut order = Vec::new();
    while let Some(id) = waiting.pop_front() {
        for next in graph.edges.get(id).into_iter().flatten() {
            if next != start && !from.contains_key(next.as_str()) {
                from.insert(next, id);
                order.push(next.as_str());
                waiting.push_back(next);
            }
        }
    }
    let way = |end: &str| {
        let mut way = vec![name(end)];
        let mut at = end;
        while let Some(before) = from.get(at) {
            way.push(name(before));
            at = before;
        }
        way.reverse();
        way
    };
    order.into_iter().map(way).collect()
}

/// Ways that end in something banned and pass nothing banned before: the cause, not its consequences.
fn shortest(ways: &[Vec<String>], banned: impl Fn(&str) -> bool) -> impl Iterator<Item = Vec<String>> {
    let bad = |way: &&Vec<String>| {
        let inner = way.len().saturating_sub(1);
        way.last().is_some_and(|end| banned(end)) && !way[1..inner].iter().any(|name| banned(name))
    };
    ways.iter().filter(bad).cloned().collect::<Vec<_>>().into_iter()
}

/// Points at the line of the manifest where the forbidden way begins.
fn finding(members: &[Member], sources: &[Source], way: &[String], why: &str) -> Finding {
    let (part, first) = (way[0].as_str(), way.get(1).map_or("", String::as_str));
    let dir = members.iter().find(|m| m.name == part).map(|m| m.dir.clone()).unwrap_or_default();
    let manifest = dir.join("Cargo.toml");
    let line = sources.iter().find(|s| s.path == manifest).and_then(|s| {
        s.text
            .lines()
            .position(|line| line.strip_prefix(first).is_some_and(|rest| rest.starts_with(['.', ' ', '='])))
    });
    Finding::fail(
        RULE,
        &manifest,
        line.map_or(1, |n| n + 1),
        format!("{}: {part} must not: {why}", way.join(" → ")),
    )
}

/// The word `unsafe` in code, outside the crates that may use it.
fn unsafe_code(members: &[Member], sources: &[Source]) -> Vec<Finding> {
    let allowed: Vec<PathBuf> =
        members.iter().filter(|m| MAY_BE_UNSAFE.contains(&m.name.as_str())).map(|m| m.dir.clone()).collect();
    let mut found = Vec::new();
    for source in sources.iter().filter(|s| !allowed.iter().any(|dir| s.path.starts_with(dir))) {
        for (number, line, _) in source.code.iter().flat_map(super::rust::Code::lines) {
            if has_word(line, "unsafe") {
                found.push(Finding::fail(
                    "unsafe",
                    &source.path,
                    number,
                    "only the platform-<system> crates may be unsafe",
                ));
            }
        }
    }
    found
}

fn has_word(line: &str, word: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word)
}

#[cfg(test)]
fn member(name: &str, dir: &str) -> Member {
    Member { name: name.to_owned(), dir: dir.into(), targets: Vec::new() }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::project;

    /// What `cargo metadata` says of a workspace with these edges; `kind` is null for a normal one.
    fn doctored(edges: &[(&str, &str, Value)]) -> Value {
        let mut names: Vec<&str> = edges.iter().flat_map(|(a, b, _)| [*a, *b]).collect();
        names.sort_unstable();
        names.dedup();
        let ours: Vec<&&str> = names.iter().filter(|n| n.starts_with("deskhand-")).collect();
        let package = |n: &&str| json!({"id": n, "name": n, "manifest_path": format!("/w/crates/{n}/Cargo.toml"), "targets": []});
        let node = |n: &&str| {
            let deps: Vec<Value> = edges
                .iter()
                .filter(|(from, _, _)| from == n)
                .map(|(_, to, kind)| json!({"pkg": to, "dep_kinds": [{"kind": kind, "target": null}]}))
                .collect();
            json!({"id": n, "deps": deps})
        };
        json!({
            "packages": names.iter().map(package).collect::<Vec<_>>(),
            "workspace_members": ours,
            "workspace_root": "/w",
            "resolve": {"nodes": names.iter().map(node).collect::<Vec<_>>()},
        })
    }

    fn found(edges: &[(&str, &str, Value)]) -> Vec<String> {
        let metadata = doctored(edges);
        check(&project::graph(&metadata), &project::members(&metadata), &[])
            .iter()
            .map(ToString::to_string)
            .collect()
    }

    #[test]
    fn a_forbidden_dependency_fails_however_it_comes() {
        let plain = Value::Null;
        for (edges, said) in [
            (vec![("deskhand-cli", "deskhand-bridge", plain.clone())], None),
            (vec![("deskhand-cli", "deskhand-host", plain.clone())], Some("deskhand-cli → deskhand-host: ")),
            (
                vec![
                    ("deskhand-cli", "deskhand-desk", plain.clone()),
                    ("deskhand-desk", "deskhand-host", plain.clone()),
                ],
                Some("deskhand-cli → deskhand-desk → deskhand-host: "),
            ),
            (vec![("deskhand-cli", "deskhand-host", json!("dev"))], None),
            (vec![("deskhand-cli", "deskhand-host", json!("build"))], Some("deskhand-cli → deskhand-host: ")),
            (
                vec![("deskhand-host", "x", plain.clone()), ("x", "hyper-util", plain.clone())],
                Some("deskhand-host → x → hyper-util: "),
            ),
            (vec![("deskhand-platform", "rustix", plain.clone())], Some("deskhand-platform → rustix: ")),
            (
                vec![("deskhand-protocol", "deskhand-config", plain.clone())],
                Some("deskhand-protocol → deskhand-config: "),
            ),
            (vec![("deskhand-bridge", "rustix", plain.clone())], None),
            (vec![("deskhand-tools", "deskhand-platform", plain.clone())], None),
            (
                vec![("deskhand-tools", "deskhand-platform-linux", plain.clone())],
                Some("deskhand-tools → deskhand-platform-linux: "),
            ),
            (vec![("deskhand-hook", "serde", plain.clone())], Some("deskhand-hook → serde: ")),
            (vec![("deskhand-tools", "deskhand-testkit", json!("dev"))], None),
            (
                vec![("deskhand-tools", "deskhand-testkit", plain)],
                Some("deskhand-tools → deskhand-testkit: "),
            ),
        ] {
            let found = found(&edges);
            match said {
                None => assert_eq!(found, Vec::<String>::new(), "{edges:?}"),
                Some(said) => assert!(found.iter().any(|f| f.contains(said)), "{edges:?}: {found:?}"),
            }
        }
    }

    #[test]
    fn the_cause_is_named_once() {
        let plain = Value::Null;
        let edges = [
            ("deskhand-vision", "deskhand-platform", plain.clone()),
            ("deskhand-platform", "x11rb", plain.clone()),
            ("x11rb", "rustix", plain),
        ];
        let about_vision: Vec<String> =
            found(&edges).into_iter().filter(|f| f.contains("deskhand-vision →")).collect();
        assert_eq!(about_vision.len(), 1, "{about_vision:?}");
    }

    #[test]
    fn the_manifest_line_is_named() {
        let metadata = doctored(&[("deskhand-cli", "deskhand-host", Value::Null)]);
        let manifest = "[dependencies]\ndeskhand-hostess.workspace = true\ndeskhand-host.workspace = true\n";
        let sources = [Source::new("crates/deskhand-cli/Cargo.toml", manifest)];
        let found = check(&project::graph(&metadata), &project::members(&metadata), &sources);
        assert_eq!((found.len(), found[0].line), (1, 3), "{found:?}");
    }

    #[test]
    fn unsafe_is_found_in_code_only() {
        let members = [
            member("deskhand-platform-linux", "crates/platform-linux"),
            member("deskhand-host", "crates/host"),
        ];
        for (path, text, lines) in [
            ("crates/host/src/a.rs", "// unsafe\nlet unsafely = \"unsafe\";\n", vec![]),
            ("crates/host/src/a.rs", "fn a() {\n unsafe { b() }\n}", vec![2]),
            ("crates/platform-linux/src/a.rs", "unsafe { b() }", vec![]),
            ("crates/host/notes.md", "unsafe", vec![]),
        ] {
            let found = unsafe_code(&members, &[Source::new(path, text)]);
            assert_eq!(found.iter().map(|f| f.line).collect::<Vec<_>>(), lines, "{path} {text:?}");
        }
    }

    #[test]
    fn every_part_of_the_workspace_has_a_row() {
        let free = ["testkit", "e2e"];
        let crates = project::root().join("crates");
        for dir in std::fs::read_dir(crates).unwrap() {
            let name = dir.unwrap().file_name().into_string().unwrap();
            let rows = TABLE.iter().filter(|row| row.part == name).count();
            assert_eq!(rows, usize::from(!free.contains(&name.as_str())), "{name}");
        }
    }
}
