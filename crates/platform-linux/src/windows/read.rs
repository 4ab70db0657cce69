//! Reading windows: every question to the server is sent before the first answer is awaited.

use deskhand_platform::{PlatformError, Result, Window, WindowId};
use deskhand_protocol::Rect;
use x11rb::cookie::Cookie;
use x11rb::errors::ConnectionError;
use x11rb::protocol::res::{self, ClientIdMask, ClientIdSpec, ConnectionExt as _};
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, GetGeometryReply, GetPropertyReply, TranslateCoordinatesReply,
    Window as XWindow,
};

use super::text::{decode, strings};
use crate::screen::Layout;
use crate::x11::{Conn, Raw, Reply};

const DOING: &str = "reading the windows";
/// Windows listed at most.
pub(super) const MOST: usize = 512;
/// Longest property we read, in 4-byte units.
const LONG: u32 = 1024;

type Asked<'c, R> = std::result::Result<Cookie<'c, Raw, R>, ConnectionError>;

/// The questions about one window.
struct Questions<'c> {
    id: XWindow,
    geometry: Asked<'c, GetGeometryReply>,
    origin: Asked<'c, TranslateCoordinatesReply>,
    name: Asked<'c, GetPropertyReply>,
    old_name: Asked<'c, GetPropertyReply>,
    class: Asked<'c, GetPropertyReply>,
    pid: Asked<'c, GetPropertyReply>,
    machine: Asked<'c, GetPropertyReply>,
    state: Asked<'c, GetPropertyReply>,
    kind: Asked<'c, GetPropertyReply>,
    transient: Asked<'c, GetPropertyReply>,
    frame: Asked<'c, GetPropertyReply>,
    shadow: Asked<'c, GetPropertyReply>,
}

fn property(conn: &Conn, window: XWindow, name: u32) -> Asked<'_, GetPropertyReply> {
    conn.x.get_property(false, window, name, AtomEnum::ANY, 0, LONG)
}

fn ask(conn: &Conn, id: XWindow) -> Questions<'_> {
    let a = &conn.atoms;
    Questions {
        id,
        geometry: conn.x.get_geometry(id),
        origin: conn.x.translate_coordinates(id, conn.root, 0, 0),
        name: property(conn, id, a._NET_WM_NAME),
        old_name: property(conn, id, AtomEnum::WM_NAME.into()),
        class: property(conn, id, AtomEnum::WM_CLASS.into()),
        pid: property(conn, id, a._NET_WM_PID),
        machine: property(conn, id, a.WM_CLIENT_MACHINE),
        state: property(conn, id, a._NET_WM_STATE),
        kind: property(conn, id, a._NET_WM_WINDOW_TYPE),
        transient: property(conn, id, a.WM_TRANSIENT_FOR),
        frame: property(conn, id, a._NET_FRAME_EXTENTS),
        shadow: property(conn, id, a._GTK_FRAME_EXTENTS),
    }
}

/// Numbers of a 32-bit property; empty when it is not there.
pub(super) fn numbers(reply: Option<GetPropertyReply>) -> Vec<u32> {
    reply.and_then(|r| r.value32().map(Iterator::collect)).unwrap_or_default()
}

/// Edges: left, right, top, bottom.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Edges(pub(super) [i32; 4]);

impl Edges {
    fn from_property(reply: Option<GetPropertyReply>) -> Self {
        let v = numbers(reply);
        let side = |i: usize| i32::try_from(*v.get(i).unwrap_or(&0)).unwrap_or(0).clamp(0, 1000);
        if v.len() < 4 { Self::default() } else { Self([side(0), side(1), side(2), side(3)]) }
    }

    pub(super) fn around(self, r: Rect) -> Rect {
        let [l, ri, t, b] = self.0;
        Rect::new(r.x - l, r.y - t, r.width + l + ri, r.height + t + b)
    }

    pub(super) fn inside(self, r: Rect) -> Rect {
        let [l, ri, t, b] = self.0;
        Rect::new(r.x + l, r.y + t, (r.width - l - ri).max(1), (r.height - t - b).max(1))
    }
}

