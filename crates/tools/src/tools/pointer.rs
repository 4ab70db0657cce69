//! What all pointer tools share: where to act, what lies there, pressing and letting go.

use std::time::Duration;

use deskhand_platform::{
    Button, Element, Handle, Input, Key, Modifier, PlatformError, Scope, Window, WindowId,
};
use deskhand_protocol::{Effect, EffectReport, Error, ErrorCode, Layer, Point, Result, ScreenshotId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::aim::{self, Aim, covered, not_actionable, words};
use crate::route::{blocking_modal, modal_blocking};
use crate::{Ctx, Done, motion, place};

/// Hovering changes pixels too; they are given this long, so that they lie before the mark.
const HOVER: Duration = Duration::from_millis(15);
/// How long a click's `smooth` way takes.
const GLIDE: Duration = Duration::from_millis(120);
/// How long the application may take to say what lies at a point.
const WHAT: Duration = Duration::from_millis(200);
/// Letting go must work even when the call was aborted or is out of time.
const LET_GO: Duration = Duration::from_millis(500);

/// A modifier key as the control seed names it.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Mod {
    Shift,
    Ctrl,
    Alt,
    Cmd,
}

impl Mod {
    fn key(self) -> Key {
        Key::Modifier(match self {
            Mod::Shift => Modifier::Shift,
            Mod::Ctrl => Modifier::Ctrl,
            Mod::Alt => Modifier::Alt,
            Mod::Cmd => Modifier::Cmd,
        })
    }
}

/// Arguments of the three click tools.
pub(crate) struct ClickArgs {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) modifiers: Option<Vec<Mod>>,
    pub(crate) screenshot_id: Option<ScreenshotId>,
    pub(crate) smooth: Option<bool>,
}

/// What the pointer tools answer.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether the events were sent; `effect` says what came of them.
    pub(crate) success: bool,
    /// Where, in logical pixels of the desktop.
    pub(crate) position: Point,
}

/// A place that may be acted on.
pub(crate) struct Spot {
    pub(crate) point: Point,
    /// The window acted on; `None` also when nobody needs to know.
    pub(crate) window: Option<Window>,
    /// The topmost window at the point, as it was looked up.
    top: Top,
    /// The element there, when one was aimed at.
    element: Option<Handle>,
}

/// What lay on top when a place was checked.
enum Top {
    /// Nobody asked.
    Unknown,
    /// This window, or none.
    Was(Option<WindowId>),
}

impl Spot {
    /// The middle of an element that shows and is not covered.
    pub(crate) fn of(aim: &Aim, ctx: &Ctx<'_>) -> Result<Self> {
        let (point, top) = aim.place(ctx)?;
        let element = Some(aim.handle().clone());
        Ok(Self { point, window: aim.window.clone(), top: Top::Was(top), element })
    }

    /// A menu or an entry of one; `window` is the one the menu belongs to. With `raise`, it may be
    /// brought to the front, which closes menus.
    pub(crate) fn in_menu(
        ctx: &Ctx<'_>,
        point: Point,
        entry: &Element,
        window: Option<&Window>,
        raise: bool,
    ) -> Result<Self> {
        let top = match aim::uncovered(ctx, &words(entry), point, window, entry.pid, raise) {
            Ok(top) => Top::Was(top),
            Err(e) if e.code == ErrorCode::Unsupported => Top::Unknown,
            Err(e) => return Err(e),
        };
        Ok(Self { point, window: None, top, element: Some(entry.handle.clone()) })
    }

    /// An error when what lies on top is not what was looked up: something came up under the
    /// pointer, or what was there is gone.
    fn still_there(&self, ctx: &Ctx<'_>) -> Result<()> {
        let Top::Was(top) = self.top else { return Ok(()) };
        let now = ctx.desktop.windows.at(self.point)?;
        if now.as_ref().map(|w| w.id) == top {
            return Ok(());
        }
        let what = format!("{},{}", self.point.x, self.point.y);
        let Some(now) = now else { return Err(not_actionable(&what, "the window that was there is gone")) };
        // A tool tip over the element goes away when the pointer comes.
        if let (Some(window), Some(element)) = (&self.window, &self.element)
            && window.id == now.id
            && let Ok(e) = ctx.desktop.elements.read(element, &ctx.scope.within(WHAT))
            && e.states.showing
            && e.rect.is_some_and(|r| r.contains(self.point))
        {
            return Ok(());
        }
        Err(covered(&what, &now))
    }
}

