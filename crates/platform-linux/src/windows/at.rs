//! What lies at a point: the stacking order of everything on the screen, managed or not.

use deskhand_platform::{Result, Window};
use deskhand_protocol::{Point, Rect};
use x11rb::protocol::shape::{self, ConnectionExt as _, SK};
use x11rb::protocol::xproto::{ConnectionExt as _, MapState, Window as XWindow, WindowClass};

use super::read;
use crate::screen::Layout;
use crate::x11::{Conn, Reply};

const DOING: &str = "looking for the window at a point";
/// How deep below a frame the client window may lie.
const DEEPEST: usize = 4;

/// The topmost window that would get a click at `point` (physical).
pub(super) fn at(conn: &Conn, point: Point, layout: &Layout) -> Result<Option<Window>> {
    let children = conn.x.query_tree(conn.root).wait(DOING)?.children;
    let questions: Vec<_> = children
        .iter()
        .rev()
        .map(|&id| (id, conn.x.get_geometry(id), conn.x.get_window_attributes(id)))
        .collect();
    let mut under = Vec::new();
    for (id, geometry, attributes) in questions {
        let (Some(g), Some(a)) = (geometry.wait_opt(DOING)?, attributes.wait_opt(DOING)?) else { continue };
        let border = 2 * i32::from(g.border_width);
        let rect =
            Rect::new(g.x.into(), g.y.into(), i32::from(g.width) + border, i32::from(g.height) + border);
        if a.map_state == MapState::VIEWABLE && a.class == WindowClass::INPUT_OUTPUT && rect.contains(point) {
            under.push((id, rect));
        }
    }
    let shapes = conn.has(shape::X11_EXTENSION_NAME)?;
    let managed = read::client_list(conn).unwrap_or_default();
    let active = read::active(conn)?;
    for (id, rect) in under {
        // Overlays and shadows let the click through by their input shape.
        if shapes
            && let Some(shape) = conn.x.shape_get_rectangles(id, SK::INPUT).wait_opt(DOING)?
            && !shape.rectangles.iter().any(|r| {
                Rect::new(rect.x + i32::from(r.x), rect.y + i32::from(r.y), r.width.into(), r.height.into())
                    .contains(point)
            })
        {
            continue;
        }
        let client = if managed.is_empty() { None } else { client_below(conn, id, &managed)? };
        let Some(window) = read::read(conn, &[client.unwrap_or(id)], active, layout)?.pop() else { continue };
        return Ok(Some(if client.is_some() {
            window
        } else {
            unmanaged(conn, window, &managed, active, layout)?
        }));
    }
    Ok(None)
}

/// A menu or tool tip: no title, and the window of its process as its owner.
fn unmanaged(
    conn: &Conn,
    mut window: Window,
    managed: &[XWindow],
    active: Option<XWindow>,
    layout: &Layout,
) -> Result<Window> {
    window.title.clear();
    if let Some(pid) = window.pid {
        let own: Vec<_> =
            read::read(conn, managed, active, layout)?.into_iter().filter(|w| w.pid == Some(pid)).collect();
        let owner = own.iter().find(|w| w.focused).or(own.first());
        if let Some(owner) = owner {
            window.transient_for = Some(owner.id);
            if window.app.is_empty() {
                window.app.clone_from(&owner.app);
            }
        }
    }
    Ok(window)
}

/// The managed window inside a frame.
fn client_below(conn: &Conn, top: XWindow, managed: &[XWindow]) -> Result<Option<XWindow>> {
    let mut level = vec![top];
    for _ in 0..DEEPEST {
        if let Some(&found) = level.iter().find(|id| managed.contains(id)) {
            return Ok(Some(found));
        }
        let trees: Vec<_> = level.iter().take(64).map(|&id| conn.x.query_tree(id)).collect();
        level.clear();
        for tree in trees {
            level.extend(tree.wait_opt(DOING)?.map(|t| t.children).unwrap_or_default());
        }
    }
    Ok(None)
}
