//! Names of keys and the symbols X knows them by.

use deskhand_platform::{Button, Key, Modifier, NamedKey};

use super::keymap::symbol;

/// Key symbols of a key, the usual one first.
pub(super) fn symbols(key: Key) -> Vec<u32> {
    match key {
        Key::Modifier(Modifier::Shift) => vec![0xffe1, 0xffe2],
        Key::Modifier(Modifier::Ctrl) => vec![0xffe3, 0xffe4],
        Key::Modifier(Modifier::Alt) => vec![0xffe9, 0xffea, 0xffe7],
        Key::Modifier(Modifier::Cmd) => vec![0xffeb, 0xffec, 0xffe7],
        Key::Char('\n' | '\r') => symbols(Key::Named(NamedKey::Enter)),
        Key::Char('\t') => symbols(Key::Named(NamedKey::Tab)),
        Key::Char(c) => vec![symbol(c)],
        Key::Named(named) => vec![match named {
            NamedKey::Enter => 0xff0d,
            NamedKey::Tab => 0xff09,
            NamedKey::Escape => 0xff1b,
            NamedKey::Space => 0x20,
            NamedKey::Backspace => 0xff08,
            NamedKey::Delete => 0xffff,
            NamedKey::Insert => 0xff63,
            NamedKey::Home => 0xff50,
            NamedKey::End => 0xff57,
            NamedKey::PageUp => 0xff55,
            NamedKey::PageDown => 0xff56,
            NamedKey::Left => 0xff51,
            NamedKey::Up => 0xff52,
            NamedKey::Right => 0xff53,
            NamedKey::Down => 0xff54,
            NamedKey::CapsLock => 0xffe5,
            NamedKey::NumLock => 0xff7f,
            NamedKey::ScrollLock => 0xff14,
            NamedKey::PrintScreen => 0xff61,
            NamedKey::Pause => 0xff13,
            NamedKey::Menu => 0xff67,
            NamedKey::VolumeDown => 0x1008_ff11,
            NamedKey::VolumeMute => 0x1008_ff12,
            NamedKey::VolumeUp => 0x1008_ff13,
            NamedKey::MediaPlay => 0x1008_ff14,
            NamedKey::MediaPrevious => 0x1008_ff16,
            NamedKey::MediaNext => 0x1008_ff17,
            NamedKey::BrightnessUp => 0x1008_ff02,
            NamedKey::BrightnessDown => 0x1008_ff03,
            NamedKey::F(n) => 0xffbe + u32::from(n.clamp(1, 35)) - 1,
        }],
    }
}

/// A key's name for people.
pub(super) fn name(key: Key) -> String {
    match key {
        Key::Modifier(m) => format!("{m:?}").to_lowercase(),
        Key::Char(c) => c.to_string(),
        Key::Named(NamedKey::F(n)) => format!("f{n}"),
        Key::Named(n) => format!("{n:?}").to_lowercase(),
    }
}

/// A button's name for people.
pub(super) fn button_name(button: Button) -> String {
    format!("{button:?} button").to_lowercase()
}

/// X's number of a button.
pub(super) fn button_number(button: Button) -> u8 {
    match button {
        Button::Left => 1,
        Button::Middle => 2,
        Button::Right => 3,
    }
}
