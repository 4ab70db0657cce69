//! Reading pixels from the X server through shared memory.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;

use deskhand_platform::{PlatformError, Result};
use deskhand_protocol::Rect;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use x11rb::connection::Connection;
use x11rb::protocol::shm::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{ConnectionExt as _, ImageFormat, ImageOrder};

use crate::x11::{Conn, Reply};

const DOING: &str = "capturing the screen";

/// A memory segment shared with one X server.
pub(crate) struct Segment {
    conn: Arc<Conn>,
    id: shm::Seg,
    at: NonNull<c_void>,
    len: usize,
}

// SAFETY: the mapping belongs to this value alone; nothing in it is tied to a thread.
unsafe impl Send for Segment {}

impl Segment {
    /// A segment of `len` bytes; `None` when the server has no shared memory for us (it is remote, or
    /// older than MIT-SHM 1.2).
    fn new(conn: &Arc<Conn>, len: usize) -> Result<Option<Self>> {
        if !conn.has(shm::X11_EXTENSION_NAME)? {
            return Ok(None);
        }
        let version = conn.x.shm_query_version().wait(DOING)?;
        if (version.major_version, version.minor_version) < (1, 2) {
            return Ok(None);
        }
        let io = |e: rustix::io::Errno| PlatformError::other("making shared memory", std::io::Error::from(e));
        let fd = memfd_create("deskhand-screen", MemfdFlags::CLOEXEC).map_err(io)?;
        ftruncate(&fd, len as u64).map_err(io)?;
        // SAFETY: a fresh mapping of a file we have just made, at an address the kernel chooses.
        let at = unsafe { mmap(null_mut(), len, ProtFlags::READ, MapFlags::SHARED, &fd, 0) }.map_err(io)?;
        let Some(at) = NonNull::new(at) else { return Ok(None) };
        let segment = Self { conn: Arc::clone(conn), id: conn.id()?, at, len };
        Ok(conn.x.shm_attach_fd(segment.id, fd, false).wait_opt(DOING)?.map(|()| segment))
    }

    /// Copies `len` bytes out.
    fn copy_to(&self, len: usize, out: &mut Vec<u8>) {
        let len = len.min(self.len);
        out.clear();
        out.reserve_exact(len);
        // SAFETY: `out` has room for `len` bytes, `len` lies inside the mapping, and the two do not
        // overlap. The server has answered, so it no longer writes; were it to, we would copy torn
        // pixels, which are plain bytes.
        unsafe {
            std::ptr::copy_nonoverlapping(self.at.as_ptr().cast::<u8>(), out.as_mut_ptr(), len);
            out.set_len(len);
        }
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        // A server that is gone has let go of it already.
        let _ = self.conn.x.shm_detach(self.id);
        let _ = self.conn.x.flush();
        // SAFETY: the very mapping made in `new`; nothing borrows from it after this.
        let _ = unsafe { munmap(self.at.as_ptr(), self.len) };
    }
}

/// Grabs rectangles of the root window, with shared memory where there is some.
#[derive(Default)]
pub(crate) struct Grabber {
    segment: Option<Segment>,
    /// The connection that was found to have no shared memory.
    without: Option<usize>,
}

impl Grabber {
    /// Reads `rect` (physical, inside the root window) into `out` as BGRX rows.
    pub(crate) fn grab(&mut self, conn: &Arc<Conn>, rect: Rect, out: &mut Vec<u8>) -> Result<()> {
        check_format(conn)?;
        let (x, y) = (rect.x as i16, rect.y as i16);
        let (w, h) = (rect.width as u16, rect.height as u16);
        let len = usize::from(w) * usize::from(h) * 4;
        if self.segment.as_ref().is_some_and(|s| s.len < len || !Arc::ptr_eq(&s.conn, conn)) {
            self.segment = None;
        }
        let key = Arc::as_ptr(conn) as usize;
        if self.segment.is_none() && self.without != Some(key) {
            self.segment = Segment::new(conn, len)?;
            self.without = self.segment.is_none().then_some(key);
        }
        match &self.segment {
            Some(segment) => {
                let reply = conn
                    .x
                    .shm_get_image(conn.root, x, y, w, h, !0, ImageFormat::Z_PIXMAP.into(), segment.id, 0)
                    .wait(DOING)?;
                segment.copy_to(len.min(reply.size as usize), out);
            }
            None => {
                let reply = conn.x.get_image(ImageFormat::Z_PIXMAP, conn.root, x, y, w, h, !0).wait(DOING)?;
                *out = reply.data;
            }
        }
        if out.len() != len {
            let why = format!("the server sent {} bytes for {w}×{h} pixels", out.len());
            return Err(PlatformError::other(DOING, why));
        }
        Ok(())
    }

    /// Gives the memory back.
    pub(crate) fn release(&mut self) {
        self.segment = None;
    }
}

/// We read 32-bit little-endian RGB only; every 24-bit display has it.
fn check_format(conn: &Conn) -> Result<()> {
    let setup = conn.x.setup();
    let screen = conn.setup_screen();
    let bits = setup.pixmap_formats.iter().find(|f| f.depth == screen.root_depth).map(|f| f.bits_per_pixel);
    let visual = screen
        .allowed_depths
        .iter()
        .flat_map(|d| &d.visuals)
        .find(|v| v.visual_id == screen.root_visual)
        .is_some_and(|v| v.red_mask == 0xff_0000 && v.green_mask == 0xff00 && v.blue_mask == 0xff);
    if bits == Some(32) && visual && setup.image_byte_order == ImageOrder::LSB_FIRST {
        return Ok(());
    }
    Err(PlatformError::Unsupported {
        what: "screen capture".into(),
        why: format!(
            "the display has a depth of {} bits; run it with 24 (Xvfb: -screen 0 1280x800x24)",
            screen.root_depth
        ),
    })
}
