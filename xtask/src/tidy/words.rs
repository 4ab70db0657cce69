//! Words that must not stay in the tree: unfinished work, a developer's own machine, synonyms of the
//! words we settled on.

use super::{Finding, Source};

const RULE: &str = "word";

/// This file names what it forbids.
const OWN: &str = "xtask/src/tidy/words.rs";

/// Where a word is looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Code of Rust files, tests included.
    Code,
    /// Code of libraries, tests excluded.
    Library,
    /// Every text, comments and strings included.
    Anywhere,
}

struct Word {
    text: &'static str,
    place: Place,
    why: &'static str,
}

const fn word(text: &'static str, place: Place, why: &'static str) -> Word {
    Word { text, place, why }
}

const UNFINISHED: &str = "finish it, or leave it out and say so in the documents";
const MACHINE: &str = "a path of one developer's machine";
const REGISTRY: &str = "where packages come from is the machine's setting, not the project's";

/// Looked for without regard to case.
const TABLE: &[Word] = &[
    word("todo!(", Place::Code, UNFINISHED),
    word("unimplemented!(", Place::Code, UNFINISHED),
    word("dbg!(", Place::Code, "left over from a hunt for a bug"),
    word("println!(", Place::Library, "libraries do not write to stdout; `--json` owns it"),
    word("print!(", Place::Library, "libraries do not write to stdout; `--json` owns it"),
    word("not implemented", Place::Anywhere, UNFINISHED),
    word("not yet implemented", Place::Anywhere, UNFINISHED),
    word("fixme", Place::Anywhere, UNFINISHED),
    word("/root/", Place::Anywhere, MACHINE),
    word("/work/", Place::Anywhere, MACHINE),
    word("index-url", Place::Anywhere, REGISTRY),
    word("trusted-host", Place::Anywhere, REGISTRY),
    word("sparse+http", Place::Anywhere, REGISTRY),
    word("replace-with", Place::Anywhere, REGISTRY),
    word("_authtoken", Place::Anywhere, REGISTRY),
    word("artifactory", Place::Anywhere, REGISTRY),
    word("verdaccio", Place::Anywhere, REGISTRY),
    word("whitelist", Place::Anywhere, "our word is allowlist"),
    word("blacklist", Place::Anywhere, "our word is blocklist"),
];

/// Names under `/home/` that stand for anybody.
const ANYBODY: &[&str] = &["user", "you", "me", "name", "alice", "bob", "somebody"];

/// Modules and crates that say nothing.
const EMPTY_NAMES: &[&str] = &["core", "common", "util", "utils", "helper", "helpers", "misc"];

/// Forbidden words, with file and line.
pub(crate) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in sources.iter().filter(|s| s.path.as_os_str() != OWN) {
        for (index, line) in source.text.lines().enumerate() {
            let lower = line.to_lowercase();
            let hit = TABLE.iter().filter(|w| w.place == Place::Anywhere && has(&lower, w.text));
            found.extend(hit.map(|w| said(source, index + 1, w)));
            if let Some(name) = home_of(line) {
                found.push(Finding::fail(
                    RULE,
                    &source.path,
                    index + 1,
                    format!("`/home/{name}/`: {MACHINE}"),
                ));
            }
        }
        for (number, line, test) in source.code.iter().flat_map(super::rust::Code::lines) {
            let quiet = test || speaks(source);
            let hit = TABLE.iter().filter(|w| match w.place {
                Place::Code => has(line, w.text),
                Place::Library => !quiet && has(line, w.text),
                Place::Anywhere => false,
            });
            found.extend(hit.map(|w| said(source, number, w)));
        }
        found.extend(empty_name(source));
    }
    found
}

fn said(source: &Source, line: usize, word: &Word) -> Finding {
    Finding::fail(RULE, &source.path, line, format!("`{}`: {}", word.text, word.why))
}

