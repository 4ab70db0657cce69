//! Which key writes what, in the layout and group that are active (XKB).

use std::collections::HashMap;

use deskhand_platform::{PlatformError, Result};
use x11rb::connection::Connection;
use x11rb::protocol::xkb::{
    self, ConnectionExt as _, EventType, KeySymMap, KeyType, MapPart, SelectEventsAux,
};
use x11rb::protocol::xproto::ConnectionExt as _;
use xkeysym::Keysym;

use crate::x11::{Conn, Reply};

const DOING: &str = "reading the keyboard layout";
/// The core keyboard.
pub(super) const KEYBOARD: u16 = 0x100;

const SHIFT_L: u32 = 0xffe1;
const SHIFT_R: u32 = 0xffe2;
const LEVEL3: u32 = 0xfe03;
const LEVEL5: u32 = 0xfe11;

/// One way to write something: a key and the modifiers (real modifier bits) that must be down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stroke {
    pub(super) code: u8,
    pub(super) mods: u8,
}

/// The keyboard's map at one moment.
pub(super) struct Keymap {
    first: u8,
    keys: Vec<KeySymMap>,
    types: Vec<KeyType>,
    /// Keycode that holds a real modifier bit while it is down (Shift, AltGr, fifth level).
    holders: [Option<u8>; 8],
    /// Keycodes that are modifiers.
    modifiers: Vec<u8>,
    /// Keycodes that write nothing and can be borrowed.
    pub(super) spare: Vec<u8>,
}

/// Asks to be told when the map changes. Once per connection.
pub(super) fn watch(conn: &Conn) -> Result<()> {
    if !conn.has(xkb::X11_EXTENSION_NAME)? {
        return Err(PlatformError::Unsupported {
            what: "keyboard input".into(),
            why: "the X server lacks the XKEYBOARD extension".into(),
        });
    }
    conn.x.xkb_use_extension(1, 0).wait(DOING)?;
    let events = EventType::MAP_NOTIFY | EventType::NEW_KEYBOARD_NOTIFY;
    let parts = MapPart::KEY_TYPES | MapPart::KEY_SYMS | MapPart::MODIFIER_MAP;
    conn.x
        .xkb_select_events(KEYBOARD, EventType::from(0u16), events, parts, parts, &SelectEventsAux::new())
        .wait(DOING)
}

impl Keymap {
    /// Reads the map.
    pub(super) fn load(conn: &Conn) -> Result<Self> {
        let none = MapPart::from(0u16);
        let setup = conn.x.setup();
        let (min, max) = (setup.min_keycode, setup.max_keycode);
        let full = MapPart::KEY_TYPES | MapPart::KEY_SYMS;
        let map = conn.x.xkb_get_map(
            KEYBOARD,
            full,
            none,
            0,
            0,
            min,
            0,
            min,
            0,
            min,
            0,
            xkb::VMod::from(0u16),
            min,
            0,
            min,
            0,
            min,
            0,
        );
        let modifiers = conn.x.get_modifier_mapping();
        let ours =
            conn.x.get_property(false, conn.root, conn.atoms._DESKHAND_KEYS, 0u32, 0, 256).wait_opt(DOING)?;
        let map = map.wait(DOING)?;
        let modifiers = modifiers.wait(DOING)?;
        let mut keymap = Self {
            first: map.first_key_sym,
            keys: map.map.syms_rtrn.unwrap_or_default(),
            types: map.map.types_rtrn.unwrap_or_default(),
            holders: [None; 8],
            modifiers: modifiers.keycodes.iter().copied().filter(|c| *c != 0).collect(),
            spare: Vec::new(),
        };
        let per = usize::from(modifiers.keycodes_per_modifier()).max(1);
        for (bit, codes) in modifiers.keycodes.chunks(per).take(8).enumerate() {
            let holder = codes.iter().copied().find(|&code| {
                code != 0 && keymap.first_syms(code).any(|s| [SHIFT_L, SHIFT_R, LEVEL3, LEVEL5].contains(&s))
            });
            keymap.holders[bit] = holder;
        }
        let left = left_behind(ours.and_then(|r| r.value32().map(Iterator::collect)).unwrap_or_default());
        // The lowest keycode is left alone: some servers and clients use it for "no key".
        keymap.spare = (min.saturating_add(1)..=max)
            .filter(|&code| {
                let empty = keymap.key(code).is_none_or(|k| k.syms.iter().all(|s| *s == 0));
                (empty || left.contains(&code)) && !keymap.modifiers.contains(&code)
            })
            .collect();
        Ok(keymap)
    }

    fn key(&self, code: u8) -> Option<&KeySymMap> {
        self.keys.get(usize::from(code.checked_sub(self.first)?))
    }

    fn codes(&self) -> impl Iterator<Item = (u8, &KeySymMap)> {
        self.keys.iter().enumerate().map(|(i, k)| (self.first.saturating_add(i as u8), k))
    }

