//! What came of an action: pixels that changed and accessibility events decide, within a bounded wait.

use std::time::{Duration, Instant};

use deskhand_platform::{Desktop, ElementEvent, ElementEventKind, Mark, Scope};
use deskhand_protocol::{Effect, EffectReport, Point, Rect};
use deskhand_tools::{Marks, Watch};

/// How long an effect is waited for.
const WAIT: Duration = Duration::from_millis(800);
/// How long each stream is listened to in turn.
const SLICE: Duration = Duration::from_millis(12);
/// How long further changes are gathered after the first.
const GATHER: Duration = Duration::from_millis(30);
/// How near to the point pixels must change to count as its effect.
const NEAR: i32 = 48;
/// Most events looked at in one turn.
const MAX_EVENTS: usize = 64;
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
    let (mut screen, mut events) = (marks.screen, marks.elements);
    let mut elsewhere: Vec<Rect> = Vec::new();
    while wait.check("looking for the effect").is_ok() {
        if let Some(mark) = events {
            // The first listen does not wait: events that came already are in the stream.
            let (event, heard) = strong_event(desktop, mark, pid, &wait.within(SLICE));
            events = Some(heard);
            if let Some(event) = event {
                report.after_ms = Some(millis(since, event.at));
                report.effect = Effect::Confirmed;
                report.why = format!("the application answered: {}", words(&event));
                report.changed = gather(desktop, marks, within, scope);
                return Some(report);
            }
        }
        if let Some(mark) = screen {
            match desktop.screen.wait_change(mark, within, &wait.within(SLICE)) {
                Ok(Some(change)) if change.rects.iter().any(|r| matters(r) && near(r, report.at)) => {
                    report.after_ms = Some(millis(since, change.at));
                    report.effect = Effect::Confirmed;
                    report.why = "pixels changed".to_owned();
                    report.changed = gather(desktop, marks, within, scope);
                    return Some(report);
                }
                Ok(Some(change)) => {
                    elsewhere.extend(change.rects.iter().filter(|r| matters(r)).take(MAX_RECTS));
                    elsewhere.truncate(MAX_RECTS);
                    screen = Some(change.mark);
                }
                Ok(None) => {}
                Err(_) => screen = None,
            }
        }
    }
    if scope.check("").is_err() {
        report.effect = Effect::Unverifiable;
        report.why = "sent; there was no time left to see what came of it".to_owned();
    } else if !elsewhere.is_empty() {
        report.effect = Effect::Unverifiable;
        report.why =
            "sent; pixels changed elsewhere, which may have other causes, and nothing where it acted"
                .to_owned();
        report.changed = elsewhere;
    } else {
        report.effect = Effect::SuspectedNoop;
        report.why = format!("sent, and nothing changed within {} ms", WAIT.as_millis());
    }
    Some(report)
}

/// The first event after `since` that says something, and the place up to which was listened.
fn strong_event(
    desktop: &Desktop,
    since: Mark,
    pid: Option<u32>,
    scope: &Scope,
) -> (Option<ElementEvent>, Mark) {
    let mut at = since;
    for _ in 0..MAX_EVENTS {
        match desktop.elements.wait_event(at, pid, scope) {
            Ok(Some(event)) if tells(&event) => return (Some(event), at),
            Ok(Some(event)) => at = event.mark,
            _ => break,
        }
    }
    (None, at)
}

/// Tool tips, names and places change for many reasons; they are no answer to an action.
fn tells(event: &ElementEvent) -> bool {
    event.kind != ElementEventKind::Other && !event.detail.contains("has-tooltip")
}

/// In words for people, with the platform's own behind them.
fn words(event: &ElementEvent) -> String {
    let what = match event.kind {
        ElementEventKind::TextChanged => "its text changed",
        ElementEventKind::StateChanged => "a state changed",
        ElementEventKind::FocusChanged => "the focus moved",
        ElementEventKind::ValueChanged => "a value changed",
        ElementEventKind::SelectionChanged => "the selection changed",
        ElementEventKind::ChildrenChanged => "contents changed",
        ElementEventKind::WindowChanged => "a window changed",
        ElementEventKind::Other => "something changed",
    };
    format!("{what} ({})", event.detail)
}

/// A clock that ticks elsewhere is no effect of a click here. Without a point every place counts.
fn near(r: &Rect, at: Option<Point>) -> bool {
    let grown = Rect::new(r.x - NEAR, r.y - NEAR, r.width + 2 * NEAR, r.height + 2 * NEAR);
    at.is_none_or(|p| grown.contains(p))
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

#[cfg(test)]
mod tests {
    use super::*;
    use deskhand_testkit::FakeDesktop;

    const SCENE: &str = r##"
display 0 1000x800 primary
window "Clock" pid=7 app="clock" at=100,100 size=600x400 focused
  edit #time "Time" value="1" at=500,120 size=100x24
  label #near "Near" value="a" at=120,420 size=60x24
"##;

    fn judged(effects: &str, at: Option<Point>) -> EffectReport {
        let fake = FakeDesktop::parse(SCENE);
        let desktop = fake.desktop();
        // Pixels alone: accessibility events would tell more.
        let marks = Marks { screen: desktop.screen.mark().ok(), elements: None };
        fake.run(effects);
        let mut report = EffectReport::new(Effect::Unverifiable, "");
        report.at = at;
        let watch = Watch::Changes { report, pid: Some(7), within: None };
        judge(watch, marks, true, Instant::now(), &desktop, &Scope::timeout(Duration::from_secs(5))).unwrap()
    }

    #[test]
    fn what_changes_far_from_a_click_does_not_confirm_it() {
        let click = Some(Point::new(130, 430));
        assert_eq!(judged("set #time \"2\"", click).effect, Effect::Unverifiable);
        assert_eq!(judged("set #near \"b\"", click).effect, Effect::Confirmed);
        assert_eq!(judged("nothing", click).effect, Effect::SuspectedNoop);
        assert_eq!(
            judged("set #time \"2\"", None).effect,
            Effect::Confirmed,
            "without a point every place counts"
        );
    }
}
