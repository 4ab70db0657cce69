//! `cargo xtask gen`: schemas and references, written from the code itself. They are committed, and
//! `--check` compares them, so that a change of the code shows as a change of the documents.

mod command_line;
mod errors;
mod tools;

use std::path::Path;

use crate::project::{self, Done};

/// What to do with the generated text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Write it.
    Write,
    /// Compare it with what is there.
    Compare,
}

/// A generated file: its place and its text.
struct Page {
    path: &'static str,
    text: String,
}

/// Makes all pages and writes or compares them.
pub(crate) fn run(mode: Mode) -> Done {
    let root = project::root();
    let infos = deskhand_tools::infos();
    // The program `deskhand` carries schemas/tools.json inside, so that must be right before the
    // program is built and asked for its help.
    let mut same = settle(mode, &root, Page { path: "schemas/tools.json", text: tools::schema(&infos)? })?;
    for page in [
        Page { path: "schemas/error-codes.json", text: errors::schema()? },
        Page { path: "docs/reference/tools.md", text: tools::page(&infos) },
        Page { path: "docs/reference/errors.md", text: errors::page() },
        Page { path: "docs/reference/cli.md", text: command_line::page(&root)? },
    ] {
        same &= settle(mode, &root, page)?;
    }
    if mode == Mode::Compare && !same {
        eprintln!("gen: run `cargo xtask gen` and commit what it writes");
    }
    Ok(same || mode == Mode::Write)
}

/// Writes or compares one page; tells whether it was right already.
fn settle(mode: Mode, root: &Path, page: Page) -> Done {
    let path = root.join(page.path);
    let old = std::fs::read_to_string(&path).unwrap_or_default();
    if old == page.text {
        return Ok(true);
    }
    match mode {
        Mode::Write => {
            if let Some(folder) = path.parent() {
                std::fs::create_dir_all(folder)?;
            }
            std::fs::write(&path, page.text)?;
            eprintln!("gen: wrote {}", page.path);
        }
        Mode::Compare => eprintln!("gen: {} differs {}", page.path, first_difference(&old, &page.text)),
    }
    Ok(false)
}

/// Where two texts part, for people.
fn first_difference(old: &str, new: &str) -> String {
    let mut pairs = old.lines().zip(new.lines()).enumerate();
    match pairs.find(|(_, (a, b))| a != b) {
        Some((index, (a, b))) => format!("from line {}:\n  - {a}\n  + {b}", index + 1),
        None => format!("in length: {} lines there, {} wanted", old.lines().count(), new.lines().count()),
    }
}

/// The first line of every generated page.
const NOTICE: &str = "<!-- Written by `cargo xtask gen`; change the code, not this page. -->";

/// A cell of a table: one line, no bars.
fn cell(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_difference_is_shown() {
        for (old, new, words) in [
            ("a\nb\n", "a\nc\n", "line 2:\n  - b\n  + c"),
            ("", "a\n", "0 lines there, 1 wanted"),
            ("a\n", "a\nb\n", "1 lines there, 2 wanted"),
        ] {
            assert!(first_difference(old, new).contains(words), "{old:?} {new:?}");
        }
    }

    #[test]
    fn cells_stay_on_their_line() {
        assert_eq!(cell("a\n  b | c"), "a b \\| c");
    }
}
