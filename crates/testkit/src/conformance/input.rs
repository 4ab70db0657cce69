//! Mouse, single keys, what is held.

use std::time::Duration;

use deskhand_platform::{Button, CancelToken, Input, Key, Modifier, PlatformError, Scope};
use deskhand_protocol::{Point, Role};

use super::form::{Form, Outcome, PATIENCE, Say, ensure, ensure_err, patient, until};
use super::{Case, Need, Stage};

pub(crate) const CASES: &[Case] = &[
    Case { name: "input: the pointer goes exactly to every corner", needs: &[], run: corners },
    Case { name: "input: a point outside is refused and the pointer stays", needs: &[], run: outside },
    Case { name: "input: a held button is known until released", needs: &[Need::Form], run: held_button },
    Case { name: "input: a held key is known until released", needs: &[], run: held_key },
    Case { name: "input: release_all releases and names everything", needs: &[Need::Form], run: release_all },
    Case { name: "input: a click presses a button", needs: &[Need::Form], run: click },
    Case {
        name: "input: a press without release does not click",
        needs: &[Need::Form],
        run: press_and_leave,
    },
    Case { name: "input: the wheel scrolls", needs: &[Need::Form], run: wheel },
    Case { name: "input: a small distance still turns the wheel one notch", needs: &[], run: small_wheel },
    Case { name: "input: a cancelled scope sends nothing", needs: &[], run: cancelled },
    Case { name: "input: an expired scope sends nothing", needs: &[], run: expired },
];

fn corners(stage: &dyn Stage) -> Outcome {
    let input = &stage.desktop().input;
    for d in stage.desktop().screen.displays().say("displays")? {
        let (l, t, r, b) = (d.bounds.x, d.bounds.y, d.bounds.right() - 1, d.bounds.bottom() - 1);
        for (x, y) in [(l, t), (r, t), (l, b), (r, b), (l + 101, t + 33)] {
            // Twice: going where it is already must not wait for a motion that does not come.
            for _ in 0..2 {
                input.move_to(Point::new(x, y), &patient()).say("move")?;
                let at = input.pointer().say("pointer")?;
                ensure!(at == Point::new(x, y), "went to {x},{y}, is at {at:?}");
            }
        }
    }
    Ok(())
}

fn outside(stage: &dyn Stage) -> Outcome {
    let input = &stage.desktop().input;
    input.move_to(Point::new(50, 60), &patient()).say("move")?;
    for (x, y) in [(-1, 10), (10, -1), (1 << 20, 10), (10, 1 << 20)] {
        ensure_err!(input.move_to(Point::new(x, y), &patient()), PlatformError::OutOfRange { .. });
        let at = input.pointer().say("pointer")?;
        ensure!(at == Point::new(50, 60), "the pointer went to {at:?}");
    }
    Ok(())
}

fn held(input: &dyn Input, count: usize) -> Outcome {
    let held = input.held();
    ensure!(held.len() == count, "{count} held expected, says {held:?}");
    Ok(())
}

fn held_button(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let input = &form.desktop.input;
    input.move_to(form.at(Role::Label, "Result:")?, &patient()).say("move")?;
    held(input.as_ref(), 0)?;
    input.button(Button::Left, true, &patient()).say("down")?;
    held(input.as_ref(), 1)?;
    input.button(Button::Left, false, &patient()).say("up")?;
    held(input.as_ref(), 0)
}

fn held_key(stage: &dyn Stage) -> Outcome {
    let input = &stage.desktop().input;
    let shift = Key::Modifier(Modifier::Shift);
    input.key(shift, true, &patient()).say("down")?;
    held(input.as_ref(), 1)?;
    input.key(shift, false, &patient()).say("up")?;
    held(input.as_ref(), 0)
}

fn release_all(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let input = &form.desktop.input;
    input.move_to(form.at(Role::Label, "Result:")?, &patient()).say("move")?;
    for key in [Modifier::Shift, Modifier::Ctrl] {
        input.key(Key::Modifier(key), true, &patient()).say("key")?;
    }
    input.button(Button::Left, true, &patient()).say("button")?;
    held(input.as_ref(), 3)?;
    let released = input.release_all().say("release_all")?;
    ensure!(released.len() == 3 && released.iter().all(|n| !n.is_empty()), "released {released:?}");
    held(input.as_ref(), 0)?;
    let again = input.release_all().say("release_all")?;
    ensure!(again.is_empty(), "released again: {again:?}");
    // Truly up: a letter is a small one and no command.
    let name = form.focus_name()?;
    input.type_keys("a", Duration::ZERO, &mut |_| {}, &patient()).say("type")?;
    form.until_text(&name, "a")
}

