//! Top-level windows.

use deskhand_platform::{PlatformError, Window, WindowChange, WindowId};
use deskhand_protocol::Rect;

use super::form::{Form, Outcome, Say, ensure, ensure_err, patient, until};
use super::{Case, Need, Stage};

const WM: &[Need] = &[Need::Form, Need::WindowManager];

pub(crate) const CASES: &[Case] = &[
    Case { name: "windows: the list tells the truth about the form", needs: WM, run: list },
    Case { name: "windows: the active window is the one that was activated", needs: WM, run: active },
    Case { name: "windows: activating brings to the front", needs: WM, run: stacking },
    Case { name: "windows: maximise and restore", needs: WM, run: maximise },
    Case { name: "windows: minimise and restore", needs: WM, run: minimise },
    Case { name: "windows: move and resize are exact", needs: WM, run: bounds },
    Case { name: "windows: what is not named stays", needs: WM, run: partial_bounds },
    Case { name: "windows: close ends the window", needs: WM, run: close },
    Case { name: "windows: a modal dialog says whose it is", needs: WM, run: modal },
    Case { name: "windows: the window at a point", needs: WM, run: at },
    Case { name: "windows: an unknown window is not found", needs: &[Need::WindowManager], run: unknown },
];

fn list(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let me = form.me()?;
    ensure!(me.pid == Some(form.app.pid) && !me.app.is_empty(), "{me:?}");
    ensure!(!me.bounds.is_empty() && !me.content.is_empty(), "it has no size: {me:?}");
    ensure!(me.bounds.contains_rect(&me.content), "the content {:?} is outside {:?}", me.content, me.bounds);
    ensure!(
        !me.minimized && !me.maximized && !me.modal && !me.dialog && me.transient_for.is_none(),
        "{me:?}"
    );
    let displays = form.desktop.screen.displays().say("displays")?;
    ensure!(displays.iter().any(|d| d.id == me.display), "there is no display {}", me.display);
    Ok(())
}

fn active(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let active = form.desktop.windows.active().say("active")?.say("an active window")?;
    ensure!(active.id == form.window && active.focused, "the active window is {active:?}");
    let list = form.desktop.windows.list().say("list")?;
    ensure!(list.iter().filter(|w| w.focused).count() == 1, "not exactly one has the focus");
    Ok(())
}

fn stacking(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    form.pick("New Window")?;
    let second = form.window_titled("Conformance Second")?;
    let overlap = |w: &Window| WindowChange::Bounds {
        x: Some(w.bounds.x + 30),
        y: Some(w.bounds.y + 30),
        width: None,
        height: None,
    };
    form.desktop.windows.change(second.id, overlap(&form.me()?), &patient()).say("move")?;
    for id in [form.window, second.id, form.window] {
        form.desktop.windows.activate(id, &patient()).say("activate")?;
        let active = form.desktop.windows.active().say("active")?.say("an active window")?;
        ensure!(active.id == id, "activated {id:?}, active is {:?}", active.id);
        let list = form.desktop.windows.list().say("list")?;
        ensure!(list.first().is_some_and(|w| w.id == id), "it is not topmost: {list:?}");
        let second = form.window_titled("Conformance Second")?;
        let shared = second.bounds.intersect(&form.me()?.bounds).say("a shared part")?.center();
        let on_top = form.desktop.windows.at(shared).say("at")?.say("a window")?;
        ensure!(on_top.id == id, "at {shared:?} is {:?}, not the one in front", on_top.title);
    }
    Ok(())
}

fn change(form: &Form, change: WindowChange) -> Outcome<Window> {
    form.desktop.windows.change(form.window, change, &patient()).say("change")?.say("the window after it")
}

fn maximise(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let before = form.me()?.bounds;
    let big = change(&form, WindowChange::Maximize)?;
    ensure!(big.maximized, "it does not say that it is maximised: {big:?}");
    let displays = form.desktop.screen.displays().say("displays")?;
    let display = displays.iter().find(|d| d.id == big.display).say("its display")?.bounds;
    let most = |part: i32, whole: i32| part * 10 >= whole * 9 && part <= whole;
    ensure!(
        most(big.bounds.width, display.width) && most(big.bounds.height, display.height),
        "{:?} does not fill {display:?}",
        big.bounds
    );
    let back = change(&form, WindowChange::Restore)?;
    ensure!(!back.maximized, "it still says that it is maximised");
    until("it has its old place", || Ok((form.me()?.bounds == before).then_some(())))
        .map_err(|e| format!("{e}: was {before:?}, is {:?}", form.me().map(|w| w.bounds)))
}

