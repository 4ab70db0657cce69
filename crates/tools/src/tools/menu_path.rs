//! Menus in a tree: what is an entry, what lies below it, which one is meant.

use deskhand_platform::Tree;
use deskhand_protocol::{Result, Role};
use schemars::JsonSchema;
use serde::Deserialize;

use super::args::wrong;

/// Most levels.
const LEVELS: usize = 10;

/// A path as callers write it.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(crate) enum Path {
    /// One label per level.
    Parts(Vec<String>),
    /// Labels with " > " between them.
    Text(String),
}

impl Path {
    /// The labels, checked.
    pub(crate) fn parts(self) -> Result<Vec<String>> {
        let parts = match self {
            Path::Parts(parts) => parts,
            Path::Text(text) => split(&text),
        };
        if parts.is_empty() || parts.len() > LEVELS {
            return Err(wrong("path", format!("has {} levels; give 1 to {LEVELS}", parts.len()))
                .hint("for example [\"File\", \"Save As…\"]"));
        }
        match parts.iter().position(|p| plain(p).is_empty()) {
            Some(i) => Err(wrong("path", format!("has an empty label at level {}", i + 1))),
            None => Ok(parts),
        }
    }
}

/// The entry's label as people write it: no mnemonics, one kind of ellipsis, no accelerator, no case.
pub(crate) fn plain(label: &str) -> String {
    let label = label.split('\t').next().unwrap_or_default();
    let mut out = String::with_capacity(label.len());
    let mut chars = label.chars().peekable();
    while let Some(c) = chars.next() {
        // "_File" and "&File" mark the key; doubled ones stand for themselves. One inside a word of a
        // file name ("my_file") is kept.
        let starts = out.is_empty() || out.ends_with(' ');
        if c == '&' || (c == '_' && starts) {
            if chars.peek() == Some(&c) {
                chars.next();
                out.push(c);
            } else if c == '&' && chars.peek() == Some(&' ') {
                out.push(c);
            }
            continue;
        }
        out.extend(c.to_lowercase());
    }
    out.trim().replace("...", "…").replace('\u{a0}', " ").trim_end_matches(['…', ' ']).to_owned()
}

/// Splits "App > File > Export..." into its parts.
fn split(path: &str) -> Vec<String> {
    path.split(['>', '→', '›']).map(|s| s.trim().to_owned()).collect()
}

fn entry_role(role: Role) -> bool {
    matches!(
        role,
        Role::MenuItem | Role::Menu | Role::CheckBox | Role::RadioButton | Role::Button | Role::ToggleButton
    )
}

/// Indexes of the entries directly below `parent`. A popup that repeats the name of its entry (Qt), and
/// whatever else lies between, is looked through.
pub(crate) fn entries(tree: &Tree, parent: usize) -> Vec<usize> {
    let mut out = Vec::new();
    collect(tree, parent, &plain(&tree.nodes[parent].element.name), &mut out);
    out
}

fn collect(tree: &Tree, parent: usize, above: &str, out: &mut Vec<usize>) {
    let depth = tree.nodes[parent].depth;
    let below = tree.nodes[parent + 1..].iter().take_while(|n| n.depth > depth).count();
    for (i, node) in tree.nodes.iter().enumerate().skip(parent + 1).take(below) {
        if node.parent != u32::try_from(parent).ok() {
            continue;
        }
        let name = plain(&node.element.name);
        let popup = node.element.role == Role::Menu && (name.is_empty() || name == above);
        if entry_role(node.element.role) && !name.is_empty() && !popup {
            out.push(i);
        } else if !matches!(node.element.role, Role::Separator) {
            collect(tree, i, above, out);
        }
    }
}

/// Where menus start: the menu bars, those of the active window first; without any, open popups.
pub(crate) fn bars(tree: &Tree) -> Vec<usize> {
    let mut bars: Vec<usize> =
        (0..tree.nodes.len()).filter(|i| tree.nodes[*i].element.role == Role::MenuBar).collect();
    bars.sort_by_key(|i| !under_active(tree, *i));
    if bars.is_empty() {
        // A menu whose parents are no menus: a context menu, or a toolkit without bars.
        let free = |i: &usize| {
            tree.nodes[*i].element.role == Role::Menu
                && tree.nodes[*i].parent.is_none_or(|p| !entry_role(tree.nodes[p as usize].element.role))
        };
        let popups: Vec<usize> = (0..tree.nodes.len()).filter(free).collect();
        let mut parents: Vec<usize> = Vec::new();
        for i in popups {
            // Named ones are entries themselves; unnamed ones hold entries.
            let named = !tree.nodes[i].element.name.trim().is_empty();
            let start = if named { tree.nodes[i].parent.map_or(i, |p| p as usize) } else { i };
            if !parents.contains(&start) {
                parents.push(start);
            }
        }
        return parents;
    }
    bars
}

fn under_active(tree: &Tree, index: usize) -> bool {
    let mut at = Some(index);
    while let Some(i) = at {
        if tree.nodes[i].element.states.active {
            return true;
        }
        at = tree.nodes[i].parent.map(|p| p as usize);
    }
    false
}

/// The entry with this label among `entries`; an entry with the very same ellipsis wins over one without.
pub(crate) fn pick(tree: &Tree, entries: &[usize], wanted: &str) -> Option<usize> {
    let key = plain(wanted);
    let dots = |s: &str| s.trim_end().ends_with('…') || s.trim_end().ends_with("...");
    let fits: Vec<usize> =
        entries.iter().copied().filter(|i| plain(&tree.nodes[*i].element.name) == key).collect();
    let same = |i: &&usize| dots(&tree.nodes[**i].element.name) == dots(wanted);
    fits.iter().find(same).or_else(|| fits.first()).copied()
}

/// Labels of entries, for errors.
pub(crate) fn labels(tree: &Tree, entries: &[usize]) -> Vec<String> {
    entries.iter().take(64).map(|i| crate::aim::short(&tree.nodes[*i].element.name, 60)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_compared_as_people_write_them() {
        let same = [
            ("Save As…", "Save As..."),
            ("_File", "File"),
            ("&File", "file"),
            ("Save _As...", "save as"),
            ("Copy\tCtrl+C", "Copy"),
            ("Find & Replace", "find & replace"),
            ("Export ", "Export"),
            ("另存为…", "另存为..."),
        ];
        for (a, b) in same {
            assert_eq!(plain(a), plain(b), "{a:?} {b:?}");
        }
        assert_ne!(plain("my_file"), plain("myfile"));
        assert_eq!(split("App > File > Export..."), ["App", "File", "Export..."]);
    }
}
