//! Knowing that a program has handled the keys it was sent.
//!
//! `_NET_WM_PING` is answered by the toolkit from the same queue the key events wait in, so its echo
//! says that everything before it has been turned into text. Programs that do not know it (xterm) get
//! time instead.

use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use deskhand_platform::{PlatformError, Result};
use rustix::event::PollFlags;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ChangeWindowAttributesAux, ClientMessageEvent, ConnectionExt as _, EventMask, Window,
};

use crate::x11::{Conn, Reply, stream_wait};

const DOING: &str = "waiting for the program to take the keys";

/// Time for the first echo; without one the program gets time for every change instead.
const FIRST: Duration = Duration::from_millis(1000);

/// Pings one window. Its connection hears about all top-level windows until it is ended.
pub(super) struct Barrier {
    window: Window,
    serial: u32,
}

impl Barrier {
    /// For the window that has the keyboard; `None` when it does not know pings.
    pub(super) fn new(conn: &Conn) -> Result<Option<Self>> {
        let mut window = conn.x.get_input_focus().wait(DOING)?.focus;
        for _ in 0..8 {
            if window <= 1 || window == conn.root {
                return Ok(None);
            }
            let protocols =
                conn.x.get_property(false, window, conn.atoms.WM_PROTOCOLS, AtomEnum::ATOM, 0, 64);
            let tree = conn.x.query_tree(window);
            let known = protocols
                .wait_opt(DOING)?
                .is_some_and(|p| p.value32().is_some_and(|mut v| v.any(|a| a == conn.atoms._NET_WM_PING)));
            let tree = tree.wait_opt(DOING)?;
            if known {
                listen(conn, EventMask::SUBSTRUCTURE_NOTIFY)?;
                let mut barrier = Self { window, serial: 0x0de5_0000 };
                // Tried before it is relied on: some say they know it and do not answer.
                if barrier.wait(conn, FIRST, || false)? {
                    return Ok(Some(barrier));
                }
                Self::end(conn)?;
                return Ok(None);
            }
            match tree {
                Some(tree) => window = tree.parent,
                None => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Waits for the echo; false when none came in time or `stop` said so.
    pub(super) fn wait(&mut self, conn: &Conn, limit: Duration, stop: impl Fn() -> bool) -> Result<bool> {
        self.serial = self.serial.wrapping_add(1);
        let a = &conn.atoms;
        let ping = [a._NET_WM_PING, self.serial, self.window, 0, 0];
        let message = ClientMessageEvent::new(32, self.window, a.WM_PROTOCOLS, ping);
        if conn.x.send_event(false, self.window, EventMask::NO_EVENT, message).wait_opt(DOING)?.is_none() {
            return Ok(true); // The window is gone: nobody is left to misread anything.
        }
        let until = Instant::now() + limit;
        loop {
            while let Some(event) = conn.x.poll_for_event().map_err(|e| PlatformError::display(DOING, e))? {
                if let Event::ClientMessage(e) = event
                    && e.window == conn.root
                    && e.data.as_data32()[..3] == ping[..3]
                {
                    return Ok(true);
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || stop() {
                return Ok(false);
            }
            stream_wait(conn.x.stream().as_fd(), PollFlags::IN, Some(left.min(Duration::from_millis(10))))
                .map_err(|e| PlatformError::display(DOING, e))?;
        }
    }

    /// Stops listening.
    pub(super) fn end(conn: &Conn) -> Result<()> {
        listen(conn, EventMask::NO_EVENT)
    }
}

fn listen(conn: &Conn, mask: EventMask) -> Result<()> {
    let attributes = ChangeWindowAttributesAux::new().event_mask(mask);
    conn.x.change_window_attributes(conn.root, &attributes).wait(DOING)
}
