//! Reading the clipboard from whoever owns it, with an end to every wait.

use std::os::fd::AsFd;
use std::time::Duration;

use deskhand_platform::{PlatformError, Result, Scope};
use rustix::event::PollFlags;
use x11rb::connection::Connection;
use x11rb::protocol::Event;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateWindowAux, EventMask, GetPropertyReply, Property, Window, WindowClass,
};

use super::NO_DATA;
use crate::x11::{Conn, Reply, stream_wait};

const DOING: &str = "reading the clipboard";
/// An owner that says nothing for this long does not answer.
const SILENCE: Duration = Duration::from_secs(3);
/// Formats looked at.
const OFFERED: usize = 64;

/// One short-lived connection with a window to receive into.
pub(super) struct Reader {
    conn: Conn,
    window: Window,
}

impl Reader {
    pub(super) fn open(display: Option<&str>) -> Result<Self> {
        let conn = Conn::open(display)?;
        let window = conn.id()?;
        conn.x
            .create_window(
                0,
                window,
                conn.root,
                -1,
                -1,
                1,
                1,
                0,
                WindowClass::INPUT_ONLY,
                x11rb::COPY_FROM_PARENT,
                &CreateWindowAux::new().event_mask(EventMask::PROPERTY_CHANGE),
            )
            .wait(DOING)?;
        Ok(Self { conn, window })
    }

    /// The owner's window; 0 when there is none.
    pub(super) fn owner(&self) -> Result<Window> {
        Ok(self.conn.x.get_selection_owner(self.conn.atoms.CLIPBOARD).wait(DOING)?.owner)
    }

    /// The data formats offered; empty when nobody owns it.
    pub(super) fn targets(&self, scope: &Scope) -> Result<Vec<String>> {
        if self.owner()? == 0 {
            return Ok(Vec::new());
        }
        let Some(bytes) = self.read("TARGETS", 64 * 1024, scope)? else { return Ok(Vec::new()) };
        let atoms = bytes.as_chunks::<4>().0.iter().map(|c| u32::from_ne_bytes(*c));
        let names: Vec<_> = atoms.take(OFFERED).map(|a| self.conn.x.get_atom_name(a)).collect();
        let mut out = Vec::new();
        for name in names {
            if let Some(reply) = name.wait_opt(DOING)? {
                let name = String::from_utf8_lossy(&reply.name).into_owned();
                if !NO_DATA.contains(&name.as_str()) && !out.contains(&name) {
                    out.push(name);
                }
            }
        }
        Ok(out)
    }

    /// The contents in one format; `None` when the owner does not give it.
    pub(super) fn read(&self, format: &str, most: usize, scope: &Scope) -> Result<Option<Vec<u8>>> {
        let a = &self.conn.atoms;
        let target = self.conn.x.intern_atom(false, format.as_bytes()).wait(DOING)?.atom;
        self.conn.x.delete_property(self.window, a._DESKHAND_CLIPBOARD).wait(DOING)?;
        self.drain()?;
        self.conn
            .x
            .convert_selection(self.window, a.CLIPBOARD, target, a._DESKHAND_CLIPBOARD, x11rb::CURRENT_TIME)
            .wait(DOING)?;
        loop {
            if let Event::SelectionNotify(e) = self.next(scope)?
                && e.target == target
            {
                if e.property == x11rb::NONE {
                    return Ok(None);
                }
                break;
            }
        }
        let reply = self.take(most)?;
        if reply.type_ != a.INCR {
            return Ok(Some(reply.value));
        }
        // In pieces: each appears in the property once we have taken the one before.
        let mut out = Vec::new();
        loop {
            match self.next(scope)? {
                Event::PropertyNotify(e)
                    if e.atom == a._DESKHAND_CLIPBOARD && e.state == Property::NEW_VALUE =>
                {
                    let piece = self.take(most)?.value;
                    if piece.is_empty() {
                        return Ok(Some(out));
                    }
                    if out.len() + piece.len() > most {
                        return Err(too_large(most));
                    }
                    out.extend(piece);
                }
                _ => {}
            }
        }
    }

    /// The property's value; taken away, which tells the owner to go on.
    fn take(&self, most: usize) -> Result<GetPropertyReply> {
        let words = u32::try_from(most / 4 + 1).unwrap_or(u32::MAX);
        let name = self.conn.atoms._DESKHAND_CLIPBOARD;
        let reply = self.conn.x.get_property(true, self.window, name, AtomEnum::ANY, 0, words).wait(DOING)?;
        if reply.bytes_after > 0 { Err(too_large(most)) } else { Ok(reply) }
    }

    fn drain(&self) -> Result<()> {
        while self.conn.x.poll_for_event().map_err(|e| PlatformError::display(DOING, e))?.is_some() {}
        Ok(())
    }

    /// The next event; an owner that stays silent is an error.
    fn next(&self, scope: &Scope) -> Result<Event> {
        let silence = scope.within(SILENCE);
        loop {
            if let Some(event) = self.conn.x.poll_for_event().map_err(|e| PlatformError::display(DOING, e))? {
                return Ok(event);
            }
            scope.check(DOING)?;
            let left = silence.remaining();
            if left.is_zero() {
                return Err(PlatformError::AppUnresponsive {
                    app: "the program that owns the clipboard".into(),
                    doing: DOING.into(),
                });
            }
            // Short slices, so that a cancelled call ends soon.
            let slice = left.min(Duration::from_millis(20));
            stream_wait(self.conn.x.stream().as_fd(), PollFlags::IN, Some(slice))
                .map_err(|e| PlatformError::display(DOING, e))?;
        }
    }
}

fn too_large(most: usize) -> PlatformError {
    PlatformError::Invalid { field: "clipboard".into(), why: format!("it holds more than {most} bytes") }
}
