//! What came of an action: pixels that changed and accessibility events decide, within a bounded wait.

use std::time::{Duration, Instant};

use deskhand_platform::{Desktop, Scope};
use deskhand_protocol::{Effect, EffectReport, Rect};
use deskhand_tools::{Marks, Watch};

/// How long an effect is waited for.
const WAIT: Duration = Duration::from_millis(800);
/// How long each stream is listened to in turn.
const SLICE: Duration = Duration::from_millis(12);
/// How long further changes are gathered after the first.
const GATHER: Duration = Duration::from_millis(30);
/// Most rectangles in a report.
const MAX_RECTS: usize = 8;

/// Judges an action.
pub(crate) fn judge(
    watch: Watch,
    marks: Marks,
    verify: bool,
    since: Instant,
    desktop: &Desktop,
    scope: &Scope,
) -> Option<EffectReport> {
    let (mut report, pid, within) = match watch {
        Watch::None => return None,
        Watch::Own(report) => return Some(report),
        Watch::Changes { report, pid, within } => (report, pid, within),
    };
    if !verify {
        report.effect = Effect::Unverifiable;
        report.why = "sent; verification was off".to_owned();
        return Some(report);
    }
    if marks.screen.is_none() && marks.elements.is_none() {
        report.effect = Effect::Unverifiable;
        report.why = "sent; neither pixels nor accessibility events can be watched here".to_owned();
        return Some(report);
    }
    let wait = scope.within(WAIT);
    let mut screen = marks.screen;
    while wait.check("looking for the effect").is_ok() {
        if let Some(mark) = marks.elements {
            // The first listen does not wait: events that came already are in the stream.
            if let Ok(Some(event)) = desktop.elements.wait_event(mark, pid, &wait.within(SLICE)) {
                report.after_ms = Some(millis(since, event.at));
                report.effect = Effect::Confirmed;
                report.why = format!("the application answered: {}", event.detail);
                report.changed = gather(desktop, marks, within, scope);
                return Some(report);
            }
        }
        if let Some(mark) = screen {
            match desktop.screen.wait_change(mark, within, &wait.within(SLICE)) {
                Ok(Some(change)) if change.rects.iter().any(matters) => {
                    report.after_ms = Some(millis(since, change.at));
                    report.effect = Effect::Confirmed;
                    report.why = "pixels changed".to_owned();
                    report.changed = gather(desktop, marks, within, scope);
                    return Some(report);
                }
                Ok(Some(change)) => screen = Some(change.mark),
                Ok(None) => {}
                Err(_) => screen = None,
            }
        }
    }
    if scope.check("").is_err() {
        report.effect = Effect::Unverifiable;
        report.why = "sent; there was no time left to see what came of it".to_owned();
    } else {
        report.effect = Effect::SuspectedNoop;
        report.why = format!("sent, and nothing changed within {} ms", WAIT.as_millis());
    }
    Some(report)
}

/// A blinking caret is no effect.
fn matters(r: &Rect) -> bool {
    !(r.width <= 3 && r.height <= 64)
}

fn gather(desktop: &Desktop, marks: Marks, within: Option<Rect>, scope: &Scope) -> Vec<Rect> {
    let Some(mark) = marks.screen else { return Vec::new() };
    if scope.sleep(GATHER, "").is_err() {
        return Vec::new();
    }
    let seen = desktop.screen.wait_change(mark, within, &scope.within(Duration::from_millis(1)));
    let mut rects = seen.ok().flatten().map(|c| c.rects).unwrap_or_default();
    rects.retain(matters);
    while rects.len() > MAX_RECTS {
        let last = rects.pop().unwrap_or_default();
        if let Some(keep) = rects.last_mut() {
            *keep = keep.union(&last);
        }
    }
    rects
}

fn millis(since: Instant, at: Instant) -> u64 {
    u64::try_from(at.saturating_duration_since(since).as_millis()).unwrap_or(u64::MAX)
}
