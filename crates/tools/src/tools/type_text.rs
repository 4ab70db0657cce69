//! `type_text` (control seed §3.4.1, host seed §2).

use std::time::Duration;

use deskhand_platform::{Button, Element, ElementAction, PlatformError};
use deskhand_protocol::{
    Category, Effect, EffectReport, Error, ErrorCode, Evidence, Lane, Level, Needs, Result, Risk, Role,
    Target, ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::{EVERYWHERE, at_most, millis, wrong};
use super::pointer::{Click, Spot, click};
use super::typing::{self, Job, Way, best_way};
use crate::aim::{self, Aim};
use crate::route::{Pin, focus_lost};
use crate::{Ctx, Done, Tool, frontmost, select};

/// Most characters of one call.
const MOST: usize = 100_000;
/// How long an element may take to get the focus.
const FOCUS: Duration = Duration::from_millis(600);

/// Types text where the keyboard focus is, or into `target`. Any characters, any layout. Without
/// `delay` the fastest exact way is taken (the element inserts it, else paste with the clipboard put
/// back, else keys) and the text is read back. With `delay`, or method "keys", it is typed key by key
/// as a person does (default delay then 50 ms); a line break is Enter and a tab is Tab. In a
/// single-line field a line break always is Enter.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The text, at most 100000 characters.
    text: String,
    /// Milliseconds between keys; makes it type key by key. Default 50 with method "keys".
    #[schemars(range(min = 0, max = 5000))]
    delay: Option<f64>,
    /// The element to type into; it gets the focus first. Default: where the focus is.
    target: Option<Target>,
    /// How to type, default "auto".
    method: Option<Method>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Method {
    #[default]
    Auto,
    Insert,
    Paste,
    Keys,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// False when the text was read back and is not (all) there.
    success: bool,
    /// Characters of the text.
    characters: usize,
    /// The way it was typed: "insert", "paste" or "keys".
    method: &'static str,
}

pub(crate) struct TypeText;

impl Tool for TypeText {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "type_text",
        title: "Type text",
        title_zh: "文本输入",
        risk: Risk::Medium,
        category: Category::Keyboard,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Input],
        evidence: Evidence::BeforeAfter,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 120_000,
        roles: &[],
    };

    fn check(input: &Input) -> Result<()> {
        check_text(&input.text)?;
        check_delay(input)?;
        input.target.as_ref().map_or(Ok(()), select::check_target)
    }

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let text = check_text(&input.text)?;
        let characters = text.chars().count();
        let method = input.method.unwrap_or_default();
        let delay = check_delay(&input)?;
        check_time(delay, characters, ctx)?;
        let mut pin = if input.target.is_none() { Some(Pin::routed(ctx)?) } else { None };
        let mut aimed = input.target.as_ref().map(|target| aim::aim(ctx, target)).transpose()?;
        if let Some(aim) = &mut aimed {
            aim.check_actionable(ctx)?;
            let e = &aim.element;
            // Terminals, cells and pages take keys without being editable themselves.
            let takes_keys =
                matches!(e.role, Role::Terminal | Role::Cell | Role::Table | Role::Document | Role::Canvas);
            if e.has_text && !e.states.editable && !e.editable_text && !takes_keys {
                return Err(aim::not_actionable(&aim.words(), "its text cannot be changed"));
            }
            focus(ctx, aim)?;
        }
        let pin = match pin.take() {
            Some(pin) => pin,
            None => Pin::focused(ctx)?,
        };
        let focused = if aimed.is_none() { focused(ctx)? } else { None };
        let element = aimed.as_ref().map(|a| &a.element).or(focused.as_ref());
        let way = match (method, input.delay) {
            (Method::Keys, _) | (Method::Auto, Some(_)) => Way::Keys,
            (Method::Auto, None) => best_way(element, &text),
            (Method::Insert, _) => Way::Insert,
            (Method::Paste, _) => Way::Paste,
        };
        // A field nobody can see into (a terminal asking for a password) is taken for a secret one.
        if element.is_some_and(|e| !e.secure && e.role != Role::Terminal && e.role != Role::PasswordField) {
            ctx.notebook.plain();
        }
        if way == Way::Paste && element.is_some_and(|e| e.secure) {
            return Err(wrong(
                "method",
                "is \"paste\", which would put a password on the clipboard; use \"keys\"",
            ));
        }
        if method == Method::Auto
            && aimed.is_none()
            && let Some(e) = element.filter(|e| takes_no_text(e))
        {
            return Err(aim::not_actionable(&aim::words(e), "it has the focus and takes no text").hint(
                "click a text field first, name it in `target`, or send keys anyway with method \"keys\"",
            ));
        }
        ctx.notebook.before()?;
        // Taken before anything is sent: what is in front afterwards may be another window.
        let front = pin.home.as_ref();
        let hit = element.map(aim::words).or_else(|| front.map(|w| format!("window {:?}", w.title)));
        let pid = element.map(|e| e.pid).or_else(|| front.and_then(|w| w.pid));
        let job = Job { text: &text, element, delay, may_switch: method == Method::Auto, pin: &pin };
        let typed = typing::run(ctx, &job, way)?;
        let tried = typed.tried;
        let dress = |mut report: EffectReport| {
            report.layer = Some(typed.way.layer());
            report.hit.clone_from(&hit);
            if !tried.is_empty() {
                report.why = format!("{} (first {} did nothing)", report.why, tried.join(" and "));
            }
            report
        };
        let output = |success| Output { success, characters, method: typed.way.as_str() };
        Ok(match typed.verdict.report() {
            Some(report) => {
                let success = !matches!(report.effect, Effect::SuspectedNoop | Effect::Partial);
                Done::own(output(success), dress(report))
            }
            // Something answered is not the same as the text having arrived.
            None if element.is_some_and(|e| !e.states.editable && !e.editable_text) => {
                let why = "the keys were sent; what came of them cannot be read back";
                Done::own(output(true), dress(EffectReport::new(Effect::Unverifiable, why)))
            }
            None => {
                let report = dress(EffectReport::new(Effect::Unverifiable, "the text was sent"));
                Done::watch(output(true), report, pid, None)
            }
        })
    }
}

