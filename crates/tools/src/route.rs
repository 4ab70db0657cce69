//! From what the caller wrote to a window, a process and a display that exist.

use std::time::Duration;

use deskhand_platform::{Desktop, Display, Scope, Window};
use deskhand_protocol::{Error, ErrorCode, FocusPolicy, Result, Route};
use serde_json::{Value, json};

use crate::Ctx;

/// How long `requireFocused` waits for the focus to arrive.
const FOCUS_WAIT: Duration = Duration::from_millis(500);

/// How long a window may take to come to the front.
const ACTIVATE: Duration = Duration::from_secs(3);

/// A route that was looked up.
#[derive(Clone, Debug, Default)]
pub struct Routed {
    /// The window, if one was named (or is the only candidate of the named app).
    pub window: Option<Window>,
    /// The process, if an app or window was named.
    pub pid: Option<u32>,
    /// The display, if one was named.
    pub display: Option<Display>,
    /// What to do about the focus; `None` when no window or app was named.
    pub policy: Option<FocusPolicy>,
}

/// Looks a route up. With `acting`, the focus policy is applied too.
pub fn resolve(route: Option<&Route>, desktop: &Desktop, acting: bool, scope: &Scope) -> Result<Routed> {
    let Some(route) = route else { return Ok(Routed::default()) };
    let mut routed = Routed::default();
    if let Some(wanted) = route.display.as_ref().and_then(|d| d.display_id) {
        routed.display = Some(named_display(desktop, wanted)?);
    }
    if route.app.is_none() && route.window.is_none() {
        return Ok(routed);
    }
    let all = desktop.windows.list()?;
    let fits = matching(route, &all, desktop)?;
    let focused = fits.iter().find(|w| w.focused).copied();
    let Some(window) = focused.or_else(|| fits.first().copied()) else {
        return Err(no_window(route, &all, desktop));
    };
    if route.window.is_some() && route.app.is_none() && focused.is_none() && fits.len() > 1 && acting {
        return Err(Error::new(
            ErrorCode::WindowNotFound,
            format!("{} windows fit the route and none of them has the focus", fits.len()),
        )
        .hint("name one by route.window.windowId")
        .detail("windows", windows_json(&all)));
    }
    routed.pid = window.pid;
    routed.policy = Some(route.focus_policy.unwrap_or_default());
    routed.window = Some(window.clone());
    if acting {
        apply_focus(&mut routed, desktop, scope)?;
    }
    Ok(routed)
}

impl Routed {
    /// An error when the routed window must have the focus and does not; called before every group
    /// of events.
    pub fn guard(&self, desktop: &Desktop) -> Result<()> {
        let (Some(window), Some(_)) = (&self.window, self.policy) else { return Ok(()) };
        match desktop.windows.active()? {
            Some(active) if active.id == window.id => Ok(()),
            // What is sent now would go to the dialog, not to the window that was named.
            Some(active) if self.owns(&active) && active.modal => Err(modal_blocking(window, &active)),
            Some(active) if self.owns(&active) => Ok(()),
            active => Err(focus_lost(window, active.as_ref())),
        }
    }

    /// As [`Routed::guard`], for keys: they go to the window that has the focus, so it must be the
    /// routed one itself and not a dialog of it.
    pub(crate) fn guard_keys(&self, desktop: &Desktop) -> Result<()> {
        let (Some(window), Some(_)) = (&self.window, self.policy) else { return Ok(()) };
        match desktop.windows.active()? {
            Some(active) if active.id == window.id => Ok(()),
            active => Err(self.elsewhere(window, active.as_ref())),
        }
    }

    /// The error for a focus that is not on `wanted`.
    fn elsewhere(&self, wanted: &Window, active: Option<&Window>) -> Error {
        match active {
            Some(active) if self.owns(active) && active.modal => modal_blocking(wanted, active),
            active => focus_lost(wanted, active),
        }
    }

    /// Whether the caller wants the focus left alone.
    pub(crate) fn leaves_focus(&self) -> bool {
        matches!(self.policy, Some(FocusPolicy::FailIfNotFocused | FocusPolicy::RequireFocused))
    }

    /// Whether `active` is a window that belongs to the routed one.
    fn owns(&self, active: &Window) -> bool {
        self.window.is_some()
            && active.pid.is_some()
            && active.pid == self.pid
            && active.transient_for == self.window.as_ref().map(|w| w.id)
    }
}

