//! Names that somebody may have meant.

/// Most names offered.
const MOST: usize = 5;

/// The names nearest to what was typed, best first; none that is nothing like it.
pub(crate) fn near<'a>(typed: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let typed = typed.to_lowercase();
    let mut scored: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            let part = typed.len() >= 3 && (name.contains(&typed) || typed.contains(name));
            let away = distance(&typed, name);
            let allowed = 1 + typed.chars().count().max(name.chars().count()) / 3;
            (part || away <= allowed).then_some((if part { away.min(1) } else { away }, name))
        })
        .collect();
    scored.sort();
    scored.into_iter().take(MOST).map(|(_, name)| name).collect()
}

/// Edits (insert, delete, replace) from one to the other.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typos_find_their_names() {
        let names = ["screenshot", "left_click", "mouse_move", "type_text", "app_list"];
        for (typed, expected) in [
            ("screnshot", vec!["screenshot"]),
            ("click", vec!["left_click"]),
            ("Mouse_Moov", vec!["mouse_move"]),
            ("applist", vec!["app_list"]),
            ("xyzzy", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(near(typed, names), expected, "{typed}");
        }
    }
}