/// Places of one window, physical pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Places {
    /// The X window itself.
    pub(super) client: Rect,
    /// The window manager's frame around it.
    pub(super) frame: Edges,
    /// The part of the client that is only shadow (client-side decorations).
    pub(super) shadow: Edges,
}

impl Places {
    /// With frame, without shadow.
    pub(super) fn bounds(&self) -> Rect {
        self.frame.around(self.shadow.inside(self.client))
    }

    pub(super) fn content(&self) -> Rect {
        self.shadow.inside(self.client)
    }
}

fn places(
    geometry: Option<GetGeometryReply>,
    origin: Option<TranslateCoordinatesReply>,
    frame: Edges,
    shadow: Edges,
) -> Option<Places> {
    let (g, o) = (geometry?, origin?);
    let client = Rect::new(o.dst_x.into(), o.dst_y.into(), g.width.into(), g.height.into());
    Some(Places { client, frame, shadow })
}

/// Where a window is; `None` when it is gone.
pub(super) fn places_of(conn: &Conn, id: XWindow) -> Result<Option<Places>> {
    let geometry = conn.x.get_geometry(id);
    let origin = conn.x.translate_coordinates(id, conn.root, 0, 0);
    let frame = property(conn, id, conn.atoms._NET_FRAME_EXTENTS);
    let shadow = property(conn, id, conn.atoms._GTK_FRAME_EXTENTS);
    let geometry = geometry.wait_opt(DOING)?;
    let origin = origin.wait_opt(DOING)?;
    let frame = Edges::from_property(frame.wait_opt(DOING)?);
    let shadow = Edges::from_property(shadow.wait_opt(DOING)?);
    Ok(places(geometry, origin, frame, shadow))
}

/// A window's states and process, as far as the reading needs them.
struct Context<'a> {
    active: Option<XWindow>,
    host: &'a [u8],
    layout: &'a Layout,
}

fn answer(conn: &Conn, q: Questions<'_>, context: &Context<'_>) -> Result<Option<Window>> {
    let a = &conn.atoms;
    let geometry = q.geometry.wait_opt(DOING)?;
    let origin = q.origin.wait_opt(DOING)?;
    let name = q.name.wait_opt(DOING)?;
    let old_name = q.old_name.wait_opt(DOING)?;
    let class = q.class.wait_opt(DOING)?;
    let pid = numbers(q.pid.wait_opt(DOING)?).first().copied();
    let machine = q.machine.wait_opt(DOING)?;
    let state = numbers(q.state.wait_opt(DOING)?);
    let kind = numbers(q.kind.wait_opt(DOING)?);
    let transient = numbers(q.transient.wait_opt(DOING)?).first().copied();
    let frame = Edges::from_property(q.frame.wait_opt(DOING)?);
    let shadow = Edges::from_property(q.shadow.wait_opt(DOING)?);
    let Some(places) = places(geometry, origin, frame, shadow) else { return Ok(None) };
    let title = [name, old_name]
        .into_iter()
        .flatten()
        .map(|p| decode(&p.value, p.type_, a))
        .find(|t| !t.is_empty())
        .unwrap_or_default();
    let class = class.map(|c| strings(&c.value)).unwrap_or_default();
    // WM_CLASS is instance, class; the class is the application's name.
    let app = class.get(1).or(class.first()).cloned().unwrap_or_default();
    let local = machine.is_none_or(|m| m.value.is_empty() || m.value == context.host);
    let scale = context.layout.scale;
    let dialog = kind.first() == Some(&a._NET_WM_WINDOW_TYPE_DIALOG);
    let modal = state.contains(&a._NET_WM_STATE_MODAL);
    Ok(Some(Window {
        id: WindowId(q.id.into()),
        title,
        app,
        pid: pid.filter(|p| local && *p > 0),
        bounds: scale.down(places.bounds()),
        content: scale.down(places.content()),
        focused: context.active == Some(q.id),
        minimized: state.contains(&a._NET_WM_STATE_HIDDEN),
        maximized: state.contains(&a._NET_WM_STATE_MAXIMIZED_VERT)
            && state.contains(&a._NET_WM_STATE_MAXIMIZED_HORZ),
        modal,
        dialog: dialog || modal || transient.is_some_and(|t| t != conn.root && t != 0),
        transient_for: transient.filter(|t| *t != conn.root && *t != 0).map(|t| WindowId(t.into())),
        display: context.layout.with_most_of(&places.bounds()),
    }))
}

