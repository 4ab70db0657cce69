//! Which program is meant by a name.

use std::path::PathBuf;

use super::entries::{Entry, file_name};
use crate::process;

/// What a name was found to mean.
#[derive(Debug)]
pub(super) enum Found<'e> {
    Entry(&'e Entry),
    Program(PathBuf),
}

/// Lower case, without spaces, dashes and dots: how names are compared.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The program called `name`: a path, an exact id or name in any language, a program in `PATH`, then
/// the last part of an id.
pub(super) fn find<'e>(entries: &'e [Entry], name: &str) -> Option<Found<'e>> {
    let name = name.trim();
    if name.starts_with('/') {
        return process::find_program(name).map(Found::Program);
    }
    if name.contains('/') {
        return None; // A path that depends on where we are means nothing to the caller.
    }
    let want = name.strip_suffix(".desktop").unwrap_or(name);
    let exact = |e: &&Entry| e.id.eq_ignore_ascii_case(want);
    // Several entries may start the same program with other arguments (LibreOffice): then its name
    // means the program itself, not the first of them.
    let starts_it = |e: &&Entry| e.program().eq_ignore_ascii_case(want);
    let shared = entries.iter().filter(|e| !e.hidden).filter(starts_it).count() > 1
        && process::find_program(want).is_some();
    let program = |e: &&Entry| !shared && starts_it(e);
    let key = plain(want);
    if key.is_empty() {
        return None;
    }
    let named = |e: &&Entry| names(e).any(|n| plain(n) == key);
    let shown = || entries.iter().filter(|e| !e.hidden);
    let entry = entries
        .iter()
        .find(exact)
        .or_else(|| shown().find(named))
        .or_else(|| shown().find(program))
        .or_else(|| entries.iter().find(named))
        .or_else(|| entries.iter().find(program));
    if let Some(entry) = entry {
        return Some(Found::Entry(entry));
    }
    if let Some(path) = process::find_program(want) {
        return Some(Found::Program(path));
    }
    // The last part of an id like `org.kde.kcalc`.
    let tail = |e: &&Entry| e.id.rsplit('.').next().is_some_and(|t| plain(t) == key);
    // No guessing from a part of a name: what acts must not start something else.
    shown().find(tail).map(Found::Entry)
}

fn names(entry: &Entry) -> impl Iterator<Item = &str> {
    std::iter::once(entry.name.as_str()).chain(entry.other_names.iter().map(String::as_str))
}

/// Up to five installed names most like `name`.
pub(super) fn near(entries: &[Entry], name: &str) -> Vec<String> {
    let want = plain(name);
    let mut scored: Vec<(usize, &str)> = entries
        .iter()
        .filter(|e| !e.hidden)
        .filter_map(|e| {
            let best = names(e)
                .map(plain)
                .chain([plain(&e.id), plain(&e.program())])
                .map(|n| {
                    let part = !want.is_empty() && (n.contains(&want) || want.contains(&n) && n.len() > 2);
                    if part { 0 } else { distance(&n, &want) }
                })
                .min()?;
            (best <= want.chars().count().div_ceil(3).max(1)).then_some((best, e.name.as_str()))
        })
        .collect();
    scored.sort();
    scored.dedup_by(|a, b| a.1 == b.1);
    scored.into_iter().take(5).map(|(_, n)| n.to_owned()).collect()
}

/// The desktop file of a window, by its class or its program.
pub(super) fn of_window<'e>(entries: &'e [Entry], class: &str, program: &str) -> Option<&'e Entry> {
    let same = |a: &str, b: &str| !a.is_empty() && a.eq_ignore_ascii_case(b);
    entries
        .iter()
        .find(|e| e.wm_class.as_deref().is_some_and(|c| same(c, class)))
        .or_else(|| entries.iter().find(|e| !e.hidden && same(&e.program(), program)))
        .or_else(|| entries.iter().find(|e| same(&e.id, class) || same(file_name(&e.program()), class)))
        .or_else(|| entries.iter().find(|e| e.id.rsplit('.').next().is_some_and(|t| same(t, class))))
}

/// Edit distance, for short names.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().take(64).enumerate() {
        let mut last = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let next = if ca == *cb { last } else { 1 + last.min(row[j]).min(row[j + 1]) };
            last = row[j + 1];
            row[j + 1] = next;
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(id: &str, name: &str, other: &[&str], exec: &str) -> Entry {
        Entry {
            id: id.into(),
            name: name.into(),
            other_names: other.iter().map(|s| (*s).to_owned()).collect(),
            exec: vec![exec.into()],
            ..Entry::default()
        }
    }

    #[test]
    fn names_find_programs() {
        let entries = [
            entry("org.xfce.mousepad", "Mousepad", &["文本编辑器"], "mousepad-x"),
            entry("org.kde.kcalc", "KCalc", &["计算器"], "kcalc-x"),
            entry("libreoffice-calc", "LibreOffice Calc", &[], "libreoffice-x"),
        ];
        for (name, want) in [
            ("mousepad", Some("org.xfce.mousepad")),
            ("MOUSEPAD", Some("org.xfce.mousepad")),
            ("文本编辑器", Some("org.xfce.mousepad")),
            ("org.kde.kcalc.desktop", Some("org.kde.kcalc")),
            ("kcalc-x", Some("org.kde.kcalc")),
            ("libreoffice calc", Some("libreoffice-calc")),
            ("Libre", None),
            ("calc", None),
            ("moosepad", None),
            ("", None),
        ] {
            let got = find(&entries, name).and_then(|f| match f {
                Found::Entry(e) => Some(e.id.as_str()),
                Found::Program(_) => None,
            });
            assert_eq!(got, want, "{name:?}");
        }
        assert_eq!(near(&entries, "moosepad"), ["Mousepad"]);
        assert!(matches!(find(&entries, "/bin/sh"), Some(Found::Program(_))));
        assert!(find(&entries, "/no/such/program").is_none());
    }
}
