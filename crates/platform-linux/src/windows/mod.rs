//! Top-level windows through the window manager (EWMH).

mod at;
mod change;
mod read;
mod text;

use std::sync::Arc;

use deskhand_platform::{PlatformError, Result, Scope, Window, WindowChange, WindowId, Windows};
use deskhand_protocol::{Point, Rect};
use x11rb::protocol::xproto::Window as XWindow;

pub(crate) use self::read::{manager, physical_bounds};
use crate::lookup::WindowLookup;
use crate::screen::Displays;
use crate::x11::{Conn, Link};

/// The windows facet on X11.
pub(crate) struct X11Windows {
    link: Arc<Link>,
    displays: Arc<Displays>,
}

impl X11Windows {
    pub(crate) fn new(link: Arc<Link>, displays: Arc<Displays>) -> Self {
        Self { link, displays }
    }

    /// Everything on the screen that has a title or is managed: what `list` gives, and without a
    /// window manager the mapped windows of the root. For waiting until a program shows itself.
    pub(crate) fn any(&self) -> Result<Vec<Window>> {
        match self.list() {
            Err(PlatformError::Unsupported { .. }) => self.link.with(|conn| {
                let layout = self.displays.layout(conn)?;
                let ids = change::mapped(conn)?;
                read::read(conn, &ids, None, &layout)
            }),
            other => other,
        }
    }

    /// Asks a window to close without waiting.
    pub(crate) fn ask_to_close(&self, id: WindowId) -> Result<()> {
        self.link.with(|conn| change::ask_to_close(conn, x_id(id)?))
    }

    fn one(&self, conn: &Conn, id: XWindow) -> Result<Option<Window>> {
        let layout = self.displays.layout(conn)?;
        Ok(read::read(conn, &[id], read::active(conn)?, &layout)?.pop())
    }
}

/// An id the X server can know.
fn x_id(id: WindowId) -> Result<XWindow> {
    XWindow::try_from(id.0).map_err(|_| not_found(id))
}

fn not_found(id: WindowId) -> PlatformError {
    PlatformError::WindowNotFound { what: format!("with id {}", id.0) }
}

impl Windows for X11Windows {
    fn list(&self) -> Result<Vec<Window>> {
        self.link.with(|conn| {
            let ids = read::client_list(conn)?;
            let layout = self.displays.layout(conn)?;
            read::read(conn, &ids, read::active(conn)?, &layout)
        })
    }

    fn active(&self) -> Result<Option<Window>> {
        self.link.with(|conn| {
            read::require_manager(conn)?;
            match read::active(conn)? {
                Some(id) => self.one(conn, id),
                None => Ok(None),
            }
        })
    }

    fn activate(&self, id: WindowId, scope: &Scope) -> Result<()> {
        self.link.with(|conn| {
            let x = change::managed(conn, id)?;
            change::activate(conn, x, scope)
        })
    }

    fn change(&self, id: WindowId, change: WindowChange, scope: &Scope) -> Result<Option<Window>> {
        self.link.with(|conn| {
            let x = change::managed(conn, id)?;
            change::change(conn, x, change, scope)?;
            self.one(conn, x)
        })
    }

    fn at(&self, point: Point) -> Result<Option<Window>> {
        self.link.with(|conn| {
            let layout = self.displays.layout(conn)?;
            let physical = layout.scale.point_up(point);
            if !layout.root.contains(physical) {
                return Err(PlatformError::OutOfRange { what: format!("point {},{}", point.x, point.y) });
            }
            at::at(conn, physical, &layout)
        })
    }
}

impl WindowLookup for X11Windows {
    fn window(&self, id: WindowId) -> Option<(u32, Rect, String)> {
        let window = self.link.with(|conn| self.one(conn, x_id(id)?)).ok().flatten()?;
        Some((window.pid?, window.content, window.title))
    }

    fn windows_of(&self, pid: u32) -> Vec<(WindowId, Rect, String)> {
        self.any()
            .unwrap_or_default()
            .into_iter()
            .filter(|w| w.pid == Some(pid))
            .map(|w| (w.id, w.content, w.title))
            .collect()
    }
}