/// Checks a place: on the right display, in the routed window, not behind a modal dialog.
pub(crate) fn spot(
    ctx: &Ctx<'_>,
    names: (&str, &str),
    x: f64,
    y: f64,
    shot: Option<&ScreenshotId>,
) -> Result<Spot> {
    let point = place::point(ctx, names, x, y, shot)?;
    // Nobody will look at the effect and nobody named a window: the answer would cost more than the click.
    if !ctx.verify && ctx.route.window.is_none() {
        return Ok(Spot { point, window: None, top: Top::Unknown, element: None });
    }
    let (window, top) = match ctx.desktop.windows.at(point) {
        Ok(window) => {
            let top = Top::Was(window.as_ref().map(|w| w.id));
            (window, top)
        }
        Err(PlatformError::Unsupported { .. }) if ctx.route.window.is_none() => (None, Top::Unknown),
        Err(e) => return Err(e.into()),
    };
    in_route(ctx, names, point, window.as_ref())?;
    if let Some(window) = &window {
        let all = ctx.desktop.windows.list().or_else(|e| match e {
            PlatformError::Unsupported { .. } => Ok(Vec::new()),
            e => Err(e),
        })?;
        // An unmanaged window (a menu, a drop-down) may belong to the modal dialog itself.
        let managed = all.iter().any(|w| w.id == window.id);
        if let Some(modal) = blocking_modal(window, &all).filter(|_| managed) {
            return Err(modal_blocking(window, modal));
        }
    }
    ctx.route.guard(ctx.desktop)?;
    Ok(Spot { point, window, top, element: None })
}

fn in_route(ctx: &Ctx<'_>, names: (&str, &str), point: Point, there: Option<&Window>) -> Result<()> {
    let Some(wanted) = &ctx.route.window else { return Ok(()) };
    let part = |w: &Window| {
        w.id == wanted.id
            || w.transient_for == Some(wanted.id)
            || (w.title.is_empty() && w.pid.is_some() && w.pid == wanted.pid)
    };
    match there {
        Some(there) if there.modal && there.id != wanted.id && part(there) => {
            Err(modal_blocking(wanted, there))
        }
        Some(there) if part(there) => Ok(()),
        _ if !wanted.bounds.contains(point) => Err(Error::new(
            ErrorCode::OutOfRange,
            format!(
                "{}={}, {}={} is outside the routed window {:?}",
                names.0, point.x, names.1, point.y, wanted.title
            ),
        )
        .hint(format!(
            "valid: {} from {} to {}, {} from {} to {}",
            names.0,
            wanted.bounds.x,
            wanted.bounds.right() - 1,
            names.1,
            wanted.bounds.y,
            wanted.bounds.bottom() - 1
        ))
        .detail("field", names.0)
        .detail("valid", json!(wanted.bounds))),
        Some(there) => Err(covered(&format!("{},{} of {:?}", point.x, point.y, wanted.title), there)),
        None => Err(not_actionable(
            &format!("{},{} of {:?}", point.x, point.y, wanted.title),
            "no window is seen there",
        )),
    }
}

/// How to click.
pub(crate) struct Click<'a> {
    pub(crate) button: Button,
    pub(crate) count: u32,
    pub(crate) modifiers: &'a [Mod],
    pub(crate) smooth: bool,
}

/// One of the three click tools.
pub(crate) fn click_tool(
    ctx: &Ctx<'_>,
    args: &ClickArgs,
    button: Button,
    count: u32,
) -> Result<Done<Output>> {
    let spot = spot(ctx, ("x", "y"), args.x, args.y, args.screenshot_id.as_ref())?;
    let modifiers = args.modifiers.as_deref().unwrap_or_default();
    let smooth = args.smooth.unwrap_or(false);
    let report = click(ctx, &spot, &Click { button, count, modifiers, smooth })?;
    let output = Output { success: true, position: spot.point };
    Ok(watch(output, report, &spot))
}