/// Keys would press it, pick from it or run a command instead of writing.
fn takes_no_text(e: &deskhand_platform::Element) -> bool {
    let writes = e.states.editable || e.editable_text;
    !writes
        && matches!(
            e.role,
            Role::Button
                | Role::ToggleButton
                | Role::CheckBox
                | Role::RadioButton
                | Role::Link
                | Role::Menu
                | Role::MenuItem
                | Role::MenuBar
                | Role::Slider
                | Role::ScrollBar
                | Role::Tab
        )
}

/// Line ends as `\n`; an error names the character that no key can type.
fn check_text(text: &str) -> Result<String> {
    if text.is_empty() {
        return Err(wrong("text", "is empty; there is nothing to type"));
    }
    at_most("text", text, MOST)?;
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    match text.chars().enumerate().find(|(_, c)| c.is_control() && !matches!(c, '\n' | '\t')) {
        Some((i, c)) => Err(wrong(
            "text",
            format!("has the control character {c:?} at position {i}, which cannot be typed"),
        )
        .hint("use key_press for keys such as escape or backspace")),
        None => Ok(text),
    }
}

fn check_delay(input: &Input) -> Result<Duration> {
    let method = input.method.unwrap_or_default();
    if input.delay.is_some() && matches!(method, Method::Insert | Method::Paste) {
        return Err(wrong("delay", "only goes with method \"keys\" or \"auto\""));
    }
    let default = if method == Method::Keys { 50 } else { 0 };
    millis("delay", input.delay, default, 5000)
}

/// Whether the time of the call is enough.
fn check_time(delay: Duration, characters: usize, ctx: &Ctx<'_>) -> Result<()> {
    let needed = delay.saturating_mul(u32::try_from(characters).unwrap_or(u32::MAX));
    let left = ctx.scope.remaining();
    if needed > left {
        return Err(wrong(
            "delay",
            format!(
                "of {} ms for {characters} characters takes {:.0} s; this call may take {:.0} s",
                delay.as_millis(),
                needed.as_secs_f64(),
                left.as_secs_f64()
            ),
        )
        .hint("leave delay out, shorten it, or give a larger timeoutMs"));
    }
    Ok(())
}

/// The element with the focus, when it belongs to the window in front; a tree that does not answer
/// only means that keys are used.
fn focused(ctx: &Ctx<'_>) -> Result<Option<Element>> {
    let element = match ctx.desktop.elements.focused(&ctx.scope.within(Duration::from_secs(1))) {
        Ok(element) => element,
        Err(PlatformError::Cancelled) => return Err(PlatformError::Cancelled.into()),
        Err(_) => None,
    };
    let front = ctx.desktop.windows.active().ok().flatten().and_then(|w| w.pid);
    Ok(element.filter(|e| front.is_none_or(|pid| pid == e.pid)))
}

/// Gives the target the focus: by itself, else by a click into it.
fn focus(ctx: &Ctx<'_>, aim: &mut Aim) -> Result<()> {
    if let Some(window) = aim.window.as_ref().filter(|w| !w.focused) {
        if ctx.route.leaves_focus() {
            return Err(focus_lost(window, ctx.desktop.windows.active()?.as_ref()));
        }
        ctx.desktop.windows.activate(window.id, &ctx.scope.within(Duration::from_secs(3)))?;
    }
    let done = ctx.desktop.elements.act(
        aim.handle(),
        &ElementAction::Focus,
        &ctx.scope.within(Duration::from_secs(2)),
    );
    if matches!(done, Err(PlatformError::Cancelled)) {
        return Err(PlatformError::Cancelled.into());
    }
    if done.is_ok() && has_focus(ctx, aim)? {
        return Ok(());
    }
    let spot = Spot::of(aim, ctx)?;
    click(ctx, &spot, &Click { button: Button::Left, count: 1, modifiers: &[], smooth: false })?;
    if has_focus(ctx, aim)? {
        return Ok(());
    }
    // Some toolkits never say who has the focus: then the window must do.
    let front = ctx.desktop.windows.active()?;
    match (&aim.window, &front) {
        (Some(window), Some(front)) if window.id == front.id && !aim.element.states.focusable => Ok(()),
        _ => {
            Err(Error::new(ErrorCode::FocusLost, format!("{} does not take the keyboard focus", aim.words()))
                .detail("frontmost", frontmost(ctx.desktop)))
        }
    }
}

fn has_focus(ctx: &Ctx<'_>, aim: &mut Aim) -> Result<bool> {
    let wait = ctx.scope.within(FOCUS);
    loop {
        let now = ctx.desktop.elements.read(aim.handle(), ctx.scope)?;
        let focused = now.states.focused;
        if focused {
            aim.element = now;
            return Ok(true);
        }
        if wait.sleep(Duration::from_millis(15), "waiting for the focus").is_err() {
            ctx.scope.check("waiting for the focus")?;
            return Ok(false);
        }
    }
}
