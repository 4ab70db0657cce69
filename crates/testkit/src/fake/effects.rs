//! What pressing, typing and the scene's effects do to the world.

use deskhand_platform::{ElementEventKind, WindowId};
use deskhand_protocol::Role;

use super::world::World;
use crate::scene::Effect;

impl World {
    /// Runs effects on behalf of window `from`. What names a window or element that is not open now
    /// is passed over: a real program would not find it either.
    pub(crate) fn run(&mut self, effects: &[Effect], from: Option<WindowId>) {
        for effect in effects {
            self.run_one(effect, from);
        }
    }

    fn run_one(&mut self, effect: &Effect, from: Option<WindowId>) {
        if let Some(id) = effect.target()
            && !matches!(effect, Effect::After(..))
        {
            if let Some((w, e)) = self.by_scene_id(id) {
                self.run_on(effect, w, e);
            }
            return;
        }
        match effect {
            Effect::Open(title) => {
                if let Some(i) = self.scene.windows.iter().position(|w| w.title == *title) {
                    self.open(i);
                }
            }
            Effect::Close(title) => {
                let id = match title {
                    Some(title) => self.wins.iter().find(|w| w.title == *title).map(|w| w.id),
                    None => from,
                };
                if let Some(id) = id {
                    self.close(id);
                }
            }
            Effect::Activate(title) => {
                if let Some(id) = self.wins.iter().find(|w| w.title == *title).map(|w| w.id) {
                    self.activate(id);
                }
            }
            Effect::Type(text) => {
                let text = self.filled(text);
                if let Some((w, e)) = self.focused() {
                    self.insert(w, e, &text);
                }
            }
            Effect::Freeze(app) => self.freeze(app.as_deref(), from, true),
            Effect::Thaw(app) => self.freeze(Some(app), from, false),
            Effect::Quit(app) => {
                for pid in self.pids(app.as_deref(), from) {
                    self.kill(pid);
                }
            }
            Effect::Break(part) => {
                self.broken.insert(part.clone());
            }
            Effect::Mend(part) => {
                self.broken.remove(part);
            }
            Effect::After(time, effect) => self.later.push((*time, vec![(**effect).clone()], from)),
            _ => {}
        }
    }

    /// Effects on one element.
    fn run_on(&mut self, effect: &Effect, w: usize, e: usize) {
        self.damage_el(w, e);
        match effect {
            Effect::Set(_, text) => {
                let text = self.filled(text);
                self.set_text(w, e, &text);
            }
            Effect::Rename(_, name) => {
                self.wins[w].els[e].name = self.filled(name);
                self.event(ElementEventKind::Other, w, Some(e), "property-change:accessible-name");
            }
            Effect::Show(_) | Effect::Hide(_) => {
                self.wins[w].els[e].shown = matches!(effect, Effect::Show(_));
                self.event(ElementEventKind::StateChanged, w, Some(e), "state-changed:showing");
            }
            Effect::Enable(_) | Effect::Disable(_) => {
                self.wins[w].els[e].enabled = matches!(effect, Effect::Enable(_));
                self.event(ElementEventKind::StateChanged, w, Some(e), "state-changed:enabled");
            }
            Effect::Remove(_) => {
                self.event(ElementEventKind::ChildrenChanged, w, Some(e), "children-changed:remove");
                let els = &mut self.wins[w].els;
                for i in e..els.len() {
                    if i == e || els[i].spec.parent.is_some_and(|p| els[p].gone) {
                        els[i].gone = true;
                    }
                }
            }
            Effect::Focus(_) => {
                let id = self.wins[w].id;
                self.focus(w, e);
                self.activate(id);
            }
            Effect::Toggle(_) => self.toggle(w, e),
            Effect::Select(_) => self.select(w, e),
            _ => {}
        }
        if w < self.wins.len() && e < self.wins[w].els.len() {
            self.damage_el(w, e);
        }
    }

    /// `{#id}` replaced by values.
    fn filled(&self, text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(start) = rest.find("{#") {
            let Some(end) = rest[start..].find('}') else { break };
            out.push_str(&rest[..start]);
            if let Some((w, e)) = self.by_scene_id(&rest[start + 2..start + end]) {
                out.push_str(&self.wins[w].els[e].value);
            }
            rest = &rest[start + end + 1..];
        }
        out + rest
    }

    fn pids(&self, app: Option<&str>, from: Option<WindowId>) -> Vec<u32> {
        match app {
            Some(app) => {
                self.procs.iter().filter(|p| p.app == app || p.class == app).map(|p| p.pid).collect()
            }
            None => from.and_then(|id| self.win(id)).map(|w| self.wins[w].pid).into_iter().collect(),
        }
    }

    fn freeze(&mut self, app: Option<&str>, from: Option<WindowId>, frozen: bool) {
        for pid in self.pids(app, from) {
            if let Some(p) = self.proc(pid) {
                p.frozen = frozen;
                p.skip_until = None;
            }
        }
    }

    /// Ends a process and its windows.
    pub(crate) fn kill(&mut self, pid: u32) {
        let ids: Vec<WindowId> = self.wins.iter().filter(|w| w.pid == pid).map(|w| w.id).collect();
        for id in ids {
            self.close(id);
        }
        self.procs.retain(|p| p.pid != pid);
    }

    /// The element with the keyboard focus.
    pub(crate) fn focused(&self) -> Option<(usize, usize)> {
        let w = self.win(self.active?)?;
        Some((w, self.wins[w].focus.filter(|e| !self.wins[w].els[*e].gone)?))
    }