fn click(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let name = form.focus_name()?;
    form.desktop.input.type_keys("clicked", Duration::ZERO, &mut |_| {}, &patient()).say("type")?;
    form.until_text(&name, "clicked")?;
    form.click(Role::Button, "Apply")?;
    form.until_result("clicked")
}

fn press_and_leave(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let input = &form.desktop.input;
    let agree = form.at(Role::CheckBox, "Agree")?;
    let label = form.at(Role::Label, "Result:")?;
    input.move_to(agree, &patient()).say("move")?;
    input.button(Button::Left, true, &patient()).say("down")?;
    input.move_to(label, &patient()).say("leave")?;
    input.button(Button::Left, false, &patient()).say("up")?;
    // A real click after it proves that the application has seen both.
    form.click(Role::CheckBox, "Agree")?;
    until("the box is ticked once", || Ok(form.find(Role::CheckBox, "Agree")?.states.checked.then_some(())))
}

fn wheel(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let pane = form.at(Role::ScrollArea, "Rows")?;
    let row = form.shown(Role::Label, "Row 1")?;
    let before = row.rect.say("its place")?.y;
    form.desktop.input.move_to(pane, &patient()).say("move")?;
    let sent = form.desktop.input.wheel(0, 300, &patient()).say("wheel")?;
    ensure!(sent.0 == 0 && sent.1 > 0, "sent {sent:?} for 0,300");
    until("the first row moved up", || {
        let row = form.desktop.elements.read(&row.handle, &patient()).say("read")?;
        Ok((!row.states.showing || row.rect.is_none_or(|r| r.y < before)).then_some(()))
    })?;
    let sent = form.desktop.input.wheel(0, -3000, &patient()).say("wheel back")?;
    ensure!(sent.1 < 0, "sent {sent:?} for 0,-3000");
    until("the first row is back", || {
        let row = form.desktop.elements.read(&row.handle, &patient()).say("read")?;
        Ok(row.rect.filter(|r| r.y == before).map(|_| ()))
    })
}

fn small_wheel(stage: &dyn Stage) -> Outcome {
    let input = &stage.desktop().input;
    for (dx, dy) in [(0, 1), (0, -1), (1, 0), (-1, 0), (0, 0)] {
        let (sx, sy) = input.wheel(dx, dy, &patient()).say("wheel")?;
        ensure!(sx.signum() == dx && sy.signum() == dy, "sent {sx},{sy} for {dx},{dy}");
    }
    Ok(())
}

/// Nothing of the input facet runs in this scope.
fn refuses(input: &dyn Input, scope: &Scope, is: fn(&PlatformError) -> bool) -> Outcome {
    let at = input.pointer().say("pointer")?;
    let shift = Key::Modifier(Modifier::Shift);
    let elsewhere = Point::new(at.x + 7, at.y + 7);
    let calls: [(&str, Result<(), PlatformError>); 6] = [
        ("move_to", input.move_to(elsewhere, scope)),
        ("button", input.button(Button::Left, true, scope)),
        ("wheel", input.wheel(0, 100, scope).map(|_| ())),
        ("key", input.key(shift, true, scope)),
        ("chord", input.chord(&[shift], scope)),
        ("type_keys", input.type_keys("a", Duration::ZERO, &mut |_| {}, scope).map(|_| ())),
    ];
    for (name, result) in calls {
        match result {
            Ok(()) => return Err(format!("{name} ran")),
            Err(e) => ensure!(is(&e), "{name} answered {e:?}"),
        }
    }
    let now = input.pointer().say("pointer")?;
    ensure!(now == at, "the pointer went from {at:?} to {now:?}");
    held(input, 0)
}

fn cancelled(stage: &dyn Stage) -> Outcome {
    let input = &stage.desktop().input;
    input.move_to(Point::new(40, 40), &patient()).say("move")?;
    let token = CancelToken::new();
    token.cancel();
    refuses(input.as_ref(), &Scope::new(PATIENCE, token), |e| matches!(e, PlatformError::Cancelled))
}

fn expired(stage: &dyn Stage) -> Outcome {
    let input = &stage.desktop().input;
    input.move_to(Point::new(40, 40), &patient()).say("move")?;
    refuses(input.as_ref(), &Scope::timeout(Duration::ZERO), |e| matches!(e, PlatformError::Timeout { .. }))
}
