//! Names of keys as people write them.

use deskhand_platform::{Key, Modifier, NamedKey};
use deskhand_protocol::{Error, ErrorCode, Result};

/// Most keys in one chord.
const MAX_KEYS: usize = 8;

/// Reads the names of a chord; an error names the wrong one and near names.
pub(crate) fn chord(field: &str, names: &[String]) -> Result<Vec<Key>> {
    let wrong = |message: String| Error::new(ErrorCode::InvalidInput, message).detail("field", field);
    if names.is_empty() || names.len() > MAX_KEYS {
        return Err(wrong(format!("{field} has {} keys; give 1 to {MAX_KEYS}", names.len()))
            .hint("for example [\"ctrl\", \"s\"]"));
    }
    let mut keys = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        let key = key(name).ok_or_else(|| {
            wrong(format!("{field}[{i}] is {name:?}, which is not the name of a key"))
                .hint("use one character, or ctrl, shift, alt, cmd, enter, tab, esc, space, backspace, delete, home, end, pageup, pagedown, up, down, left, right, f1 to f24")
        })?;
        if keys.contains(&key) {
            return Err(wrong(format!("{field} names {name:?} twice")).hint("name each key once"));
        }
        keys.push(key);
    }
    Ok(keys)
}

/// One key by its name.
pub(crate) fn key(name: &str) -> Option<Key> {
    let mut chars = name.chars();
    if let (Some(c), None) = (chars.next(), chars.next()) {
        return match c {
            ' ' => Some(Key::Named(NamedKey::Space)),
            '\n' | '\r' => Some(Key::Named(NamedKey::Enter)),
            '\t' => Some(Key::Named(NamedKey::Tab)),
            c if c.is_control() => None,
            c => Some(Key::Char(
                c.to_lowercase().next().filter(|_| c.to_lowercase().count() == 1).unwrap_or(c),
            )),
        };
    }
    let word: String = name.trim().to_lowercase().chars().filter(|c| !matches!(c, '_' | '-' | ' ')).collect();
    let named = |k| Some(Key::Named(k));
    let modifier = |m| Some(Key::Modifier(m));
    match word.as_str() {
        "ctrl" | "control" | "controll" | "controlleft" | "lctrl" => modifier(Modifier::Ctrl),
        "shift" | "shiftleft" | "lshift" => modifier(Modifier::Shift),
        "alt" | "option" | "opt" | "altl" => modifier(Modifier::Alt),
        "cmd" | "command" | "super" | "win" | "windows" | "meta" | "superl" => modifier(Modifier::Cmd),
        "enter" | "return" | "kpenter" => named(NamedKey::Enter),
        "tab" => named(NamedKey::Tab),
        "esc" | "escape" => named(NamedKey::Escape),
        "space" | "spacebar" => named(NamedKey::Space),
        "backspace" => named(NamedKey::Backspace),
        "delete" | "del" => named(NamedKey::Delete),
        "insert" | "ins" => named(NamedKey::Insert),
        "home" => named(NamedKey::Home),
        "end" => named(NamedKey::End),
        "pageup" | "pgup" | "prior" => named(NamedKey::PageUp),
        "pagedown" | "pgdn" | "pgdown" | "next" => named(NamedKey::PageDown),
        "left" | "arrowleft" => named(NamedKey::Left),
        "right" | "arrowright" => named(NamedKey::Right),
        "up" | "arrowup" => named(NamedKey::Up),
        "down" | "arrowdown" => named(NamedKey::Down),
        "capslock" => named(NamedKey::CapsLock),
        "numlock" => named(NamedKey::NumLock),
        "scrolllock" => named(NamedKey::ScrollLock),
        "printscreen" | "print" | "prtsc" => named(NamedKey::PrintScreen),
        "pause" | "break" => named(NamedKey::Pause),
        "menu" | "contextmenu" | "apps" => named(NamedKey::Menu),
        "volumeup" => named(NamedKey::VolumeUp),
        "volumedown" => named(NamedKey::VolumeDown),
        "volumemute" | "mute" => named(NamedKey::VolumeMute),
        "mediaplay" | "playpause" | "mediaplaypause" => named(NamedKey::MediaPlay),
        "medianext" | "nexttrack" => named(NamedKey::MediaNext),
        "mediaprevious" | "prevtrack" | "previoustrack" => named(NamedKey::MediaPrevious),
        "brightnessup" => named(NamedKey::BrightnessUp),
        "brightnessdown" => named(NamedKey::BrightnessDown),
        "plus" => Some(Key::Char('+')),
        "minus" => Some(Key::Char('-')),
        "comma" => Some(Key::Char(',')),
        "period" | "dot" => Some(Key::Char('.')),
        "slash" => Some(Key::Char('/')),
        f => f
            .strip_prefix('f')?
            .parse::<u8>()
            .ok()
            .filter(|n| (1..=24).contains(n))
            .and_then(|n| named(NamedKey::F(n))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        let cases = [
            ("ctrl", Key::Modifier(Modifier::Ctrl)),
            ("Cmd", Key::Modifier(Modifier::Cmd)),
            ("Return", Key::Named(NamedKey::Enter)),
            ("Page_Down", Key::Named(NamedKey::PageDown)),
            ("F12", Key::Named(NamedKey::F(12))),
            ("A", Key::Char('a')),
            ("中", Key::Char('中')),
            ("+", Key::Char('+')),
        ];
        for (name, want) in cases {
            assert_eq!(key(name), Some(want), "{name}");
        }
        for name in ["", "f0", "f25", "ctlr", "\u{1}"] {
            assert_eq!(key(name), None, "{name:?}");
        }
    }

    #[test]
    fn a_wrong_name_is_named() {
        let e = chord("keys", &["ctrl".into(), "sss".into()]).unwrap_err();
        assert!(e.message.contains("keys[1]") && e.message.contains("sss"), "{e}");
        assert!(chord("keys", &[]).is_err());
        assert!(chord("keys", &["a".into(), "A".into()]).unwrap_err().message.contains("twice"));
    }
}
