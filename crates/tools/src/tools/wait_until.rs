//! `wait_until` (host seed §2): a condition, with a hard time-out.

use std::time::{Duration, Instant};

use deskhand_platform::{Mark, PlatformError};
use deskhand_protocol::{
    Category, ElementRef, Error, ErrorCode, Evidence, Lane, Level, Needs, Result, Risk, Selector, TextMatch,
    ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::args::{EVERYWHERE, bounded, text};
use crate::route::{window_json, windows_json};
use crate::{Ctx, Done, Tool, aim, frontmost, select};

/// Applications send events in bursts: one reading per burst.
const BURST: Duration = Duration::from_millis(15);
/// Kept for the answer when the call's own time-out is as close.
const ANSWER: Duration = Duration::from_millis(100);
/// How much longer than the wait a look may take.
const LOOK: Duration = Duration::from_millis(500);

/// Waits until a condition holds: an element is there or gone, a window has a title, an element's
/// text contains something, or the screen has stopped changing. Woken by events; answers
/// DESKTOP_TIMEOUT with the last state when it does not hold in time.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// The condition.
    condition: Condition,
    /// How long to wait in milliseconds, default 10000.
    #[schemars(range(min = 0, max = 600000))]
    timeout_ms: Option<u64>,
    /// Longest time between two looks in milliseconds when no event comes, default 100.
    #[schemars(range(min = 10, max = 10000))]
    poll_ms: Option<u64>,
}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum Condition {
    /// An element that fits is there.
    ElementExists(Selector),
    /// No element fits any more.
    ElementGone(Selector),
    /// A window with such a title is open.
    WindowTitle(TextMatch),
    /// The text of an element contains this.
    TextContains(TextContains),
    /// The screen (the routed window's part) has not changed for so many milliseconds.
    ScreenStable(u64),
}

#[derive(Clone, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TextContains {
    /// The element.
    selector: Selector,
    /// What its text must contain.
    text: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Output {
    /// Always true; a time-out is an error.
    met: bool,
    /// How long it took, milliseconds.
    waited_ms: u64,
    /// How often it was looked at.
    checks: u32,
    /// The element, for conditions about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    element: Option<ElementRef>,
    /// What was seen.
    state: Value,
}

pub(crate) struct WaitUntil;

