//! Pixels.

use std::time::Duration;

use deskhand_platform::{Area, Frame, Highlight, PlatformError, WindowId};
use deskhand_protocol::{Rect, Role};

use super::form::{Form, Outcome, Say, ensure, ensure_err, ms, patient, until};
use super::{Case, Need, Stage};

pub(crate) const CASES: &[Case] = &[
    Case { name: "screen: displays are sane", needs: &[], run: displays },
    Case { name: "screen: a capture of all has the size of the desktop", needs: &[], run: capture_all },
    Case { name: "screen: a capture of a display has its size", needs: &[], run: capture_display },
    Case {
        name: "screen: a region holds the same pixels as the whole",
        needs: &[Need::Quiet],
        run: capture_region,
    },
    Case { name: "screen: a region is clipped to the desktop", needs: &[], run: capture_clipped },
    Case { name: "screen: what lies outside is refused", needs: &[], run: capture_outside },
    Case { name: "screen: a window's capture shows its bounds", needs: &[Need::Form], run: capture_window },
    Case { name: "screen: an unknown window is not found", needs: &[], run: capture_no_window },
    Case { name: "screen: a click changes pixels and is seen", needs: &[Need::Form], run: change_seen },
    Case { name: "screen: nothing changes when nobody acts", needs: &[Need::Quiet], run: quiet },
    Case { name: "screen: a change elsewhere is not told", needs: &[Need::Form], run: change_elsewhere },
    Case {
        name: "screen: a highlight shows, lets clicks through, and goes",
        needs: &[Need::Form],
        run: highlight,
    },
];

fn whole(stage: &dyn Stage) -> Outcome<Rect> {
    let displays = stage.desktop().screen.displays().say("displays")?;
    let first = displays.first().say("a display")?.bounds;
    Ok(displays.iter().fold(first, |all, d| all.union(&d.bounds)))
}

fn sized(frame: &Frame) -> Outcome {
    let want = |v: i32| (f64::from(v) * frame.scale).round() as u32;
    let fits = frame.size.width == want(frame.area.width) && frame.size.height == want(frame.area.height);
    ensure!(fits, "{:?} at scale {} does not fit {:?}", frame.size, frame.scale, frame.area);
    let bytes = frame.size.width as usize * frame.size.height as usize * 4;
    ensure!(frame.data.len() == bytes, "{} bytes instead of {bytes}", frame.data.len());
    Ok(())
}

/// B, G, R of the pixel at a logical place.
fn pixel(frame: &Frame, x: i32, y: i32) -> Outcome<[u8; 3]> {
    let px = |v: i32| (f64::from(v) * frame.scale) as usize;
    let at = (px(y - frame.area.y) * frame.size.width as usize + px(x - frame.area.x)) * 4;
    let p = frame.data.get(at..at + 3).say("a pixel")?;
    Ok([p[0], p[1], p[2]])
}

fn displays(stage: &dyn Stage) -> Outcome {
    let displays = stage.desktop().screen.displays().say("displays")?;
    ensure!(
        displays.iter().filter(|d| d.primary).count() == 1,
        "not exactly one primary display: {displays:?}"
    );
    ensure!(displays[0].primary, "the primary display is not first");
    for (i, d) in displays.iter().enumerate() {
        ensure!(!d.bounds.is_empty() && d.scale >= 1.0, "{d:?} is empty or has a wrong scale");
        for other in &displays[i + 1..] {
            ensure!(other.id != d.id, "two displays have the id {}", d.id);
            ensure!(other.bounds.intersect(&d.bounds).is_none(), "{d:?} and {other:?} overlap");
        }
    }
    Ok(())
}

fn capture_all(stage: &dyn Stage) -> Outcome {
    let frame = stage.desktop().screen.capture(Area::All, &patient()).say("capture")?;
    ensure!(frame.area == whole(stage)?, "the frame shows {:?}", frame.area);
    sized(&frame)
}

fn capture_display(stage: &dyn Stage) -> Outcome {
    for d in stage.desktop().screen.displays().say("displays")? {
        let frame = stage.desktop().screen.capture(Area::Display(d.id), &patient()).say("capture")?;
        ensure!(
            frame.area == d.bounds,
            "display {} is at {:?}, the frame shows {:?}",
            d.id,
            d.bounds,
            frame.area
        );
        sized(&frame)?;
    }
    Ok(())
}

fn capture_region(stage: &dyn Stage) -> Outcome {
    let all = whole(stage)?;
    // Odd places and sizes find wrong strides.
    let region = Rect::new(all.x + 101, all.y + 57, 37, 23);
    let part = stage.desktop().screen.capture(Area::Region(region), &patient()).say("region")?;
    ensure!(part.area == region, "the frame shows {:?}", part.area);
    sized(&part)?;
    let whole = stage.desktop().screen.capture(Area::All, &patient()).say("all")?;
    for (x, y) in [(0, 0), (36, 0), (0, 22), (36, 22), (17, 11)] {
        let (a, b) = (pixel(&part, region.x + x, region.y + y)?, pixel(&whole, region.x + x, region.y + y)?);
        ensure!(a == b, "the pixel at {x},{y} of the region is {a:?}, in the whole it is {b:?}");
    }
    Ok(())
}

fn capture_clipped(stage: &dyn Stage) -> Outcome {
    let all = whole(stage)?;
    let asked = Rect::new(all.right() - 10, all.bottom() - 7, 100, 100);
    let frame = stage.desktop().screen.capture(Area::Region(asked), &patient()).say("capture")?;
    let want = Rect::new(all.right() - 10, all.bottom() - 7, 10, 7);
    ensure!(frame.area == want, "asked for {asked:?}, got {:?} instead of {want:?}", frame.area);
    sized(&frame)
}