fn apply_focus(routed: &mut Routed, desktop: &Desktop, scope: &Scope) -> Result<()> {
    let Some(window) = routed.window.clone() else { return Ok(()) };
    match routed.policy.unwrap_or_default() {
        FocusPolicy::FailIfNotFocused => routed.guard(desktop),
        FocusPolicy::RequireFocused => {
            let wait = scope.within(FOCUS_WAIT);
            loop {
                let state = routed.guard(desktop);
                if state.is_ok() || wait.sleep(Duration::from_millis(20), "waiting for the focus").is_err() {
                    scope.check("waiting for the focus")?;
                    return state;
                }
            }
        }
        FocusPolicy::FocusIfNeeded => {
            match routed.guard(desktop) {
                Err(e) if e.code != ErrorCode::ModalBlocking => {}
                done => return done,
            }
            activate(desktop, &window, scope)?;
            // Activating a parent gives the focus to its modal dialog: say so instead of clicking through.
            routed.guard(desktop).map_err(|e| modal_of(&window, desktop).unwrap_or(e))
        }
    }
}

/// The window keys go to, held on to from the start of an action: when the focus goes elsewhere, so
/// would the keys.
pub(crate) struct Pin {
    /// The window with the focus; `None` when there is none.
    pub(crate) home: Option<Window>,
    /// Without a window manager nobody can tell.
    known: bool,
}

impl Pin {
    /// Holds on to the window in front, which is the routed one when there is a route: one that may
    /// take the focus gets it back from its own dialogs.
    pub(crate) fn routed(ctx: &Ctx<'_>) -> Result<Self> {
        if let (Some(window), Err(e)) = (&ctx.route.window, ctx.route.guard_keys(ctx.desktop)) {
            if e.code != ErrorCode::FocusLost || ctx.route.leaves_focus() {
                return Err(e);
            }
            activate(ctx.desktop, window, ctx.scope)?;
            ctx.route.guard_keys(ctx.desktop)?;
        }
        Self::here(ctx)
    }

    /// Holds on to the window in front, where an element has just been given the focus.
    pub(crate) fn focused(ctx: &Ctx<'_>) -> Result<Self> {
        ctx.route.guard(ctx.desktop)?;
        Self::here(ctx)
    }

    fn here(ctx: &Ctx<'_>) -> Result<Self> {
        let (home, known) = match ctx.desktop.windows.active() {
            Err(deskhand_platform::PlatformError::Unsupported { .. }) => (None, false),
            active => (active?, true),
        };
        Ok(Self { home, known })
    }

    /// An error when the focus is not where it was.
    pub(crate) fn check(&self, ctx: &Ctx<'_>) -> Result<()> {
        if !self.known {
            return Ok(());
        }
        match (&self.home, ctx.desktop.windows.active()?) {
            (Some(home), Some(active)) if home.id == active.id => Ok(()),
            (Some(home), active) => Err(ctx.route.elsewhere(home, active.as_ref())),
            (None, None) => Ok(()),
            (None, Some(active)) => Err(Error::new(
                ErrorCode::FocusLost,
                format!("no window had the focus at first; {:?} ({}) has it now", active.title, active.app),
            )
            .detail("frontmost", window_json(&active))),
        }
    }
}

/// Brings a window to the front; one that does not get there has not the focus.
fn activate(desktop: &Desktop, window: &Window, scope: &Scope) -> Result<()> {
    match desktop.windows.activate(window.id, &scope.within(ACTIVATE)) {
        Ok(()) => Ok(()),
        Err(deskhand_platform::PlatformError::Timeout { .. }) => {
            scope.check("bringing the window to the front")?;
            Err(focus_lost(window, desktop.windows.active()?.as_ref()))
        }
        Err(e) => Err(e.into()),
    }
}

fn modal_of(window: &Window, desktop: &Desktop) -> Option<Error> {
    let all = desktop.windows.list().ok()?;
    blocking_modal(window, &all).map(|modal| modal_blocking(window, modal))
}

/// The modal dialog that keeps `window` from taking input, if there is one.
#[must_use]
pub(crate) fn blocking_modal<'a>(window: &Window, all: &'a [Window]) -> Option<&'a Window> {
    all.iter().find(|w| {
        w.modal
            && !w.minimized
            && w.id != window.id
            && (w.transient_for == Some(window.id)
                || (w.transient_for.is_none() && w.pid.is_some() && w.pid == window.pid))
    })
}