/// Whether the word stands by itself: `my_dbg!(` is not `dbg!(`, `https://a.b/work/` is not `/work/`.
fn has(line: &str, word: &str) -> bool {
    let path = word.starts_with('/');
    let inside = |c: char| c.is_alphanumeric() || c == '_' || (path && matches!(c, '.' | '}' | '~' | '-'));
    line.match_indices(word).any(|(at, _)| !line[..at].ends_with(inside))
}

/// A real person's name in a path under `/home/`.
fn home_of(line: &str) -> Option<&str> {
    line.split("/home/").skip(1).find_map(|rest| {
        let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))?;
        let name = &rest[..end];
        (end > 0 && rest[end..].starts_with('/') && !ANYBODY.contains(&name)).then_some(name)
    })
}

/// Programs and tests may write to stdout; libraries may not.
fn speaks(source: &Source) -> bool {
    let path = &source.path;
    let part = |name: &str| path.components().any(|c| c.as_os_str() == name);
    path.starts_with("crates/cli")
        || path.starts_with("xtask")
        || path.file_name().is_some_and(|f| f == "main.rs" || f == "build.rs")
        || ["bin", "tests", "examples", "benches"].iter().any(|p| part(p))
}

/// `src/utils.rs`, `src/common/`: a name that says what is inside is wanted. Tests may have `common`.
fn empty_name(source: &Source) -> Option<Finding> {
    source.code.as_ref()?;
    let mut parts = source.path.iter().filter_map(|p| p.to_str()).skip_while(|p| *p != "src");
    let named = parts.find(|p| EMPTY_NAMES.contains(&p.trim_end_matches(".rs")))?;
    Some(Finding::fail(RULE, &source.path, 1, format!("`{named}` says nothing: name it after what it does")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_words_are_found_where_they_count() {
        for (path, text, expected) in [
            ("crates/a/src/b.rs", "fn a() { todo!() }", 1),
            ("crates/a/src/b.rs", "// todo!() is a macro", 0),
            ("crates/a/src/b.rs", "\"todo!(\"", 0),
            ("crates/a/src/b.rs", "unimplemented!(\"x\")", 1),
            ("crates/a/src/b.rs", "dbg!(x); my_dbg!(x)", 1),
            ("crates/a/src/b.rs", "// FIXME later", 1),
            ("README.md", "This is Not Implemented", 1),
            ("crates/a/src/b.rs", "println!(\"x\")", 1),
            ("crates/a/src/b.rs", "eprintln!(\"x\")", 0),
            ("crates/a/src/b.rs", "#[cfg(test)]\nmod tests {\nfn a() { println!() }\n}\n", 0),
            ("crates/a/src/main.rs", "println!(\"x\")", 0),
            ("crates/a/tests/b.rs", "println!(\"x\")", 0),
            ("crates/cli/src/b.rs", "println!(\"x\")", 0),
            ("a.sh", "cd /root/x", 1),
            ("a.sh", "cd '/work/main'", 1),
            ("a.md", "https://example.org/work/", 0),
            ("a.md", "$HOME/work/x and ~/work/x", 0),
            ("a.md", "/home/jane/x", 1),
            ("a.md", "/home/user/x, /home/$USER/x, /home/", 0),
            ("a.toml", "replace-with = \"x\"", 1),
            ("a.sh", "pip install --index-url x", 1),
            ("a.md", "a blacklist", 1),
            ("crates/a/src/utils.rs", "", 1),
            ("crates/a/src/common/b.rs", "", 1),
            ("crates/a/tests/common/b.rs", "", 0),
            (OWN, "todo!()", 0),
        ] {
            let found = check(&[Source::new(path, text)]);
            assert_eq!(found.len(), expected, "{path} {text:?}: {found:?}");
        }
    }

    #[test]
    fn the_line_is_named() {
        let found = check(&[Source::new("a.rs", "fn a() {}\n\nfn b() { todo!() }\n")]);
        assert_eq!(found[0].line, 3);
        assert!(found[0].to_string().starts_with("a.rs:3: error[word] `todo!(`"), "{}", found[0]);
    }
}