/// Moves there and clicks; what was hit.
pub(crate) fn click(ctx: &Ctx<'_>, spot: &Spot, how: &Click<'_>) -> Result<EffectReport> {
    arrive(ctx, spot, how.smooth)?;
    let report = report(ctx, spot);
    ctx.mark_now();
    ctx.sending();
    let mut held = Held::new(&*ctx.desktop.input);
    for modifier in how.modifiers {
        held.key(modifier.key(), ctx.scope)?;
    }
    for _ in 0..how.count {
        held.button(how.button, ctx.scope)?;
        held.lift(how.button)?;
    }
    held.end()?;
    Ok(report)
}

/// Keeps the picture before, puts the pointer there, lets hovering settle and looks again.
pub(crate) fn arrive(ctx: &Ctx<'_>, spot: &Spot, smooth: bool) -> Result<()> {
    ctx.notebook.before()?;
    ctx.scope.check("moving the pointer")?;
    motion::glide(ctx, spot.point, smooth, GLIDE)?;
    if ctx.verify {
        ctx.scope.sleep(HOVER, "clicking")?;
    }
    if ctx.verify || smooth {
        // Time has passed: the focus may have moved.
        ctx.route.guard(ctx.desktop)?;
    }
    spot.still_there(ctx)
}

/// Layer, place and what lies there.
pub(crate) fn report(ctx: &Ctx<'_>, spot: &Spot) -> EffectReport {
    let mut report = EffectReport::new(Effect::Unverifiable, "events were sent");
    report.layer = Some(Layer::Coordinates);
    report.at = Some(spot.point);
    if let Some(window) = &spot.window {
        let element = window
            .pid
            .filter(|_| ctx.verify)
            .and_then(|pid| ctx.desktop.elements.at(spot.point, pid, &ctx.scope.within(WHAT)).ok().flatten());
        report.hit = Some(element.as_ref().map_or_else(|| format!("window {:?}", window.title), words));
    }
    report
}

/// The host judges by what changes in the window that was acted on.
pub(crate) fn watch<T>(output: T, report: EffectReport, spot: &Spot) -> Done<T> {
    let pid = spot.window.as_ref().and_then(|w| w.pid);
    Done::watch(output, report, pid, spot.window.as_ref().map(|w| w.bounds))
}

/// What is held down, let go on every way out: early return, error, panic.
pub(crate) struct Held<'a> {
    input: &'a dyn Input,
    keys: Vec<Key>,
    buttons: Vec<Button>,
}

impl<'a> Held<'a> {
    pub(crate) fn new(input: &'a dyn Input) -> Self {
        Self { input, keys: Vec::new(), buttons: Vec::new() }
    }

    /// Holds a key.
    pub(crate) fn key(&mut self, key: Key, scope: &Scope) -> Result<()> {
        scope.check("holding a key")?;
        if !self.keys.contains(&key) {
            self.keys.push(key);
            self.input.key(key, true, scope)?;
        }
        Ok(())
    }

    /// Presses a button.
    pub(crate) fn button(&mut self, button: Button, scope: &Scope) -> Result<()> {
        scope.check("pressing a button")?;
        self.buttons.push(button);
        Ok(self.input.button(button, true, scope)?)
    }

    /// Lets a button go.
    pub(crate) fn lift(&mut self, button: Button) -> Result<()> {
        self.input.button(button, false, &Scope::timeout(LET_GO))?;
        self.buttons.retain(|b| *b != button);
        Ok(())
    }

    /// Lets everything go.
    pub(crate) fn end(mut self) -> Result<()> {
        self.release()
    }

    fn release(&mut self) -> Result<()> {
        let scope = Scope::timeout(LET_GO);
        let mut result = Ok(());
        for button in self.buttons.drain(..).rev() {
            result = result.and(self.input.button(button, false, &scope));
        }
        for key in self.keys.drain(..).rev() {
            result = result.and(self.input.key(key, false, &scope));
        }
        if result.is_err() {
            // Last resort: whatever this process holds.
            self.input.release_all()?;
        }
        Ok(result?)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // An error here has no one to go to; the host releases everything after a failed call.
        let _ = self.release();
    }
}
