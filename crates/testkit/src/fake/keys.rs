//! What a key does.

use deskhand_platform::{Key, Modifier, NamedKey};
use deskhand_protocol::Role;

use super::world::{Held, World, text_formats};

/// The name of a key: `ctrl`, `a`, `Enter`, `F5`.
pub(crate) fn key_name(key: Key) -> String {
    match key {
        Key::Modifier(m) => format!("{m:?}").to_lowercase(),
        Key::Char(c) => c.to_string(),
        Key::Named(NamedKey::F(n)) => format!("F{n}"),
        Key::Named(n) => format!("{n:?}"),
    }
}

impl World {
    fn has(&self, m: Modifier) -> bool {
        self.held.contains(&Held::Key(Key::Modifier(m)))
    }

    /// A key went down, with the modifiers that are held.
    pub(crate) fn key_down(&mut self, key: Key) {
        let Some(w) = self.active.and_then(|a| self.win(a)) else { return };
        let pid = self.wins[w].pid;
        if self.proc(pid).is_some_and(|p| p.frozen) {
            return;
        }
        if self.shortcut(w, key) {
            return;
        }
        let (ctrl, alt) = (self.has(Modifier::Ctrl), self.has(Modifier::Alt));
        match key {
            Key::Named(NamedKey::F(4)) if alt => {
                let id = self.wins[w].id;
                if !self.scene.windows[self.wins[w].spec].stubborn {
                    self.close(id);
                }
            }
            Key::Char(c) if ctrl => self.edit_chord(c.to_ascii_lowercase()),
            _ if ctrl || alt || self.has(Modifier::Cmd) => {}
            Key::Char(c) if self.has(Modifier::Shift) => {
                self.type_char(w, c.to_uppercase().next().unwrap_or(c));
            }
            Key::Char(c) => self.type_char(w, c),
            Key::Named(named) => self.named(w, named),
            Key::Modifier(_) => {}
        }
    }

    /// A character arrives where the focus is.
    pub(crate) fn type_char(&mut self, w: usize, c: char) {
        match c {
            '\n' => self.named(w, NamedKey::Enter),
            '\t' => self.named(w, NamedKey::Tab),
            ' ' => self.named(w, NamedKey::Space),
            c => {
                if let Some((w, e)) = self.focused() {
                    self.insert(w, e, c.encode_utf8(&mut [0; 4]));
                }
            }
        }
    }

    /// `key=ctrl+s` of an element of the window; true when one was pressed.
    fn shortcut(&mut self, w: usize, key: Key) -> bool {
        let mut name = String::new();
        for m in [Modifier::Ctrl, Modifier::Alt, Modifier::Shift, Modifier::Cmd] {
            if self.has(m) {
                name.push_str(&key_name(Key::Modifier(m)));
                name.push('+');
            }
        }
        name.push_str(&key_name(key).to_lowercase());
        let found = self.wins[w].els.iter().position(|e| e.spec.key.as_deref() == Some(&name) && !e.gone);
        found.is_some_and(|e| self.press(w, e))
    }

    fn edit_chord(&mut self, c: char) {
        let Some((w, e)) = self.focused() else { return };
        let el = &mut self.wins[w].els[e];
        if !el.is_edit() {
            return;
        }
        match c {
            'a' => {
                el.all_selected = true;
                self.damage_el(w, e);
            }
            // A password is never copied, as in every toolkit.
            'c' | 'x' if el.all_selected && !el.secure() => {
                let text = el.value.clone();
                self.clipboard = text_formats(&text);
                if c == 'x' {
                    self.delete(w, e, true);
                }
            }
            'v' => {
                let text =
                    self.clipboard.first().map(|(_, bytes)| String::from_utf8_lossy(bytes).into_owned());
                if let Some(text) = text {
                    self.times_read += 1;
                    self.insert(w, e, &text);
                }
            }
            _ => {}
        }
    }

    fn named(&mut self, w: usize, key: NamedKey) {
        let focus = self.focused();
        match (key, focus) {
            (NamedKey::Escape, _) => {
                let (id, dialog) = (self.wins[w].id, self.wins[w].dialog);
                if !self.close_menus(w) && dialog {
                    self.close(id);
                }
            }
            (NamedKey::Tab, _) => self.next_focus(w, self.has(Modifier::Shift)),
            (NamedKey::Enter | NamedKey::Space, Some((w, e))) if self.wins[w].els[e].is_edit() => {
                let area = matches!(self.wins[w].els[e].spec.role, Role::TextArea | Role::Terminal);
                if key == NamedKey::Space {
                    self.insert(w, e, " ");
                } else if area {
                    self.insert(w, e, "\n");
                } else if self.wins[w].els[e].spec.effects.is_empty() {
                    self.press_default(w);
                } else {
                    self.press(w, e);
                }
            }
            (NamedKey::Enter | NamedKey::Space, Some((w, e))) => {
                self.press(w, e);
            }
            (NamedKey::Enter, None) => self.press_default(w),
            (NamedKey::Backspace, Some((w, e))) => self.delete(w, e, true),
            (NamedKey::Delete, Some((w, e))) => self.delete(w, e, false),
            (NamedKey::Home | NamedKey::End | NamedKey::Left | NamedKey::Right, Some((w, e))) => {
                let el = &mut self.wins[w].els[e];
                let end = el.value.chars().count();
                el.all_selected = false;
                el.caret = match key {
                    NamedKey::Home => 0,
                    NamedKey::End => end,
                    NamedKey::Left => el.caret.saturating_sub(1),
                    _ => (el.caret + 1).min(end),
                };
            }
            _ => {}
        }
    }

    fn press_default(&mut self, w: usize) {
        if let Some(e) = self.wins[w].els.iter().position(|e| e.spec.default && !e.gone) {
            self.press(w, e);
        }
    }

    fn next_focus(&mut self, w: usize, back: bool) {
        let mut stops: Vec<usize> = (0..self.wins[w].els.len())
            .filter(|e| {
                self.wins[w].els[*e].focusable()
                    && self.wins[w].els[*e].enabled
                    && self.showing(w, *e).is_some()
            })
            .collect();
        if back {
            stops.reverse();
        }
        let at = self.wins[w].focus.and_then(|f| stops.iter().position(|s| *s == f));
        let next = at.map_or(0, |at| (at + 1) % stops.len().max(1));
        if let Some(e) = stops.get(next) {
            self.focus(w, *e);
        }
    }
}
