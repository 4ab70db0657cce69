//! Changing windows by asking the window manager, and waiting until it has.

use std::time::{Duration, Instant};

use deskhand_platform::{PlatformError, Result, Scope, WindowChange, WindowId};
use deskhand_protocol::Rect;
use x11rb::protocol::xproto::{
    AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask, MapState, Window as XWindow, WindowClass,
};

use super::read::{self, Places, numbers, places_of};
use super::{not_found, x_id};
use crate::x11::{Conn, Reply};

/// Pause between two looks.
const LOOK: Duration = Duration::from_millis(2);
/// A window that did part of what was asked and then rests this long is done (size steps of
/// terminals, smallest sizes of dialogs).
const REST: Duration = Duration::from_millis(80);
/// A window manager that has not moved a window by then will not.
const PATIENCE: Duration = Duration::from_millis(600);
/// How long a window may take to close before it is told as still open.
const CLOSING: Duration = Duration::from_secs(3);
/// The request is sent again when it had no effect for this long.
const AGAIN: Duration = Duration::from_millis(400);

const ICONIC: u32 = 3;
const PAGER: u32 = 2;

/// The X id of a managed window, or the right error.
pub(super) fn managed(conn: &Conn, id: WindowId) -> Result<XWindow> {
    let x = x_id(id)?;
    if read::client_list(conn)?.contains(&x) { Ok(x) } else { Err(not_found(id)) }
}

/// Mapped children of the root that can be seen, topmost first.
pub(super) fn mapped(conn: &Conn) -> Result<Vec<XWindow>> {
    const DOING: &str = "reading the windows";
    let children = conn.x.query_tree(conn.root).wait(DOING)?.children;
    let asked: Vec<_> =
        children.iter().rev().take(read::MOST).map(|&id| (id, conn.x.get_window_attributes(id))).collect();
    let mut out = Vec::new();
    for (id, attributes) in asked {
        if let Some(a) = attributes.wait_opt(DOING)?
            && a.map_state == MapState::VIEWABLE
            && a.class == WindowClass::INPUT_OUTPUT
        {
            out.push(id);
        }
    }
    Ok(out)
}

/// Sends a message about `window` to the window manager.
fn tell(conn: &Conn, window: XWindow, kind: u32, data: [u32; 5], doing: &str) -> Result<()> {
    let event = ClientMessageEvent::new(32, window, kind, data);
    let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
    conn.x.send_event(false, conn.root, mask, event).map_err(|e| PlatformError::display(doing, e))?;
    conn.flush(doing)
}

fn states(conn: &Conn, window: XWindow) -> Result<Option<Vec<u32>>> {
    let reply = conn
        .x
        .get_property(false, window, conn.atoms._NET_WM_STATE, AtomEnum::ATOM, 0, 64)
        .wait_opt("reading the window's state")?;
    Ok(reply.map(|r| numbers(Some(r))))
}

/// Looks every two milliseconds until `done`, or the scope ends (an error).
fn until(scope: &Scope, doing: &str, mut done: impl FnMut() -> Result<bool>) -> Result<()> {
    loop {
        if done()? {
            return Ok(());
        }
        scope.sleep(LOOK, doing)?;
    }
}

/// Whether the keyboard focus lies in `window` or below it.
fn has_focus(conn: &Conn, window: XWindow) -> Result<bool> {
    const DOING: &str = "reading the focus";
    let mut at = conn.x.get_input_focus().wait(DOING)?.focus;
    for _ in 0..8 {
        if at == window {
            return Ok(true);
        }
        if at <= 1 || at == conn.root {
            return Ok(false);
        }
        match conn.x.query_tree(at).wait_opt(DOING)? {
            Some(tree) => at = tree.parent,
            None => return Ok(false),
        }
    }
    Ok(false)
}

