//! Mouse and keyboard.

use std::time::Duration;

use deskhand_platform::{Button, Input, Key, PlatformError, Result, Scope};
use deskhand_protocol::{Point, Role};

use super::Fake;
use super::keys::key_name;
use super::log::InputEvent;
use super::world::{Held, World};

/// Pixels one notch of the wheel asks for.
const NOTCH: i32 = 120;

impl Input for Fake {
    fn pointer(&self) -> Result<Point> {
        self.works("display", "asking for the pointer")?;
        Ok(self.lock().pointer)
    }

    fn move_to(&self, to: Point, scope: &Scope) -> Result<()> {
        self.enter("input", "moving the pointer", scope)?;
        self.with(|w| {
            if !w.displays.iter().any(|d| d.bounds.contains(to)) {
                return Err(PlatformError::OutOfRange { what: format!("the point {},{}", to.x, to.y) });
            }
            w.pointer = to;
            w.note(InputEvent::Move(to));
            w.hover();
            Ok(())
        })
    }

    fn button(&self, button: Button, down: bool, scope: &Scope) -> Result<()> {
        self.enter("input", "pressing a button", scope)?;
        self.with(|w| w.button(button, down));
        Ok(())
    }

    fn wheel(&self, dx: i32, dy: i32, scope: &Scope) -> Result<(i32, i32)> {
        self.enter("input", "turning the wheel", scope)?;
        let notched =
            |v: i32| if v == 0 { 0 } else { ((v.abs() + NOTCH / 2) / NOTCH).max(1) * NOTCH * v.signum() };
        let (dx, dy) = (notched(dx), notched(dy));
        self.with(|w| {
            w.note(InputEvent::Wheel(dx, dy));
            w.scroll(dy);
        });
        Ok((dx, dy))
    }

    fn key(&self, key: Key, down: bool, scope: &Scope) -> Result<()> {
        self.enter("input", "pressing a key", scope)?;
        self.with(|w| w.key(key, down));
        Ok(())
    }

    fn chord(&self, keys: &[Key], scope: &Scope) -> Result<()> {
        self.works("input", "pressing keys")?;
        let mut pressed = Vec::new();
        let mut result = Ok(());
        for key in keys {
            result = self.enter("input", "pressing keys", scope);
            if result.is_err() {
                break;
            }
            self.with(|w| w.key(*key, true));
            pressed.push(*key);
        }
        // Released whatever came in between: nothing may stay down.
        for key in pressed.into_iter().rev() {
            self.with(|w| w.key(key, false));
        }
        result
    }

    fn type_keys(
        &self,
        text: &str,
        delay: Duration,
        progress: &mut dyn FnMut(usize),
        scope: &Scope,
    ) -> Result<usize> {
        let mut sent = 0;
        for c in text.chars() {
            self.enter("input", "typing", scope)?;
            self.with(|w| {
                let name = match c {
                    '\n' => "Enter".to_owned(),
                    '\t' => "Tab".to_owned(),
                    c => c.to_string(),
                };
                w.note(InputEvent::Key(name.clone(), true));
                w.type_at_focus(c);
                w.note(InputEvent::Key(name, false));
            });
            sent += 1;
            progress(sent);
            if !delay.is_zero() {
                scope.sleep(delay, "typing")?;
            }
        }
        Ok(sent)
    }

    fn release_all(&self) -> Result<Vec<String>> {
        Ok(self.with(|w| {
            let held = std::mem::take(&mut w.held);
            for h in held.iter().rev() {
                w.note(match h {
                    Held::Key(key) => InputEvent::Key(key_name(*key), false),
                    Held::Button(button) => InputEvent::Button(*button, false),
                });
            }
            w.pressed = None;
            held.into_iter().map(held_name).collect()
        }))
    }

    fn held(&self) -> Vec<String> {
        self.lock().held.iter().copied().map(held_name).collect()
    }
}

fn held_name(held: Held) -> String {
    match held {
        Held::Key(key) => key_name(key),
        Held::Button(button) => format!("{button:?} button").to_lowercase(),
    }
}

impl World {
    fn hold(&mut self, what: Held, down: bool) {
        self.held.retain(|h| *h != what);
        if down {
            self.held.push(what);
        }
    }

    fn key(&mut self, key: Key, down: bool) {
        self.note(InputEvent::Key(key_name(key), down));
        if down {
            self.key_down(key);
        }
        self.hold(Held::Key(key), down);
    }

    fn type_at_focus(&mut self, c: char) {
        let Some(w) = self.active.and_then(|a| self.win(a)) else { return };
        let pid = self.wins[w].pid;
        if !self.proc(pid).is_some_and(|p| p.frozen) {
            self.type_char(w, c);
        }
    }

    /// Runs the effects of what reacts to the pointer alone.
    fn hover(&mut self) {
        let Some((w, Some(e))) = self.hit(self.pointer) else { return };
        let spec = &self.wins[w].els[e].spec;
        if spec.hover {
            let (effects, from) = (spec.effects.clone(), self.wins[w].id);
            self.run(&effects, Some(from));
        }
    }

    /// Down raises and focuses; up on the same element presses it.
    fn button(&mut self, button: Button, down: bool) {
        self.note(InputEvent::Button(button, down));
        self.hold(Held::Button(button), down);
        let hit = self.hit(self.pointer);
        let Some((w, e)) = hit else {
            self.pressed = None;
            return;
        };
        let (id, pid) = (self.wins[w].id, self.wins[w].pid);
        if down {
            let blocked = self.blocker(id).is_some();
            let menu_entry = e
                .is_some_and(|e| self.menu_of(w, e).is_some() || self.wins[w].els[e].spec.role == Role::Menu);
            if !menu_entry {
                self.close_menus(w);
            }
            if self.active != Some(id) || self.wins[0].id != id {
                self.activate(id);
            }
            let frozen = self.proc(pid).is_some_and(|p| p.frozen);
            self.pressed = None;
            if let (Some(e), Some(w), false) = (e, self.win(id), blocked || frozen) {
                if self.wins[w].els[e].focusable() && self.wins[w].els[e].enabled {
                    self.focus(w, e);
                }
                self.wins[w].els[e].all_selected = false;
                if button == Button::Left {
                    self.pressed = Some((id, self.wins[w].els[e].id));
                }
            }
        } else if button == Button::Left
            && let Some(e) = e
            && self.pressed.take() == Some((id, self.wins[w].els[e].id))
            // Enter presses a text field with an effect; a click only focuses it.
            && !self.wins[w].els[e].is_edit()
        {
            self.press(w, e);
        }
    }

    /// Scrolls the pane under the pointer.
    fn scroll(&mut self, dy: i32) {
        let Some((w, Some(e))) = self.hit(self.pointer) else { return };
        let mut at = Some(e);
        while let Some(i) = at {
            let els = &self.wins[w].els;
            if els[i].spec.role == Role::ScrollArea {
                let below = |j: &usize| els[*j].spec.parent == Some(i);
                let end = (0..els.len()).filter(below).map(|j| els[j].rect.bottom()).max().unwrap_or(0);
                let most = (end - els[i].rect.bottom()).max(0);
                let to = (els[i].scroll + dy / 2).clamp(0, most);
                if to != els[i].scroll {
                    self.wins[w].els[i].scroll = to;
                    self.damage_el(w, i);
                    self.event(deskhand_platform::ElementEventKind::ValueChanged, w, Some(i), "scrolled");
                }
                return;
            }
            at = els[i].spec.parent;
        }
    }
}