    /// The first-level symbols of a key in all its groups.
    fn first_syms(&self, code: u8) -> impl Iterator<Item = u32> + '_ {
        self.key(code)
            .into_iter()
            .flat_map(|k| k.syms.chunks(usize::from(k.width).max(1)).filter_map(|g| g.first().copied()))
    }

    /// The keycode that sets a modifier bit.
    pub(super) fn holder(&self, bit: u8) -> Option<u8> {
        self.holders.get(usize::from(bit)).copied().flatten()
    }

    /// All characters the group can write, each with its cheapest stroke, while `locked` modifiers
    /// (Num Lock, Caps Lock) are on.
    pub(super) fn characters(&self, group: u8, locked: u8) -> HashMap<char, Stroke> {
        let mut out: HashMap<char, Stroke> = HashMap::new();
        for (code, key) in self.codes() {
            for (sym, stroke) in self.strokes(code, key, group, locked) {
                let Some(c) = character(sym) else { continue };
                let better = out.get(&c).is_none_or(|old| stroke.mods.count_ones() < old.mods.count_ones());
                if better {
                    out.insert(c, stroke);
                }
            }
        }
        out
    }

    /// The key that carries `sym`: in the active group without modifiers, then with, then in any group.
    pub(super) fn find(&self, sym: u32, group: u8, locked: u8) -> Option<Stroke> {
        let mut best: Option<Stroke> = None;
        for (code, key) in self.codes() {
            for (s, stroke) in self.strokes(code, key, group, locked) {
                if s == sym && best.is_none_or(|b| stroke.mods.count_ones() < b.mods.count_ones()) {
                    best = Some(stroke);
                }
            }
        }
        best.or_else(|| {
            self.codes()
                .find(|(code, _)| self.first_syms(*code).any(|s| s == sym))
                .map(|(code, _)| Stroke { code, mods: 0 })
        })
    }

    /// What a key writes in a group, level by level, as far as the levels can be reached.
    fn strokes<'a>(
        &'a self,
        code: u8,
        key: &'a KeySymMap,
        group: u8,
        locked: u8,
    ) -> impl Iterator<Item = (u32, Stroke)> + 'a {
        let index = effective_group(key.group_info, group);
        let width = usize::from(key.width);
        let kind = index.and_then(|g| self.types.get(usize::from(key.kt_index[g & 3])));
        let syms = index.and_then(|g| key.syms.get(g * width..(g + 1) * width)).unwrap_or_default();
        syms.iter().enumerate().filter(|(_, sym)| **sym != 0).filter_map(move |(level, &sym)| {
            let mods = self.reach(kind?, level as u8, locked)?;
            Some((sym, Stroke { code, mods }))
        })
    }

    /// The modifiers that bring a key of this type to `level`.
    fn reach(&self, kind: &KeyType, level: u8, locked: u8) -> Option<u8> {
        let eval = |mods: u8| {
            let mods = mods & u16::from(kind.mods_mask) as u8;
            kind.map.iter().find(|e| e.active && u16::from(e.mods_mask) as u8 == mods).map_or(0, |e| e.level)
        };
        std::iter::once(0)
            .chain(kind.map.iter().filter(|e| e.active).map(|e| u16::from(e.mods_mask) as u8))
            .filter(|&mods| eval(mods | locked) == level)
            .filter(|&mods| (0..8).all(|bit| mods & (1 << bit) == 0 || self.holder(bit).is_some()))
            .min_by_key(|mods| mods.count_ones())
    }
}

/// Keycodes borrowed by a process that is gone (property: its pid, then the keycodes).
fn left_behind(property: Vec<u32>) -> Vec<u8> {
    let Some((&pid, codes)) = property.split_first() else { return Vec::new() };
    if pid != std::process::id() && std::path::Path::new(&format!("/proc/{pid}")).exists() {
        return Vec::new();
    }
    codes.iter().filter_map(|c| u8::try_from(*c).ok()).collect()
}

/// The group a key really uses when `group` is active (XKB's rules for keys with fewer groups).
fn effective_group(info: u8, group: u8) -> Option<usize> {
    let count = usize::from(info & 0x0f);
    let group = usize::from(group);
    match count {
        0 => None,
        _ if group < count => Some(group),
        _ => Some(match info & 0xc0 {
            0x40 => count - 1,
            0x80 => {
                let to = usize::from((info & 0x30) >> 4);
                if to < count { to } else { 0 }
            }
            _ => group % count,
        }),
    }
}

/// The character a key symbol writes; keypad keys do not count (Num Lock changes them).
fn character(sym: u32) -> Option<char> {
    if (0xff80..=0xffbd).contains(&sym) {
        return None;
    }
    Keysym::from(sym).key_char().filter(|c| !c.is_control())
}

/// The symbol to give a borrowed key for a character.
pub(super) fn symbol(c: char) -> u32 {
    match u32::from(c) {
        n @ (0x20..=0x7e | 0xa0..=0xff) => n,
        n => 0x0100_0000 | n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_with_fewer_groups_follows_xkb() {
        for (info, group, want) in [
            (0x00, 0, None),
            (0x01, 0, Some(0)),
            (0x01, 3, Some(0)),
            (0x02, 1, Some(1)),
            (0x02, 2, Some(0)),
            (0x42, 3, Some(1)),
            (0x92, 3, Some(1)),
            (0xb2, 3, Some(0)),
        ] {
            assert_eq!(effective_group(info, group), want, "{info:#x} {group}");
        }
    }

    #[test]
    fn symbols_write_their_characters() {
        for c in ['a', 'é', 'Я', 'λ', '你', '😀', '€', ' '] {
            assert_eq!(character(symbol(c)), Some(c));
        }
        assert_eq!(character(0x6c1), Some('а'), "legacy Cyrillic");
        assert_eq!(character(0xffb1), None, "keypad 1");
        assert_eq!(character(0xff0d), None, "Return");
        assert_eq!(character(0xfe51), None, "dead acute");
    }
}
