//! A connection that is made when it is needed and made again when the server came back.

use std::os::fd::AsFd;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use deskhand_platform::{PlatformError, Result};
use x11rb::connection::{Connection, RequestConnection};
use x11rb::cookie::{Cookie, VoidCookie};
use x11rb::errors::{ConnectError, ConnectionError, ReplyError};
use x11rb::protocol::xproto::{AtomEnum, ConnectionExt as _, Screen, Window};
use x11rb::reexports::x11rb_protocol::{parse_display::parse_display, xauth::get_auth};
use x11rb::rust_connection::{DefaultStream, RustConnection};
use x11rb::x11_utils::TryParse;

use super::Scale;
use super::stream::{TimedStream, hung_up};

x11rb::atom_manager! {
    /// The names we use, looked up once per connection.
    pub(crate) Atoms: AtomsCookie {
        UTF8_STRING, COMPOUND_TEXT, TEXT, TARGETS, TIMESTAMP, MULTIPLE, INCR, CLIPBOARD,
        WM_PROTOCOLS, WM_DELETE_WINDOW, _NET_WM_PING, WM_STATE, WM_CHANGE_STATE, WM_CLIENT_MACHINE, WM_TRANSIENT_FOR,
        _NET_SUPPORTED, _NET_SUPPORTING_WM_CHECK, _NET_CLIENT_LIST, _NET_CLIENT_LIST_STACKING,
        _NET_ACTIVE_WINDOW, _NET_CLOSE_WINDOW, _NET_MOVERESIZE_WINDOW, _NET_FRAME_EXTENTS,
        _GTK_FRAME_EXTENTS, _NET_WM_NAME, _NET_WM_PID, _NET_WM_STATE, _NET_WM_STATE_MAXIMIZED_VERT,
        _NET_WM_STATE_MAXIMIZED_HORZ, _NET_WM_STATE_HIDDEN, _NET_WM_STATE_MODAL,
        _NET_WM_STATE_FULLSCREEN, _NET_WM_WINDOW_TYPE, _NET_WM_WINDOW_TYPE_DIALOG,
        _DESKHAND_CLIPBOARD, _DESKHAND_TIME, _DESKHAND_KEYS,
        TEXT_PLAIN_UTF8: b"text/plain;charset=utf-8",
        TEXT_PLAIN: b"text/plain",
    }
}

/// The plain connection type.
pub(crate) type Raw = RustConnection<TimedStream>;

/// A live connection with what is looked up once.
pub(crate) struct Conn {
    pub(crate) x: Raw,
    pub(crate) screen: usize,
    pub(crate) root: Window,
    pub(crate) atoms: Atoms,
    scale: AtomicI32,
}

impl Conn {
    /// Connects to `display` (default: `DISPLAY`).
    pub(crate) fn open(display: Option<&str>) -> Result<Self> {
        const DOING: &str = "connecting";
        let connect = || -> Result<(Raw, usize), ConnectError> {
            let parsed = parse_display(display)?;
            // x11rb adds 6000 to it for TCP and does not look whether that fits.
            if parsed.display > u16::MAX - 6000 {
                return Err(ConnectError::UnknownError);
            }
            let screen = usize::from(parsed.screen);
            let mut last = None;
            for address in parsed.connect_instruction() {
                match DefaultStream::connect(&address) {
                    Ok((stream, (family, host))) => {
                        let (name, data) =
                            get_auth(family, &host, parsed.display).unwrap_or(None).unwrap_or_default();
                        let raw =
                            Raw::connect_to_stream_with_auth_info(TimedStream(stream), screen, name, data)?;
                        return Ok((raw, screen));
                    }
                    Err(e) => last = Some(e),
                }
            }
            Err(last.map_or(ConnectError::UnknownError, ConnectError::IoError))
        };
        let (x, screen) = connect().map_err(|e| match e {
            // The server is there and does not let us in.
            ConnectError::SetupFailed(_) | ConnectError::SetupAuthenticate(_) => PlatformError::PermissionMissing {
                what: format!("connecting to the display {}: {}", display.unwrap_or_default(), e.to_string().trim()),
                fix: "start the host from the session that owns the display, or set XAUTHORITY to its cookie file".to_owned(),
            },
            e => PlatformError::display(DOING, e),
        })?;
        let root = x.setup().roots[screen].root;
        let atoms = Atoms::new(&x)
            .map_err(ReplyError::from)
            .and_then(AtomsCookie::reply)
            .map_err(|e| PlatformError::display(DOING, e))?;
        let text = x
            .get_property(false, root, AtomEnum::RESOURCE_MANAGER, AtomEnum::STRING, 0, 16 * 1024)
            .wait(DOING)?;
        let scale = Scale::from_resources(&text.value);
        Ok(Self { x, screen, root, atoms, scale: AtomicI32::new(scale.0) })
    }

