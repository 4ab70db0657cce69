//! What shows where: places, visibility, paint order, hit tests.

use deskhand_protocol::{Point, Rect, Role};

use super::world::World;

impl World {
    /// Where element `e` of window `w` is on the desktop, scrolled parents counted in.
    pub(crate) fn el_rect(&self, w: usize, e: usize) -> Rect {
        let win = &self.wins[w];
        let mut rect = win.els[e].rect;
        let mut up = win.els[e].spec.parent;
        while let Some(p) = up {
            rect.y -= win.els[p].scroll;
            up = win.els[p].spec.parent;
        }
        Rect { x: rect.x + win.bounds.x, y: rect.y + win.bounds.y, ..rect }
    }

    /// The part of it that shows, if any: shown, not in a closed menu, not scrolled away.
    pub(crate) fn showing(&self, w: usize, e: usize) -> Option<Rect> {
        let win = &self.wins[w];
        if win.minimized || !self.visible(w, e) {
            return None;
        }
        let mut rect = self.el_rect(w, e);
        // A menu hangs out of its window; everything else is cut by it.
        if self.menu_of(w, e).is_none() {
            rect = rect.intersect(&win.content())?;
        }
        let mut up = win.els[e].spec.parent;
        while let Some(p) = up {
            match win.els[p].spec.role {
                Role::Menu if !win.els[p].expanded => return None,
                Role::ScrollArea => rect = rect.intersect(&self.el_rect(w, p))?,
                _ => {}
            }
            up = win.els[p].spec.parent;
        }
        (!rect.is_empty()).then_some(rect)
    }

    /// Shown, as all its parents are.
    pub(crate) fn visible(&self, w: usize, e: usize) -> bool {
        let els = &self.wins[w].els;
        let mut at = Some(e);
        while let Some(i) = at {
            if els[i].gone || !els[i].shown {
                return false;
            }
            at = els[i].spec.parent;
        }
        true
    }

    /// The menu an element is an entry of.
    pub(crate) fn menu_of(&self, w: usize, e: usize) -> Option<usize> {
        let els = &self.wins[w].els;
        els[e].spec.parent.filter(|p| els[*p].spec.role == Role::Menu)
    }

    /// What shows of a window, in the order it is painted: entries of open menus last.
    pub(crate) fn paint(&self, w: usize) -> Vec<(usize, Rect)> {
        let all = (0..self.wins[w].els.len()).filter_map(|e| Some((e, self.showing(w, e)?)));
        let (mut below, above): (Vec<_>, Vec<_>) = all.partition(|(e, _)| self.menu_of(w, *e).is_none());
        below.extend(above);
        below
    }

    /// The topmost window and element at a point.
    pub(crate) fn hit(&self, p: Point) -> Option<(usize, Option<usize>)> {
        // Open menus lie above every window.
        let shown = |w: &usize| !self.wins[*w].minimized;
        for w in (0..self.wins.len()).filter(shown) {
            let menu =
                self.paint(w).into_iter().rev().find(|(e, r)| self.menu_of(w, *e).is_some() && r.contains(p));
            if let Some((e, _)) = menu {
                return Some((w, Some(e)));
            }
        }
        let w = (0..self.wins.len()).filter(shown).find(|w| self.wins[*w].bounds.contains(p))?;
        let e = self.paint(w).into_iter().rev().find(|(_, r)| r.contains(p)).map(|(e, _)| e);
        Some((w, e))
    }
}
