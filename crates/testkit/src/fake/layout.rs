//! Places for what has none: rows of 24 pixels, containers around their children.

use deskhand_protocol::{Rect, Role};

use super::world::{BORDER, TITLE};
use crate::scene::WindowSpec;

const ROW: i32 = 24;
const GAP: i32 = 8;
const WIDTH: i32 = 240;

fn int(v: u32) -> i32 {
    i32::try_from(v).unwrap_or(i32::MAX)
}

/// Bounds of window number `n`: cascaded and large enough for its rows when the scene does not say.
pub(crate) fn window(spec: &WindowSpec, n: usize, display: Rect) -> Rect {
    let step = 30 * i32::try_from(n % 12).unwrap_or(0);
    let (x, y) = spec.at.map_or((display.x + 40 + step, display.y + 40 + step), |p| (p.x, p.y));
    let (width, height) = spec.size.map_or_else(
        || {
            let rows = place(spec, Rect::new(0, 0, WIDTH + 2 * (GAP + BORDER), 0)).1;
            (WIDTH + 2 * (GAP + BORDER), (rows + TITLE + BORDER).max(120))
        },
        |s| (int(s.width), int(s.height)),
    );
    Rect::new(x, y, width, height)
}

/// Rectangles of a window's elements, relative to the window.
pub(crate) fn elements(spec: &WindowSpec, bounds: Rect) -> Vec<Rect> {
    place(spec, bounds).0
}

/// The rectangles and the height of the content.
fn place(spec: &WindowSpec, bounds: Rect) -> (Vec<Rect>, i32) {
    let mut rects = vec![Rect::default(); spec.elements.len()];
    let width = (bounds.width - 2 * (GAP + BORDER)).clamp(16, 400);
    let mut y = TITLE + GAP;
    for i in (0..spec.elements.len()).filter(|i| spec.elements[*i].parent.is_none()) {
        y += one(spec, bounds, i, GAP + BORDER, y, width, &mut rects);
    }
    (rects, y - TITLE)
}

/// Places element `i` and what is in it; the height it takes in its column.
fn one(spec: &WindowSpec, bounds: Rect, i: usize, x: i32, y: i32, width: i32, rects: &mut [Rect]) -> i32 {
    let e = &spec.elements[i];
    let fixed = e.at.is_some();
    let (x, free) = e
        .at
        .map_or_else(|| (x, below_fixed(spec, bounds, i, x, y, width)), |p| (p.x - bounds.x, p.y - bounds.y));
    let skipped = if fixed { 0 } else { free - y };
    let y = free;
    let children: Vec<usize> =
        (i + 1..spec.elements.len()).filter(|c| spec.elements[*c].parent == Some(i)).collect();
    let menu = e.role == Role::Menu;
    // A menu's entries hang below it (or beside it, for a menu in a menu) and take no room in the column.
    let nested = menu && e.parent.is_some_and(|p| spec.elements[p].role == Role::Menu);
    let (mut inner_x, mut inner_y, inner_width) = match (menu, nested) {
        (true, true) => (x + 160, y, 160),
        (true, false) => (x, y + ROW, 160),
        _ => (x + GAP / 2, y + GAP / 2, width - GAP),
    };
    let top = inner_y;
    let mut rows = 0;
    for child in children {
        if matches!(e.role, Role::MenuBar | Role::ToolBar | Role::TabList) {
            // Side by side.
            rows = rows.max(one(spec, bounds, child, inner_x, inner_y, 72, rects));
            inner_x += 76;
        } else {
            inner_y += one(spec, bounds, child, inner_x, inner_y, inner_width.max(16), rects);
            rows = inner_y - top;
        }
    }
    let height = match e.role {
        Role::Menu | Role::MenuItem => ROW,
        Role::ScrollArea => 96,
        Role::TextArea => 72,
        _ if rows > 0 => rows + GAP,
        _ => ROW,
    };
    let (width, height) = e.size.map_or((width, height), |s| (int(s.width), int(s.height)));
    rects[i] = Rect::new(x, y, width, height);
    if fixed { 0 } else { skipped + height + if menu || e.role == Role::MenuItem { 0 } else { 4 } }
}

/// The first row at or below `y` where no element with a place of its own lies.
fn below_fixed(spec: &WindowSpec, bounds: Rect, i: usize, x: i32, mut y: i32, width: i32) -> i32 {
    let same_parent = |e: &&crate::scene::ElementSpec| e.parent == spec.elements[i].parent;
    let fixed: Vec<Rect> = spec
        .elements
        .iter()
        .filter(same_parent)
        .filter_map(|e| {
            let (width, height) = e.size.map_or((WIDTH, ROW), |s| (int(s.width), int(s.height)));
            e.at.map(|p| Rect::new(p.x - bounds.x, p.y - bounds.y, width, height))
        })
        .collect();
    // Each round goes below at least one of them, so this ends.
    while let Some(r) = fixed.iter().find(|r| r.intersect(&Rect::new(x, y, width, ROW)).is_some()) {
        y = r.bottom() + 4;
    }
    y
}
