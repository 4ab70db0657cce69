//! Every crate takes lints, licence and versions from the workspace.

use super::{Finding, Source};
use crate::project::Member;

const RULE: &str = "manifest";

/// Lines every crate's manifest has.
const REQUIRED: &[(&str, &str)] = &[
    ("edition.workspace = true", "the edition comes from the workspace"),
    ("license.workspace = true", "the licence comes from the workspace"),
    ("publish.workspace = true", "whether it is published is the workspace's to say"),
];

/// Crates that write the workspace's lints out, because they loosen one of them.
const OWN_LINTS: &[(&str, &str)] = &[("deskhand-platform-linux", "undocumented_unsafe_blocks = \"deny\"")];

/// What is missing in manifests.
pub(crate) fn check(members: &[Member], sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    for member in members {
        let path = member.dir.join("Cargo.toml");
        let Some(manifest) = sources.iter().find(|s| s.path == path) else { continue };
        let mut fail = |line: usize, what: String| found.push(Finding::fail(RULE, &path, line, what));
        let lines: Vec<&str> = manifest.text.lines().map(str::trim).collect();
        for (line, why) in REQUIRED.iter().filter(|(line, _)| !lines.contains(line)) {
            fail(1, format!("lacks `{line}`: {why}"));
        }
        match OWN_LINTS.iter().find(|(name, _)| *name == member.name) {
            Some((_, line)) if !lines.contains(line) => {
                fail(1, format!("lacks `{line}`: unsafe code says why it is sound"));
            }
            None if !lines.windows(2).any(|pair| pair == ["[lints]", "workspace = true"]) => {
                fail(1, "lacks `[lints]` with `workspace = true`".to_owned());
            }
            _ => {}
        }
        let dir = member.dir.file_name().and_then(|d| d.to_str()).unwrap_or_default();
        if member.dir.starts_with("crates") && member.name != format!("deskhand-{dir}") {
            fail(1, format!("the package in `{dir}` must be called `deskhand-{dir}`"));
        }
        for (number, line) in own_versions(&lines) {
            fail(number, format!("`{line}` has a version of its own; name it in the workspace's table"));
        }
    }
    found
}

/// Dependencies that do not come from the workspace's table.
fn own_versions<'a>(lines: &[&'a str]) -> Vec<(usize, &'a str)> {
    let mut inside = false;
    let mut found = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if line.starts_with('[') {
            inside =
                line.trim_matches(['[', ']']).rsplit('.').next().is_some_and(|t| t.ends_with("dependencies"));
        } else if inside && line.contains('=') && !line.starts_with('#') {
            let packed = line.replace(' ', "");
            // A crate may name itself, to turn a feature of its own on for its tests.
            if !packed.contains("workspace=true") && !packed.contains("path=\".\"") {
                found.push((index + 1, *line));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const GOOD: &str = "[package]\nname = \"x\"\nedition.workspace = true\nlicense.workspace = true\n\
        publish.workspace = true\n\n[lints]\nworkspace = true\n\n[dependencies]\n\
        a.workspace = true\nb = { workspace = true, features = [\"c\"] }\n# d = \"1\"\n\n[features]\ne = [\"f\"]\n";

    fn said(name: &str, dir: &str, manifest: &str) -> String {
        let member = Member { name: name.to_owned(), dir: Path::new(dir).to_owned(), targets: Vec::new() };
        let source = Source::new(Path::new(dir).join("Cargo.toml"), manifest);
        check(&[member], &[source]).iter().map(|f| format!("{f}\n")).collect()
    }

    #[test]
    fn what_is_missing_is_named() {
        assert_eq!(said("deskhand-a", "crates/a", GOOD), "");
        assert_eq!(said("xtask", "xtask", GOOD), "");
        for (without, words) in [
            ("[lints]\nworkspace = true", "lacks `[lints]`"),
            ("license.workspace = true", "lacks `license.workspace = true`"),
            ("publish.workspace = true", "lacks `publish.workspace = true`"),
        ] {
            let text = said("deskhand-a", "crates/a", &GOOD.replace(without, ""));
            assert!(text.contains(words), "{without}: {text}");
        }
        assert!(said("a", "crates/a", GOOD).contains("must be called `deskhand-a`"));
        assert!(
            said("deskhand-platform-linux", "crates/platform-linux", GOOD)
                .contains("undocumented_unsafe_blocks")
        );
    }

    #[test]
    fn versions_of_their_own_are_found() {
        let text = "[dependencies]\na = \"1\"\nb.workspace = true\n[dev-dependencies]\nc = { version = \"2\" }\n\
            [target.'cfg(unix)'.dependencies]\nd = \"3\"\nf = { path = \".\" }\n[features]\ne = []\n";
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(own_versions(&lines).iter().map(|(n, _)| *n).collect::<Vec<_>>(), [2, 5, 7]);
    }
}