/// Reads the windows given, in their order; those that went away meanwhile are left out.
pub(super) fn read(
    conn: &Conn,
    ids: &[XWindow],
    active: Option<XWindow>,
    layout: &Layout,
) -> Result<Vec<Window>> {
    let host = rustix::system::uname().nodename().to_bytes().to_vec();
    let context = Context { active, host: &host, layout };
    let questions: Vec<_> = ids.iter().take(MOST).map(|&id| ask(conn, id)).collect();
    let mut windows = Vec::with_capacity(questions.len());
    for q in questions {
        windows.extend(answer(conn, q, &context)?);
    }
    for window in windows.iter_mut().filter(|w| w.pid.is_none()) {
        window.pid = pid_by_kernel(conn, window.id.0 as u32)?;
    }
    Ok(windows)
}

/// The process of a window's client as the server's socket tells it (X-Resource).
fn pid_by_kernel(conn: &Conn, id: XWindow) -> Result<Option<u32>> {
    if !conn.has(res::X11_EXTENSION_NAME)? {
        return Ok(None);
    }
    let spec = ClientIdSpec { client: id, mask: ClientIdMask::LOCAL_CLIENT_PID };
    let reply = conn.x.res_query_client_ids(&[spec]).wait_opt(DOING)?;
    Ok(reply.and_then(|r| {
        r.ids
            .iter()
            .find(|v| v.spec.mask == ClientIdMask::LOCAL_CLIENT_PID)
            .and_then(|v| v.value.first().copied())
            .filter(|p| *p > 0)
    }))
}

/// The managed windows, topmost first; an error when no window manager is there.
pub(super) fn client_list(conn: &Conn) -> Result<Vec<XWindow>> {
    require_manager(conn)?;
    let a = &conn.atoms;
    let stacking = property(conn, conn.root, a._NET_CLIENT_LIST_STACKING);
    let plain = property(conn, conn.root, a._NET_CLIENT_LIST);
    let mut ids = numbers(stacking.wait_opt(DOING)?);
    let plain = numbers(plain.wait_opt(DOING)?);
    if ids.is_empty() {
        ids = plain;
    }
    ids.reverse();
    Ok(ids)
}

/// The window with the focus, as the window manager tells it.
pub(super) fn active(conn: &Conn) -> Result<Option<XWindow>> {
    let reply = property(conn, conn.root, conn.atoms._NET_ACTIVE_WINDOW).wait_opt(DOING)?;
    Ok(numbers(reply).first().copied().filter(|id| *id != 0))
}

/// The window manager's name; `None` when there is none (a stale property does not count).
pub(crate) fn manager(conn: &Conn) -> Result<Option<String>> {
    let check = conn.atoms._NET_SUPPORTING_WM_CHECK;
    let Some(id) = numbers(property(conn, conn.root, check).wait_opt(DOING)?).first().copied() else {
        return Ok(None);
    };
    let itself = property(conn, id, check);
    let name = property(conn, id, conn.atoms._NET_WM_NAME);
    if numbers(itself.wait_opt(DOING)?).first() != Some(&id) {
        return Ok(None);
    }
    let name = name.wait_opt(DOING)?.map(|p| decode(&p.value, p.type_, &conn.atoms)).unwrap_or_default();
    Ok(Some(if name.is_empty() { "a window manager".into() } else { name }))
}

/// The error of everything that needs a window manager.
pub(super) fn require_manager(conn: &Conn) -> Result<()> {
    if manager(conn)?.is_some() {
        return Ok(());
    }
    Err(PlatformError::Unsupported {
        what: "window management".into(),
        why: "no window manager runs on this display; start one (for example `openbox &`)".into(),
    })
}

/// Rectangle of a window with its frame, physical pixels; `None` when it is gone.
pub(crate) fn physical_bounds(conn: &Conn, id: WindowId) -> Result<Option<Rect>> {
    let Ok(id) = XWindow::try_from(id.0) else { return Ok(None) };
    Ok(places_of(conn, id)?.map(|p| p.bounds()))
}
