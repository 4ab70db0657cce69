//! Pixels of the world: rectangles whose colour follows from what they stand for.

use std::hash::{Hash, Hasher};
use std::time::Instant;

use deskhand_protocol::{Rect, Size};

use super::world::{TITLE, World};

/// Pixels being drawn: one logical area at a whole-number scale.
pub(crate) struct Canvas {
    area: Rect,
    scale: i32,
    size: Size,
    pub(crate) data: Vec<u8>,
}

impl Canvas {
    pub(crate) fn new(area: Rect, scale: f64) -> Self {
        let size = World::physical(area, scale);
        Self {
            area,
            scale: scale as i32,
            size,
            data: vec![0; size.width as usize * size.height as usize * 4],
        }
    }

    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// Fills a logical rectangle with 0xRRGGBB.
    fn fill(&mut self, rect: Rect, colour: u32) {
        let Some(r) = rect.intersect(&self.area) else { return };
        let px = |v: i32| usize::try_from(v * self.scale).unwrap_or(0);
        let (left, right) = (px(r.x - self.area.x), px(r.right() - self.area.x));
        let [_, red, green, blue] = colour.to_be_bytes();
        let row: Vec<u8> = [blue, green, red, 0xff].repeat(right - left);
        for y in px(r.y - self.area.y)..px(r.bottom() - self.area.y) {
            let start = (y * self.size.width as usize + left) * 4;
            self.data[start..start + row.len()].copy_from_slice(&row);
        }
    }

    /// Draws the edge of a rectangle, inside it.
    fn frame(&mut self, r: Rect, thickness: i32, colour: u32) {
        let t = thickness.min(r.width).min(r.height);
        self.fill(Rect { height: t, ..r }, colour);
        self.fill(Rect { y: r.bottom() - t, height: t, ..r }, colour);
        self.fill(Rect { width: t, ..r }, colour);
        self.fill(Rect { x: r.right() - t, width: t, ..r }, colour);
    }
}

/// A light colour that stands for `what`; the same thing always has the same one.
fn colour(what: impl Hash) -> u32 {
    let mut hasher = std::hash::DefaultHasher::new();
    what.hash(&mut hasher);
    (hasher.finish() as u32 & 0x003f_3f3f) | 0x00c0_c0c0
}

impl World {
    /// Draws everything inside the canvas, bottom to top.
    pub(crate) fn draw(&self, canvas: &mut Canvas) {
        for d in &self.displays {
            canvas.fill(d.bounds, 0x0030_4860);
        }
        for w in (0..self.wins.len()).rev().filter(|w| !self.wins[*w].minimized) {
            self.draw_window(canvas, w);
        }
        // Open menus lie above every window.
        for w in 0..self.wins.len() {
            self.draw_elements(canvas, w, true);
        }
        let now = Instant::now();
        for (until, h) in &self.highlights {
            if *until > now {
                canvas.frame(h.rect, i32::try_from(h.thickness).unwrap_or(4), h.color);
            }
        }
    }

    fn draw_window(&self, canvas: &mut Canvas, w: usize) {
        let win = &self.wins[w];
        let active = self.active == Some(win.id);
        canvas.fill(win.bounds, 0x00e8_e8e8);
        canvas.fill(
            Rect { height: TITLE, ..win.bounds },
            if active { colour(&win.title) & 0x007f_7fff } else { 0x0090_9090 },
        );
        canvas.frame(win.bounds, 1, 0x0020_2020);
        self.draw_elements(canvas, w, false);
    }

    fn draw_elements(&self, canvas: &mut Canvas, w: usize, menus: bool) {
        let win = &self.wins[w];
        for (e, rect) in self.paint(w) {
            if self.menu_of(w, e).is_some() != menus {
                continue;
            }
            let el = &win.els[e];
            let focused = win.focus == Some(e) && self.active == Some(win.id);
            let state = (el.enabled, el.checked, el.selected, el.expanded, el.scroll, el.all_selected);
            // The spoken length stands for a password, so that typing shows and its letters do not.
            let value = if el.secure() { "•".repeat(el.value.chars().count()) } else { el.value.clone() };
            canvas.fill(rect, colour((el.spec.role, &el.name, value, state)));
            canvas.frame(rect, 1, if focused { 0x0000_60ff } else { 0x0060_6060 });
        }
    }
}