fn capture_outside(stage: &dyn Stage) -> Outcome {
    let (screen, all) = (&stage.desktop().screen, whole(stage)?);
    let beyond = Rect::new(all.right() + 5, all.y, 10, 10);
    ensure_err!(screen.capture(Area::Region(beyond), &patient()), PlatformError::OutOfRange { .. });
    ensure_err!(
        screen.capture(Area::Region(Rect::new(all.x, all.y, 0, 10)), &patient()),
        PlatformError::OutOfRange { .. }
    );
    ensure_err!(
        screen.capture(Area::Region(Rect::new(i32::MAX - 1, 0, i32::MAX, 10)), &patient()),
        PlatformError::OutOfRange { .. }
    );
    ensure_err!(screen.capture(Area::Display(4711), &patient()), PlatformError::OutOfRange { .. });
    Ok(())
}

fn capture_window(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let bounds = form.me()?.bounds.intersect(&whole(stage)?).say("the window on the desktop")?;
    let frame = form.desktop.screen.capture(Area::Window(form.window), &patient()).say("capture")?;
    ensure!(frame.area == bounds, "the window is at {bounds:?}, the frame shows {:?}", frame.area);
    sized(&frame)
}

fn capture_no_window(stage: &dyn Stage) -> Outcome {
    let gone = WindowId(0x0fff_fff1);
    ensure_err!(
        stage.desktop().screen.capture(Area::Window(gone), &patient()),
        PlatformError::WindowNotFound { .. }
    );
    Ok(())
}

fn change_seen(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let screen = &form.desktop.screen;
    let at = form.shown(Role::CheckBox, "Agree")?.rect.say("its place")?;
    form.desktop.input.move_to(at.center(), &patient()).say("move")?;
    settle(stage, at)?;
    let before = screen.capture(Area::Region(at), &patient()).say("before")?;
    let mark = screen.mark().say("mark")?;
    form.click_at(at.center())?;
    let change =
        screen.wait_change(mark, Some(at), &patient()).say("wait")?.say("a change after the click")?;
    ensure!(change.mark > mark, "the mark did not move on");
    ensure!(!change.rects.is_empty() && change.rects.len() <= 32, "{} rectangles", change.rects.len());
    ensure!(
        change.rects.iter().any(|r| r.intersect(&at).is_some()),
        "{:?} is not where the box is, {at:?}",
        change.rects
    );
    let again = screen.wait_change(mark, Some(at), &ms(0)).say("again")?;
    ensure!(again.is_some(), "a change that happened already is not told at once");
    until("the pixels differ", || {
        let after = screen.capture(Area::Region(at), &patient()).say("after")?;
        Ok((after.data != before.data).then_some(()))
    })
}

/// Waits until a part of the screen has been still for a while.
fn settle(stage: &dyn Stage, at: Rect) -> Outcome {
    let screen = &stage.desktop().screen;
    until("the screen is still", || {
        let mark = screen.mark().say("mark")?;
        Ok(screen.wait_change(mark, Some(at), &ms(200)).say("wait")?.is_none().then_some(()))
    })
}

fn quiet(stage: &dyn Stage) -> Outcome {
    settle(stage, whole(stage)?)
}

fn change_elsewhere(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let bounds = form.me()?.bounds;
    let all = whole(stage)?;
    // A strip that the form does not touch.
    let strip = Rect::new(all.x, all.bottom() - 20, all.width, 20);
    ensure!(strip.intersect(&bounds).is_none(), "the form at {bounds:?} leaves no room for this case");
    settle(stage, all)?;
    let mark = form.desktop.screen.mark().say("mark")?;
    form.click(Role::CheckBox, "Agree")?;
    form.desktop
        .screen
        .wait_change(mark, Some(bounds), &patient())
        .say("wait")?
        .say("a change in the form")?;
    let elsewhere = form.desktop.screen.wait_change(mark, Some(strip), &ms(150)).say("wait")?;
    ensure!(elsewhere.is_none(), "a change was told in {strip:?}: {elsewhere:?}");
    Ok(())
}

fn highlight(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let screen = &form.desktop.screen;
    let rect = form.shown(Role::CheckBox, "Agree")?.rect.say("its place")?;
    let around = Rect::new(rect.x - 4, rect.y - 4, rect.width + 8, rect.height + 8);
    let shot = || {
        screen.capture(
            Area::Region(Rect::new(around.x - 8, around.y - 8, around.width + 16, around.height + 16)),
            &patient(),
        )
    };
    let pink = |frame: &Frame| frame.data.chunks_exact(4).filter(|p| p[..3] == [0x80, 0x10, 0xf0]).count();
    ensure!(pink(&shot().say("before")?) == 0, "the colour is there before");
    let time = Duration::from_millis(1500);
    screen.highlight(&Highlight { rect: around, color: 0x00f0_1080, thickness: 3, time }).say("highlight")?;
    until("the frame shows", || Ok((pink(&shot().say("during")?) > 100).then_some(())))?;
    // The frame must not swallow clicks.
    form.click_at(rect.center())?;
    until("the click went through", || Ok(form.find(Role::CheckBox, "Agree")?.states.checked.then_some(())))?;
    until("the frame is gone", || Ok((pink(&shot().say("after")?) == 0).then_some(())))
}