fn minimise(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let centre = form.me()?.bounds.center();
    let small = change(&form, WindowChange::Minimize)?;
    ensure!(small.minimized, "it does not say that it is minimised");
    let there = form.desktop.windows.at(centre).say("at")?;
    ensure!(there.is_none_or(|w| w.id != form.window), "it is still on the screen");
    let back = change(&form, WindowChange::Restore)?;
    ensure!(!back.minimized, "it still says that it is minimised");
    until("it is on the screen again", || {
        Ok(form.desktop.windows.at(centre).say("at")?.filter(|w| w.id == form.window).map(|_| ()))
    })
}

fn bounds(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    for want in [Rect::new(120, 90, 500, 640), Rect::new(33, 47, 613, 701)] {
        let (x, y, width, height) = (Some(want.x), Some(want.y), Some(want.width), Some(want.height));
        let now = change(&form, WindowChange::Bounds { x, y, width, height })?.bounds;
        ensure!(now == want, "wanted {want:?}, answered {now:?}");
        let listed = form.me()?.bounds;
        ensure!(listed == want, "wanted {want:?}, the list says {listed:?}");
    }
    Ok(())
}

fn partial_bounds(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let before = form.me()?.bounds;
    let moved =
        change(&form, WindowChange::Bounds { x: Some(77), y: None, width: None, height: None })?.bounds;
    ensure!(moved == Rect { x: 77, ..before }, "from {before:?} with x=77 came {moved:?}");
    let wider = before.width + 41;
    let sized =
        change(&form, WindowChange::Bounds { x: None, y: None, width: Some(wider), height: None })?.bounds;
    ensure!(sized == Rect { width: wider, ..moved }, "from {moved:?} with width={wider} came {sized:?}");
    Ok(())
}

fn close(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let left = form.desktop.windows.change(form.window, WindowChange::Close, &patient()).say("close")?;
    ensure!(left.is_none(), "it is still there: {left:?}");
    ensure!(form.me().is_err(), "it is still in the list");
    ensure_err!(form.desktop.windows.activate(form.window, &patient()), PlatformError::WindowNotFound { .. });
    Ok(())
}

fn modal(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    form.open_dialog()?;
    // The window manager learns of modality a moment after the window.
    let dialog =
        until("the dialog is modal", || Ok(Some(form.window_titled("Save As")?).filter(|w| w.modal)))?;
    ensure!(dialog.dialog, "it does not say that it is a dialog");
    ensure!(dialog.transient_for == Some(form.window), "it belongs to {:?}", dialog.transient_for);
    until("the dialog has the focus", || {
        Ok(form.desktop.windows.active().say("active")?.filter(|w| w.id == dialog.id).map(|_| ()))
    })
}

fn at(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let me = form.me()?;
    for point in [
        me.bounds.center(),
        me.content.center(),
        deskhand_protocol::Point::new(me.content.x + 2, me.content.y + 2),
    ] {
        let found = form.desktop.windows.at(point).say("at")?.say("a window")?;
        ensure!(found.id == form.window, "at {point:?} is {found:?}");
    }
    change(&form, WindowChange::Bounds { x: Some(200), y: Some(200), width: None, height: None })?;
    let empty = form.desktop.windows.at(deskhand_protocol::Point::new(3, 3)).say("at")?;
    ensure!(empty.is_none(), "on the bare desktop is {empty:?}");
    Ok(())
}

fn unknown(stage: &dyn Stage) -> Outcome {
    let windows = &stage.desktop().windows;
    let gone = WindowId(0x0fff_fff1);
    ensure_err!(windows.activate(gone, &patient()), PlatformError::WindowNotFound { .. });
    ensure_err!(
        windows.change(gone, WindowChange::Maximize, &patient()),
        PlatformError::WindowNotFound { .. }
    );
    ensure_err!(windows.change(gone, WindowChange::Close, &patient()), PlatformError::WindowNotFound { .. });
    Ok(())
}