/// The error for a modal dialog in the way.
#[must_use]
pub(crate) fn modal_blocking(window: &Window, modal: &Window) -> Error {
    Error::new(
        ErrorCode::ModalBlocking,
        format!("the dialog {:?} must be answered before {:?} takes input", modal.title, window.title),
    )
    .detail("modal", window_json(modal))
    .detail("window", window_json(window))
}

/// The error for a focus that is elsewhere.
#[must_use]
pub(crate) fn focus_lost(wanted: &Window, active: Option<&Window>) -> Error {
    let has =
        active.map_or_else(|| "no window has it".to_owned(), |a| format!("{:?} ({}) has it", a.title, a.app));
    Error::new(
        ErrorCode::FocusLost,
        format!("{:?} ({}) does not have the focus: {has}", wanted.title, wanted.app),
    )
    .detail("wanted", window_json(wanted))
    .detail("frontmost", active.map_or(Value::Null, window_json))
}

/// The frontmost window for error details; null when nobody knows.
#[must_use]
pub fn frontmost(desktop: &Desktop) -> Value {
    desktop.windows.active().ok().flatten().as_ref().map_or(Value::Null, window_json)
}

/// A window in short.
#[must_use]
pub(crate) fn window_json(w: &Window) -> Value {
    json!({"windowId": w.id.0, "title": w.title, "app": w.app, "pid": w.pid, "bounds": w.bounds, "focused": w.focused,
           "modal": w.modal, "minimized": w.minimized, "display": w.display})
}

/// At most 32 windows in short.
#[must_use]
pub(crate) fn windows_json(all: &[Window]) -> Value {
    Value::Array(all.iter().take(32).map(window_json).collect())
}

fn named_display(desktop: &Desktop, wanted: u32) -> Result<Display> {
    let all = desktop.screen.displays()?;
    let ids: Vec<u32> = all.iter().map(|d| d.id).collect();
    all.into_iter().find(|d| d.id == wanted).ok_or_else(|| {
        Error::new(
            ErrorCode::InvalidInput,
            format!("route.display.displayId is {wanted}; there is no such display"),
        )
        .hint(format!("use one of {ids:?}"))
        .detail("field", "route.display.displayId")
        .detail("displays", ids)
    })
}

fn matching<'a>(route: &Route, all: &'a [Window], desktop: &Desktop) -> Result<Vec<&'a Window>> {
    let mut fits: Vec<&Window> = all.iter().collect();
    if let Some(app) = &route.app {
        if let Some(pid) = app.pid {
            fits.retain(|w| w.pid == Some(pid));
        }
        if let Some(id) = &app.bundle_id {
            let pids: Vec<u32> = desktop
                .apps
                .running()?
                .into_iter()
                .filter(|a| {
                    same_app(id, &a.name)
                        || same_app(id, &a.program)
                        || a.desktop_id.as_deref().is_some_and(|d| same_app(id, d))
                })
                .map(|a| a.pid)
                .collect();
            fits.retain(|w| same_app(id, &w.app) || w.pid.is_some_and(|p| pids.contains(&p)));
        }
    }
    if let Some(window) = &route.window {
        if let Some(id) = window.window_id {
            fits.retain(|w| w.id.0 == id);
        }
        if let Some(pattern) = &window.title_pattern {
            let regex = regex_lite::Regex::new(pattern).map_err(|e| {
                Error::new(ErrorCode::InvalidInput, format!("route.window.titlePattern is {pattern:?}: {e}"))
                    .detail("field", "route.window.titlePattern")
            })?;
            fits.retain(|w| regex.is_match(&w.title));
        }
    }
    Ok(fits)
}

/// Names of applications are compared without case and without `.desktop`.
pub(crate) fn same_app(a: &str, b: &str) -> bool {
    let plain = |s: &str| s.trim_end_matches(".desktop").to_lowercase();
    plain(a) == plain(b)
}

fn no_window(route: &Route, all: &[Window], desktop: &Desktop) -> Error {
    if let Some(pid) = route.app.as_ref().and_then(|a| a.pid)
        && !desktop.apps.running().is_ok_and(|apps| apps.iter().any(|a| a.pid == pid))
    {
        return Error::new(
            ErrorCode::AppNotFound,
            format!("route.app.pid is {pid}; no such application runs"),
        )
        .detail("field", "route.app.pid")
        .detail("windows", windows_json(all));
    }
    let what = serde_json::to_string(route).unwrap_or_default();
    Error::new(ErrorCode::WindowNotFound, format!("no window fits the route {what}"))
        .detail("windows", windows_json(all))
}
