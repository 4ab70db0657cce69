//! Tests that nobody runs: files outside every module tree, ignored tests, targets with tests off.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{Finding, Source};
use crate::project::Member;

const RULE: &str = "forgotten";

/// Folders of a crate whose Rust files must belong to a target.
const FOLDERS: &[&str] = &["src", "tests", "examples", "benches"];

/// How many lines above `#[ignore]` may say who runs it.
const REASON_WITHIN: usize = 3;

/// Orphans, ignored tests, targets and crates without running tests.
pub(crate) fn check(members: &[Member], sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    for member in members {
        let reached = reached(member, sources);
        let ours: Vec<&Source> =
            sources.iter().filter(|s| s.code.is_some() && s.path.starts_with(&member.dir)).collect();
        for source in &ours {
            let counted = FOLDERS.iter().any(|f| source.path.starts_with(member.dir.join(f)));
            if counted && !reached.contains(&source.path) {
                let what = "no `mod` reaches this file: it is not compiled and its tests do not run";
                found.push(Finding::fail(RULE, &source.path, 1, what));
            }
        }
        for target in
            member.targets.iter().filter(|t| !t.tested && t.kind != "custom-build" && t.kind != "example")
        {
            if sources.iter().any(|s| s.path == target.root && tests_in(s) > 0) {
                found.push(Finding::fail(
                    RULE,
                    &target.root,
                    1,
                    "has tests, but its target says `test = false`",
                ));
            }
        }
        if ours.iter().map(|s| tests_in(s)).sum::<usize>() == 0 {
            let what = format!("{} has no test at all", member.name);
            found.push(Finding::fail(RULE, &member.dir.join("Cargo.toml"), 1, what));
        }
    }
    found.extend(sources.iter().filter(|s| s.code.is_some()).flat_map(skipped));
    found.extend(features(sources));
    found
}

/// `#[test]` functions, `proptest!` blocks included: those carry the attribute too.
fn tests_in(source: &Source) -> usize {
    source.code.as_ref().map_or(0, |code| code.text().matches("#[test]").count())
}

/// Tests that are commented out, or ignored without a word on how `make test` runs them.
fn skipped(source: &Source) -> Vec<Finding> {
    let lines: Vec<&str> = source.text.lines().collect();
    let code: Vec<&str> = source.code.iter().flat_map(|c| c.text().lines()).collect();
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if line.trim_start().trim_start_matches('/').trim_start().starts_with("#[test]")
            && line.trim_start().starts_with("//")
        {
            found.push(Finding::fail(RULE, &source.path, index + 1, "a test that is commented out"));
        }
        let ignored = code.get(index).is_some_and(|c| c.contains("#[ignore"));
        let told = lines[index.saturating_sub(REASON_WITHIN)..=index].iter().any(|l| l.contains("make test"));
        if ignored && !told {
            let what = "an ignored test must say in a comment how `make test` runs it";
            found.push(Finding::fail(RULE, &source.path, index + 1, what));
        }
    }
    found
}

/// Tests behind a feature run only if `make test` turns all features on.
fn features(sources: &[Source]) -> Option<Finding> {
    let gated = sources.iter().find(|s| s.path.ends_with("Cargo.toml") && s.text.contains("\n[features]"))?;
    let steps = sources.iter().find(|s| s.path == Path::new("scripts/test"))?;
    let on = steps.text.contains("--all-features");
    let what = format!("{} has features, so `make test` needs --all-features", gated.path.display());
    (!on).then(|| Finding::fail(RULE, &steps.path, 1, what))
}

/// Every file the targets of a crate compile.
fn reached(member: &Member, sources: &[Source]) -> BTreeSet<PathBuf> {
    let mut reached = BTreeSet::new();
    let mut waiting: Vec<(PathBuf, bool)> = member.targets.iter().map(|t| (t.root.clone(), true)).collect();
    while let Some((path, is_root)) = waiting.pop() {
        if !reached.insert(path.clone()) {
            continue;
        }
        let Some(source) = sources.iter().find(|s| s.path == path) else { continue };
        for file in modules(source, is_root) {
            if sources.iter().any(|s| s.path == file) {
                waiting.push((file, false));
            }
        }
    }
    reached
}