    /// The screen as it was when we connected.
    pub(crate) fn setup_screen(&self) -> &Screen {
        &self.x.setup().roots[self.screen]
    }

    /// The scale as last read.
    pub(crate) fn scale(&self) -> Scale {
        Scale(self.scale.load(Ordering::Relaxed))
    }

    /// Keeps the scale that was read last.
    pub(crate) fn set_scale(&self, scale: Scale) {
        self.scale.store(scale.0, Ordering::Relaxed);
    }

    /// Whether an extension is there.
    pub(crate) fn has(&self, extension: &'static str) -> Result<bool> {
        self.x
            .extension_information(extension)
            .map(|info| info.is_some())
            .map_err(|e| PlatformError::display(format!("looking for {extension}"), e))
    }

    /// Sends what is buffered.
    pub(crate) fn flush(&self, doing: &str) -> Result<()> {
        self.x.flush().map_err(|e| PlatformError::display(doing, e))
    }

    /// Waits until the server has done everything sent so far.
    pub(crate) fn sync(&self, doing: &str) -> Result<()> {
        self.x.get_input_focus().wait(doing).map(drop)
    }

    /// A fresh id.
    pub(crate) fn id(&self) -> Result<u32> {
        self.x.generate_id().map_err(|e| PlatformError::other("making an X id", e))
    }
}

/// Waits for a reply and tells a dead connection from a refused request.
pub(crate) trait Reply<T> {
    /// The reply. A broken connection is `DisplayUnavailable`, a refusal `Other`.
    fn wait(self, doing: &str) -> Result<T>;

    /// The reply, or `None` when the server refused (the window is gone).
    fn wait_opt(self, doing: &str) -> Result<Option<T>>;
}

fn sort<T>(result: Result<T, ReplyError>, doing: &str) -> Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(ReplyError::X11Error(_)) => Ok(None),
        Err(ReplyError::ConnectionError(e)) => Err(PlatformError::display(doing, e)),
    }
}

fn strict<T>(result: Result<T, ReplyError>, doing: &str) -> Result<T> {
    result.map_err(|e| match e {
        ReplyError::ConnectionError(e) => PlatformError::display(doing, e),
        ReplyError::X11Error(e) => {
            PlatformError::other(doing, format!("X error {:?} in {:?}", e.error_kind, e.request_name))
        }
    })
}

impl<C: RequestConnection + ?Sized, R: TryParse> Reply<R> for Result<Cookie<'_, C, R>, ConnectionError> {
    fn wait(self, doing: &str) -> Result<R> {
        strict(self.map_err(ReplyError::from).and_then(Cookie::reply), doing)
    }

    fn wait_opt(self, doing: &str) -> Result<Option<R>> {
        sort(self.map_err(ReplyError::from).and_then(Cookie::reply), doing)
    }
}

impl<C: RequestConnection + ?Sized> Reply<()> for Result<VoidCookie<'_, C>, ConnectionError> {
    fn wait(self, doing: &str) -> Result<()> {
        strict(self.map_err(ReplyError::from).and_then(VoidCookie::check), doing)
    }

    fn wait_opt(self, doing: &str) -> Result<Option<()>> {
        sort(self.map_err(ReplyError::from).and_then(VoidCookie::check), doing)
    }
}

/// A place for one connection, shared by the facets that use it.
pub(crate) struct Link {
    display: Option<String>,
    conn: Mutex<Option<Arc<Conn>>>,
}

impl Link {
    /// A link to `display` (default: `DISPLAY`); nothing is connected yet.
    pub(crate) fn new(display: Option<String>) -> Self {
        Self { display, conn: Mutex::new(None) }
    }

    /// The display's name; empty when there is none.
    pub(crate) fn display_name(&self) -> String {
        self.display.clone().or_else(|| std::env::var("DISPLAY").ok()).unwrap_or_default()
    }

    /// The name asked for.
    pub(crate) fn display(&self) -> Option<&str> {
        self.display.as_deref()
    }

    /// The live connection: the one there is, or a new one when that was closed by the server.
    pub(crate) fn get(&self) -> Result<Arc<Conn>> {
        let mut slot = self.conn.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(conn) = slot.as_ref() {
            if !hung_up(conn.x.stream().as_fd()) {
                return Ok(Arc::clone(conn));
            }
            *slot = None;
        }
        let conn = Arc::new(Conn::open(self.display())?);
        *slot = Some(Arc::clone(&conn));
        Ok(conn)
    }

    /// Runs `work` on the connection and forgets the connection when it broke on the way.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&Arc<Conn>) -> Result<T>) -> Result<T> {
        let conn = self.get()?;
        let result = work(&conn);
        if let Err(PlatformError::DisplayUnavailable { .. }) = &result {
            let mut slot = self.conn.lock().unwrap_or_else(PoisonError::into_inner);
            if slot.as_ref().is_some_and(|c| Arc::ptr_eq(c, &conn)) {
                *slot = None;
            }
        }
        result
    }
}