    pub(crate) fn focus(&mut self, w: usize, e: usize) {
        if self.wins[w].focus != Some(e) {
            if let Some(old) = self.wins[w].focus.replace(e) {
                self.damage_el(w, old);
            }
            self.damage_el(w, e);
            self.event(ElementEventKind::FocusChanged, w, Some(e), "state-changed:focused");
        }
    }

    pub(crate) fn toggle(&mut self, w: usize, e: usize) {
        let el = &mut self.wins[w].els[e];
        el.checked = !el.checked;
        self.damage_el(w, e);
        self.event(ElementEventKind::StateChanged, w, Some(e), "state-changed:checked");
    }

    pub(crate) fn select(&mut self, w: usize, e: usize) {
        let (parent, role) = (self.wins[w].els[e].spec.parent, self.wins[w].els[e].spec.role);
        for i in 0..self.wins[w].els.len() {
            let el = &mut self.wins[w].els[i];
            if el.spec.parent == parent && el.spec.role == role && el.selected != (i == e) {
                el.selected = i == e;
                if role == Role::RadioButton {
                    el.checked = i == e;
                }
                self.damage_el(w, i);
            }
        }
        self.event(ElementEventKind::SelectionChanged, w, Some(e), "selection-changed");
    }

    /// Inserts at the caret, or over everything when all is selected.
    pub(crate) fn insert(&mut self, w: usize, e: usize, text: &str) {
        let el = &mut self.wins[w].els[e];
        if !el.is_edit() || el.spec.readonly || !el.enabled {
            return;
        }
        if el.all_selected {
            el.value.clear();
            el.caret = 0;
        }
        let at = el.value.char_indices().nth(el.caret).map_or(el.value.len(), |(i, _)| i);
        el.value.insert_str(at, text);
        el.caret += text.chars().count();
        el.all_selected = false;
        self.text_changed(w, e);
    }

    /// Deletes one character before (`back`) or after the caret, or what is selected.
    pub(crate) fn delete(&mut self, w: usize, e: usize, back: bool) {
        let el = &mut self.wins[w].els[e];
        if !el.is_edit() || el.spec.readonly {
            return;
        }
        if el.all_selected {
            el.value.clear();
            el.caret = 0;
            el.all_selected = false;
        } else {
            let at = if back { el.caret.checked_sub(1) } else { Some(el.caret) };
            let found = at.and_then(|at| el.value.char_indices().nth(at));
            let Some((i, _)) = found else { return };
            el.value.remove(i);
            el.caret = at.unwrap_or(0);
        }
        self.text_changed(w, e);
    }

    /// Replaces the whole text; a label's text is its name.
    pub(crate) fn set_text(&mut self, w: usize, e: usize, text: &str) {
        let el = &mut self.wins[w].els[e];
        text.clone_into(&mut el.value);
        el.caret = text.chars().count();
        el.all_selected = false;
        if matches!(el.spec.role, Role::Label | Role::Heading | Role::Paragraph | Role::StatusBar) {
            text.clone_into(&mut el.name);
        }
        self.text_changed(w, e);
    }

    fn text_changed(&mut self, w: usize, e: usize) {
        self.damage_el(w, e);
        self.event(ElementEventKind::TextChanged, w, Some(e), "text-changed:insert");
    }

    /// What a click or the default action does. False when it was swallowed.
    pub(crate) fn press(&mut self, w: usize, e: usize) -> bool {
        let el = &self.wins[w].els[e];
        if !el.enabled || el.spec.noop || el.spec.hover {
            return false;
        }
        let (role, effects, slow) = (el.spec.role, el.spec.effects.clone(), el.spec.slow);
        let from = Some(self.wins[w].id);
        match role {
            Role::CheckBox | Role::ToggleButton => self.toggle(w, e),
            Role::RadioButton | Role::ListItem | Role::Tab | Role::TreeItem | Role::Row | Role::Cell => {
                self.select(w, e);
            }
            Role::Menu => self.expand(w, e, !self.wins[w].els[e].expanded),
            Role::MenuItem => {
                self.close_menus(w);
            }
            Role::ComboBox | Role::Button | Role::Link => {
                self.damage_el(w, e);
                self.event(ElementEventKind::StateChanged, w, Some(e), "state-changed:pressed");
            }
            _ => {}
        }
        if slow.is_zero() {
            self.run(&effects, from);
        } else {
            self.later.push((slow, effects, from));
        }
        true
    }

    /// Opens or closes a menu, with its entries.
    pub(crate) fn expand(&mut self, w: usize, e: usize, open: bool) {
        let entries: Vec<usize> =
            (0..self.wins[w].els.len()).filter(|i| self.menu_of(w, *i) == Some(e)).collect();
        for i in &entries {
            self.damage_el(w, *i);
        }
        self.wins[w].els[e].expanded = open;
        for i in &entries {
            self.damage_el(w, *i);
        }
        self.event(ElementEventKind::StateChanged, w, Some(e), "state-changed:expanded");
    }

    /// Closes every open menu of a window; true when one was open.
    pub(crate) fn close_menus(&mut self, w: usize) -> bool {
        let open: Vec<usize> =
            (0..self.wins[w].els.len()).filter(|i| self.wins[w].els[*i].expanded).collect();
        for e in open.iter().rev() {
            self.expand(w, *e, false);
        }
        !open.is_empty()
    }
}