/// Files the `mod name;`, `#[path]` and `include!` lines of a file may mean.
fn modules(source: &Source, is_root: bool) -> Vec<PathBuf> {
    let Some(code) = &source.code else { return Vec::new() };
    let folder = source.path.parent().unwrap_or(Path::new("")).to_owned();
    let stem = source.path.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
    let base = if is_root || stem == "mod" { folder.clone() } else { folder.join(stem) };
    let mut files = Vec::new();
    // Inline modules that are open here, with the depth of braces they were opened at.
    let mut open: Vec<(String, usize)> = Vec::new();
    let mut depth = 0;
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for c in code.text().chars() {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        if !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        let named = match words.as_slice() {
            [.., keyword, name] if keyword == "mod" => Some(name.clone()),
            _ => None,
        };
        match c {
            ';' => {
                if let Some(name) = named {
                    let inside = open.iter().fold(base.clone(), |path, (part, _)| path.join(part));
                    files.push(inside.join(format!("{name}.rs")));
                    files.push(inside.join(name).join("mod.rs"));
                }
                words.clear();
            }
            '{' => {
                open.extend(named.map(|name| (name, depth)));
                depth += 1;
                words.clear();
            }
            '}' => {
                depth = depth.saturating_sub(1);
                open.retain(|(_, at)| *at < depth);
                words.clear();
            }
            _ => {}
        }
    }
    // Strings are blank in the code, so paths are read from the text.
    for line in source.text.lines() {
        for mark in ["#[path = \"", "include!(\""] {
            if let Some(name) = line.split(mark).nth(1).and_then(|rest| rest.split('"').next()) {
                files.push(tidied(&folder.join(name)));
            }
        }
    }
    files
}

/// `a/../b` → `b`.
fn tidied(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => {
                out.pop();
            }
            std::path::Component::CurDir => {}
            part => out.push(part),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Target;

    fn said(targets: &[(&str, &str, bool)], files: &[(&str, &str)]) -> Vec<String> {
        let targets = targets
            .iter()
            .map(|(kind, root, tested)| Target {
                kind: (*kind).into(),
                root: (*root).into(),
                tested: *tested,
            })
            .collect();
        let member = Member { name: "deskhand-a".into(), dir: "crates/a".into(), targets };
        let sources: Vec<Source> = files.iter().map(|(path, text)| Source::new(*path, *text)).collect();
        check(&[member], &sources).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn files_no_module_reaches_are_found() {
        let lib = [("lib", "crates/a/src/lib.rs", true)];
        let orphan = "no `mod` reaches";
        for (root, file, expected) in [
            ("mod b;\n#[test]\nfn t() {}", "crates/a/src/b.rs", None),
            ("mod b;\n#[test]\nfn t() {}", "crates/a/src/b/mod.rs", None),
            ("mod c;\n#[test]\nfn t() {}", "crates/a/src/b.rs", Some(orphan)),
            ("// mod b;\n#[test]\nfn t() {}", "crates/a/src/b.rs", Some(orphan)),
            ("mod x { mod b; }\n#[test]\nfn t() {}", "crates/a/src/x/b.rs", None),
            ("mod x { fn f() {} }\nmod b;\n#[test]\nfn t() {}", "crates/a/src/b.rs", None),
            ("#[cfg(test)]\n#[path = \"b.rs\"]\nmod x;\n#[test]\nfn t() {}", "crates/a/src/b.rs", None),
            ("#[test]\nfn t() {}", "crates/a/tests/b.rs", Some(orphan)),
            ("#[test]\nfn t() {}", "crates/a/build/b.rs", None),
        ] {
            let found = said(&lib, &[("crates/a/src/lib.rs", root), (file, "")]);
            match expected {
                None => assert!(found.is_empty(), "{root:?} {file}: {found:?}"),
                Some(words) => {
                    assert!(found.len() == 1 && found[0].contains(words), "{root:?} {file}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn modules_are_followed_down() {
        let lib = [("lib", "crates/a/src/lib.rs", true)];
        let files = [
            ("crates/a/src/lib.rs", "mod b;"),
            ("crates/a/src/b.rs", "mod c;"),
            ("crates/a/src/b/c.rs", "#[test]\nfn t() {}"),
            ("crates/a/src/b/d.rs", ""),
        ];
        let found = said(&lib, &files);
        assert!(found.len() == 1 && found[0].starts_with("crates/a/src/b/d.rs"), "{found:?}");
    }

    #[test]
    fn tests_that_do_not_run_are_found() {
        let path = "crates/a/src/lib.rs";
        for (text, tested, words) in [
            ("#[test]\nfn t() {}", true, ""),
            ("fn t() {}", true, "has no test at all"),
            ("#[test]\nfn t() {}", false, "`test = false`"),
            ("#[test]\nfn t() {}\n// #[test]\n// fn u() {}", true, "commented out"),
            ("#[test]\n#[ignore = \"slow\"]\nfn t() {}", true, "an ignored test"),
            (
                "// make test runs it with --include-ignored\n#[test]\n#[ignore = \"slow\"]\nfn t() {}",
                true,
                "",
            ),
        ] {
            let found = said(&[("lib", path, tested)], &[(path, text)]);
            match words {
                "" => assert!(found.is_empty(), "{text:?}: {found:?}"),
                words => assert!(found.iter().any(|f| f.contains(words)), "{text:?}: {found:?}"),
            }
        }
    }

    #[test]
    fn features_are_turned_on() {
        let manifest = Source::new("crates/a/Cargo.toml", "[package]\n\n[features]\nlive = []\n");
        let with = |line: &str| {
            features(&[
                Source::new("scripts/test", line),
                Source::new("crates/a/Cargo.toml", manifest.text.clone()),
            ])
        };
        assert!(with("cargo test --all-features").is_none());
        assert!(with("cargo test").is_some());
    }
}