/// Brings a window to the front and waits until it has the focus.
pub(super) fn activate(conn: &Conn, id: XWindow, scope: &Scope) -> Result<()> {
    const DOING: &str = "activating the window";
    let mut asked: Option<Instant> = None;
    let mut active_since: Option<Instant> = None;
    until(scope, DOING, || {
        if read::active(conn)? == Some(id) {
            let since = *active_since.get_or_insert_with(Instant::now);
            // Some programs never take the focus themselves; the window manager's word is enough then.
            if asked.is_some() && (has_focus(conn, id)? || since.elapsed() > PATIENCE) {
                return Ok(true);
            }
        } else {
            active_since = None;
        }
        if asked.is_none_or(|a| a.elapsed() > AGAIN) {
            if places_of(conn, id)?.is_none() {
                return Err(not_found(WindowId(id.into())));
            }
            let now = read::active(conn)?.unwrap_or(0);
            tell(conn, id, conn.atoms._NET_ACTIVE_WINDOW, [PAGER, 0, now, 0, 0], DOING)?;
            asked = Some(Instant::now());
        }
        Ok(false)
    })
}

fn set_state(conn: &Conn, id: XWindow, add: bool, a: u32, b: u32, doing: &str) -> Result<()> {
    tell(conn, id, conn.atoms._NET_WM_STATE, [u32::from(add), a, b, PAGER, 0], doing)
}

/// Asks a window to close, as its close button does.
pub(super) fn ask_to_close(conn: &Conn, id: XWindow) -> Result<()> {
    tell(conn, id, conn.atoms._NET_CLOSE_WINDOW, [0, PAGER, 0, 0, 0], "closing the window")
}

/// Carries out a change and waits for it.
pub(super) fn change(conn: &Conn, id: XWindow, change: WindowChange, scope: &Scope) -> Result<()> {
    let a = &conn.atoms;
    let (vert, horz) = (a._NET_WM_STATE_MAXIMIZED_VERT, a._NET_WM_STATE_MAXIMIZED_HORZ);
    let gone = || not_found(WindowId(id.into()));
    let has = |state: u32| -> Result<bool> { Ok(states(conn, id)?.ok_or_else(gone)?.contains(&state)) };
    scope.check("changing the window")?;
    match change {
        WindowChange::Maximize => {
            const DOING: &str = "maximizing the window";
            if has(a._NET_WM_STATE_HIDDEN)? {
                activate(conn, id, scope)?;
            }
            set_state(conn, id, true, vert, horz, DOING)?;
            until(scope, DOING, || Ok(has(vert)? && has(horz)?))?;
            settle(conn, id, None, scope)
        }
        WindowChange::Minimize => {
            const DOING: &str = "minimizing the window";
            tell(conn, id, a.WM_CHANGE_STATE, [ICONIC, 0, 0, 0, 0], DOING)?;
            until(scope, DOING, || has(a._NET_WM_STATE_HIDDEN))
        }
        WindowChange::Restore => {
            const DOING: &str = "restoring the window";
            if has(a._NET_WM_STATE_HIDDEN)? {
                activate(conn, id, scope)?;
                until(scope, DOING, || Ok(!has(a._NET_WM_STATE_HIDDEN)?))?;
            }
            let large = has(vert)? || has(horz)? || has(a._NET_WM_STATE_FULLSCREEN)?;
            if large {
                set_state(conn, id, false, vert, horz, DOING)?;
                set_state(conn, id, false, a._NET_WM_STATE_FULLSCREEN, 0, DOING)?;
                until(scope, DOING, || Ok(!has(vert)? && !has(horz)? && !has(a._NET_WM_STATE_FULLSCREEN)?))?;
                settle(conn, id, None, scope)?;
            }
            Ok(())
        }
        WindowChange::Bounds { x, y, width, height } => {
            const DOING: &str = "moving the window";
            for (field, value) in [("width", width), ("height", height)] {
                if let Some(v) = value
                    && !(1..=32_767).contains(&v)
                {
                    return Err(PlatformError::Invalid {
                        field: field.into(),
                        why: format!("{v} is not between 1 and 32767"),
                    });
                }
            }
            if has(vert)? || has(horz)? {
                set_state(conn, id, false, vert, horz, DOING)?;
                until(scope, DOING, || Ok(!has(vert)? && !has(horz)?))?;
                settle(conn, id, None, scope)?;
            }
            move_resize(conn, id, [x, y, width, height], scope)
        }
        WindowChange::Close => {
            const DOING: &str = "closing the window";
            let dialogs = |conn: &Conn| -> Result<usize> { Ok(read::client_list(conn)?.len()) };
            let before = dialogs(conn)?;
            ask_to_close(conn, id)?;
            let short = scope.within(CLOSING);
            let end = until(&short, DOING, || {
                // Gone, or a question ("Save?") came up instead: then it stays for now.
                Ok(!read::client_list(conn)?.contains(&id) || dialogs(conn)? > before)
            });
            match end {
                Err(PlatformError::Timeout { .. }) => Ok(()),
                other => other,
            }
        }
    }
}

