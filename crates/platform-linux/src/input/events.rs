//! Single events through XTEST.

use deskhand_platform::{PlatformError, Result};
use deskhand_protocol::Point;
use x11rb::protocol::xproto;
use x11rb::protocol::xtest::ConnectionExt as _;

use crate::x11::Conn;

const DOING: &str = "sending input";

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    KeyDown,
    KeyUp,
    ButtonDown,
    ButtonUp,
}

/// Sends events; buffered until flushed.
pub(super) struct Events<'c>(pub(super) &'c Conn);

impl Events<'_> {
    /// A key or button event.
    pub(super) fn send(&self, kind: Kind, detail: u8) -> Result<()> {
        let kind = match kind {
            Kind::KeyDown => xproto::KEY_PRESS_EVENT,
            Kind::KeyUp => xproto::KEY_RELEASE_EVENT,
            Kind::ButtonDown => xproto::BUTTON_PRESS_EVENT,
            Kind::ButtonUp => xproto::BUTTON_RELEASE_EVENT,
        };
        self.fake(kind, detail, Point::new(0, 0))
    }

    /// Puts the pointer at a physical point.
    pub(super) fn motion(&self, to: Point) -> Result<()> {
        self.fake(xproto::MOTION_NOTIFY_EVENT, 0, to)
    }

    fn fake(&self, kind: u8, detail: u8, at: Point) -> Result<()> {
        let conn = self.0;
        conn.x
            .xtest_fake_input(kind, detail, 0, conn.root, at.x as i16, at.y as i16, 0)
            .map(drop)
            .map_err(|e| PlatformError::display(DOING, e))
    }
}
