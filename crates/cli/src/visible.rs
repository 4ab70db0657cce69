//! Text from the desktop, made harmless for a terminal.
//!
//! A window title or an error message may hold anything, also what a terminal takes for an order
//! (move the cursor, set the clipboard) or what turns the reading order of a line around. On a
//! terminal such characters are shown as `\\u009b`, which inside JSON is still the same text. What goes
//! into a pipe or a file stays as it is.

use std::borrow::Cow;
use std::fmt::Write;

use crate::paint::COLOURS;

/// Shows every character that acts instead of being seen; line ends and tabs stay.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        show(c, &mut shown);
    }
    Cow::Owned(shown)
}

/// The same for a whole output, in which our own colours stay. The last look at all that goes to a
/// terminal; who puts foreign words between colours has cleaned them before.
pub(crate) fn clean_painted(text: &str) -> Cow<'_, str> {
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let colour = COLOURS.iter().find(|colour| rest.starts_with(**colour));
        match colour {
            Some(colour) => shown.push_str(colour),
            None => show(c, &mut shown),
        }
        rest = &rest[colour.map_or(c.len_utf8(), |colour| colour.len())..];
    }
    Cow::Owned(shown)
}

fn show(c: char, shown: &mut String) {
    if acts(c) {
        // Writing to a string does not fail.
        let _ = write!(shown, "\\u{:04x}", u32::from(c));
    } else {
        shown.push(c);
    }
}

/// Control characters of both sets, and those that change the direction of text.
fn acts(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\0'..='\x1f' | '\x7f'..='\u{9f}' => true,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_shown() {
        for (text, shown) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("点击 😀 é \u{a0}", "点击 😀 é \u{a0}"),
            ("\x1b]52;c;eA==\x07", "\\u001b]52;c;eA==\\u0007"),
            ("\u{9b}2J\x7f\r\x08\0", "\\u009b2J\\u007f\\u000d\\u0008\\u0000"),
            ("exe\u{202e}gpj.\u{202c}", "exe\\u202egpj.\\u202c"),
            ("\u{200e}\u{200f}\u{2066}\u{2069}\u{61c}", "\\u200e\\u200f\\u2066\\u2069\\u061c"),
            ("\u{200d}\u{202f}\u{2065}\u{206a}", "\u{200d}\u{202f}\u{2065}\u{206a}"),
        ] {
            assert_eq!(clean(text), shown);
            assert_eq!(clean_painted(text), shown);
        }
    }

    #[test]
    fn only_our_own_colours_pass() {
        assert_eq!(clean_painted("\x1b[31mred\x1b[0m\x1b[2J"), "\x1b[31mred\x1b[0m\\u001b[2J");
        assert_eq!(clean("\x1b[31mred"), "\\u001b[31mred");
    }

    /// On a terminal JSON must still be the same JSON.
    #[test]
    fn json_keeps_its_meaning() {
        let value = serde_json::json!({ "title": "a\x1b[2J\u{9b}31m\u{202e}\x7f\n\t" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = clean(&text);
        assert!(!shown.contains(acts), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