impl Tool for WaitUntil {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "wait_until",
        title: "Wait for a condition",
        title_zh: "等待条件",
        risk: Risk::Low,
        category: Category::Screen,
        level: Level::L1,
        read_only: true,
        lane: Lane::SharedRead,
        needs: &[Needs::Elements],
        evidence: Evidence::None,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 605_000,
        roles: &[],
    };

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let time = Duration::from_millis(bounded("timeoutMs", input.timeout_ms, 10_000, 0, 600_000)?);
        let poll = Duration::from_millis(bounded("pollMs", input.poll_ms, 100, 10, 10_000)?);
        let time = time.min(ctx.scope.remaining().saturating_sub(ANSWER));
        let started = Instant::now();
        let mut checks = 0;
        if let Condition::ScreenStable(ms) = input.condition {
            return stable(ctx, ms, time, started);
        }
        // One look gets a little more than the wait, so that a wait of nothing is one whole look.
        let scope = ctx.scope.within(time + LOOK);
        let bounded = Ctx::new(ctx.desktop, &scope, ctx.route, ctx.books, ctx.notebook, ctx.verify);
        let by_screen = matches!(input.condition, Condition::WindowTitle(_));
        let mut marks = Marks::now(ctx);
        let mut state = Value::Null;
        loop {
            checks += 1;
            match look(&bounded, &input.condition) {
                Ok(Look::Met { element, state }) => {
                    let waited_ms = millis(started.elapsed());
                    return Ok(Done::look(Output { met: true, waited_ms, checks, element, state }));
                }
                Ok(Look::NotYet(seen)) => state = seen,
                Err(e) if e.code == ErrorCode::Timeout => {}
                Err(e) => return Err(e),
            }
            let left = time.saturating_sub(started.elapsed());
            if left.is_zero() {
                return Err(timed_out(ctx, &input.condition, started, checks, state));
            }
            marks.wait(ctx, by_screen, poll.min(left))?;
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn timed_out(ctx: &Ctx<'_>, condition: &Condition, started: Instant, checks: u32, state: Value) -> Error {
    let what = serde_json::to_string(condition).unwrap_or_default();
    let ms = millis(started.elapsed());
    Error::new(ErrorCode::Timeout, format!("{what} did not hold within {ms} ms"))
        .hint(
            "details.state is what was seen last; give a larger timeoutMs, or check the condition with find",
        )
        .detail("state", state)
        .detail("checks", checks)
        .detail("frontmost", frontmost(ctx.desktop))
}

/// One look at the condition.
enum Look {
    Met { element: Option<ElementRef>, state: Value },
    NotYet(Value),
}

fn look(ctx: &Ctx<'_>, condition: &Condition) -> Result<Look> {
    ctx.scope.check("waiting")?;
    match condition {
        Condition::WindowTitle(wanted) => window_title(ctx, wanted),
        Condition::ElementExists(selector) => element(ctx, selector, |_| Ok(true)),
        Condition::ElementGone(selector) => {
            let search = match search(ctx, selector)? {
                Ok(search) => search,
                // An application that is gone has no elements; one that does not answer says nothing.
                Err(e) if matches!(e.code, ErrorCode::AppNotFound | ErrorCode::WindowNotFound) => {
                    return Ok(Look::Met { element: None, state: json!({"gone": e.message}) });
                }
                Err(e) => return Ok(Look::NotYet(json!({"error": e}))),
            };
            let whole = search.tree.limit.is_none() && search.tree.unresponsive.is_empty();
            Ok(if search.hits.is_empty() && whole {
                Look::Met { element: None, state: json!({"found": 0}) }
            } else {
                Look::NotYet(json!({"found": search.hits.len(), "whole": whole}))
            })
        }
        Condition::TextContains(wanted) => {
            text("condition.textContains.text", &wanted.text, 10_000)?;
            element(ctx, &wanted.selector, |e| contains(ctx, e, &wanted.text))
        }
        Condition::ScreenStable(_) => Ok(Look::NotYet(Value::Null)),
    }
}

/// A wrong selector is an error at once; an application that is not there (yet) is a state.
fn search(ctx: &Ctx<'_>, selector: &Selector) -> Result<Result<aim::Search>> {
    match aim::search(ctx, selector, true) {
        Err(e) if matches!(e.code, ErrorCode::InvalidInput | ErrorCode::Aborted) => Err(e),
        other => Ok(other),
    }
}

fn element(
    ctx: &Ctx<'_>,
    selector: &Selector,
    good: impl Fn(&deskhand_platform::Element) -> Result<bool>,
) -> Result<Look> {
    let search = match search(ctx, selector)? {
        Ok(search) => search,
        Err(e) => return Ok(Look::NotYet(json!({"error": e}))),
    };
    let Some(best) = search.hits.first() else {
        let near: Vec<String> =
            search.misses.iter().take(5).map(|s| aim::words(&search.tree.nodes[s.index].element)).collect();
        return Ok(Look::NotYet(
            json!({"found": 0, "elements": search.tree.nodes.len(), "nearMisses": near}),
        ));
    };
    let index = best.index;
    let found = &search.tree.nodes[index].element;
    let state = json!({"found": search.hits.len(), "element": aim::words(found)});
    if !good(found)? {
        return Ok(Look::NotYet(state));
    }
    let snapshot = ctx.books.keep_tree(search.tree, true);
    Ok(Look::Met { element: Some(snapshot.element_ref(index)), state })
}

fn contains(ctx: &Ctx<'_>, element: &deskhand_platform::Element, wanted: &str) -> Result<bool> {
    if element.secure {
        return Err(Error::new(
            ErrorCode::SecureField,
            format!("{} is a password field and is never read", aim::words(element)),
        ));
    }
    // The text looked for is no secret: the field it is looked for in is none.
    ctx.notebook.plain();
    let short = element.value.as_deref().is_some_and(|v| v.contains(wanted)) || element.name.contains(wanted);
    if short || !element.has_text {
        return Ok(short);
    }
    match ctx.desktop.elements.text(&element.handle, 1 << 20, ctx.scope) {
        Ok(read) => Ok(read.text.contains(wanted)),
        Err(PlatformError::Cancelled) => Err(PlatformError::Cancelled.into()),
        // Gone or busy between two steps: not yet.
        Err(_) => Ok(false),
    }
}

fn window_title(ctx: &Ctx<'_>, wanted: &TextMatch) -> Result<Look> {
    let all = match ctx.desktop.windows.list() {
        Ok(all) => all,
        Err(e @ (PlatformError::Cancelled | PlatformError::DisplayUnavailable { .. })) => {
            return Err(e.into());
        }
        Err(e) => return Ok(Look::NotYet(json!({"error": Error::from(e)}))),
    };
    for window in &all {
        if select::text_fits("condition.windowTitle", wanted, &window.title)? {
            return Ok(Look::Met { element: None, state: json!({"window": window_json(window)}) });
        }
    }
    // A wrong pattern is an error even when no window is open.
    select::text_fits("condition.windowTitle", wanted, "")?;
    Ok(Look::NotYet(json!({"windows": windows_json(&all)})))
}

/// Waits until the screen was quiet for `ms`.
fn stable(ctx: &Ctx<'_>, ms: u64, time: Duration, started: Instant) -> Result<Done<Output>> {
    let quiet = Duration::from_millis(bounded("condition.screenStable", Some(ms), ms, 1, 60_000)?);
    let within = ctx.route.window.as_ref().map(|w| w.bounds);
    let mut checks = 0;
    let mut mark = ctx.desktop.screen.mark()?;
    let mut last = Value::Null;
    loop {
        checks += 1;
        let left = time.saturating_sub(started.elapsed());
        let slice = ctx.scope.within(quiet.min(left));
        match ctx.desktop.screen.wait_change(mark, within, &slice)? {
            Some(change) => {
                mark = change.mark;
                last = json!({"changed": change.rects});
            }
            None => {
                ctx.scope.check("waiting for the screen to be still")?;
                if left >= quiet {
                    let waited_ms = millis(started.elapsed());
                    let state = json!({"quietMs": ms});
                    return Ok(Done::look(Output { met: true, waited_ms, checks, element: None, state }));
                }
            }
        }
        if time.saturating_sub(started.elapsed()) < Duration::from_millis(1) {
            return Err(timed_out(ctx, &Condition::ScreenStable(ms), started, checks, last));
        }
    }
}

/// Places in the streams of events.
struct Marks {
    screen: Option<Mark>,
    elements: Option<Mark>,
}

impl Marks {
    fn now(ctx: &Ctx<'_>) -> Self {
        Self { screen: ctx.desktop.screen.mark().ok(), elements: ctx.desktop.elements.mark().ok() }
    }

    /// Until something happens, at most `time`.
    fn wait(&mut self, ctx: &Ctx<'_>, by_screen: bool, time: Duration) -> Result<()> {
        let slice = ctx.scope.within(time);
        let woken = match (by_screen, self.screen, self.elements) {
            (false, _, Some(mark)) => {
                ctx.desktop.elements.wait_event(mark, None, &slice).map(|e| e.is_some())
            }
            (_, Some(mark), _) => ctx.desktop.screen.wait_change(mark, None, &slice).map(|c| c.is_some()),
            _ => ctx.scope.sleep(time, "waiting").map(|()| false),
        };
        match woken {
            Ok(true) => ctx.scope.sleep(BURST.min(time), "waiting")?,
            Ok(false) => {}
            Err(PlatformError::Cancelled) => return Err(PlatformError::Cancelled.into()),
            // The stream is broken; the looks will say why, at their own pace.
            Err(_) => ctx.scope.sleep(time, "waiting")?,
        }
        ctx.scope.check("waiting")?;
        *self = Self::now(ctx);
        Ok(())
    }
}