fn move_resize(conn: &Conn, id: XWindow, asked: [Option<i32>; 4], scope: &Scope) -> Result<()> {
    let gone = || not_found(WindowId(id.into()));
    let mut before = places_of(conn, id)?.ok_or_else(gone)?;
    let scale = conn.scale();
    let old = before.bounds();
    let up = |v: Option<i32>, old: i32| v.map_or(old, |v| v.saturating_mul(scale.0));
    let target = Rect::new(
        up(asked[0], old.x),
        up(asked[1], old.y),
        up(asked[2], old.width),
        up(asked[3], old.height),
    );
    // A window that has just left the maximized state may get its frame while we ask: then again, with
    // the frame it has now.
    for _ in 0..3 {
        if before.bounds() == target {
            return Ok(());
        }
        ask_for(conn, id, &before, target, asked)?;
        settle(conn, id, Some((before.bounds(), target)), scope)?;
        let Some(after) = places_of(conn, id)? else { return Ok(()) };
        if after.frame == before.frame && after.shadow == before.shadow {
            return Ok(());
        }
        before = after;
    }
    Ok(())
}

/// Asks the window manager for bounds.
fn ask_for(conn: &Conn, id: XWindow, now: &Places, target: Rect, asked: [Option<i32>; 4]) -> Result<()> {
    // The window manager wants the outer corner and the size of the client.
    let client = now.shadow.around(now.frame.inside(target));
    let corner = (client.x - now.frame.0[0], client.y - now.frame.0[2]);
    let mut flags = 1 | (PAGER << 12); // north-west gravity, asked by a pager
    for (i, value) in asked.iter().enumerate() {
        // A corner must be given as a whole: some managers take a missing half as 0.
        let given = if i < 2 { asked[0].is_some() || asked[1].is_some() } else { value.is_some() };
        flags |= u32::from(given) << (8 + i);
    }
    let data = [flags, corner.0 as u32, corner.1 as u32, client.width as u32, client.height as u32];
    tell(conn, id, conn.atoms._NET_MOVERESIZE_WINDOW, data, "moving the window")
}

/// Waits until a window rests: where it was asked to be, or elsewhere when it cannot be there.
fn settle(conn: &Conn, id: XWindow, asked: Option<(Rect, Rect)>, scope: &Scope) -> Result<()> {
    let start = Instant::now();
    let mut last = None;
    let mut since = start;
    let result = until(&scope.within(2 * PATIENCE), "waiting for the window to rest", || {
        let Some(places) = places_of(conn, id)? else { return Ok(true) };
        let now = places.bounds();
        if last != Some(now) {
            last = Some(now);
            since = Instant::now();
        }
        Ok(match asked {
            Some((_, target)) if now == target => true,
            Some((old, _)) if now == old => start.elapsed() > PATIENCE,
            Some(_) => since.elapsed() > REST,
            None => since.elapsed() > REST / 4,
        })
    });
    match result {
        // A window that never rests is still where it is.
        Err(PlatformError::Timeout { .. }) if !scope.remaining().is_zero() => Ok(()),
        other => other,
    }
}
