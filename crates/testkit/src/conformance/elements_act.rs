//! The tree: acting, events, stale handles.

use std::time::Instant;

use deskhand_platform::{CancelToken, ElementAction, PlatformError, Scope};
use deskhand_protocol::Role;

use super::form::{Form, Outcome, PATIENCE, Say, ensure, ensure_err, ms, patient, until};
use super::{Case, Need, Stage};

const AX: &[Need] = &[Need::Form, Need::Ax];

pub(crate) const CASES: &[Case] = &[
    Case { name: "elements: pressing a button runs it", needs: AX, run: press },
    Case { name: "elements: pressing a box ticks it", needs: AX, run: tick },
    Case { name: "elements: the focus goes where it is put", needs: AX, run: focus },
    Case { name: "elements: inserted text is read back", needs: AX, run: insert },
    Case { name: "elements: set text replaces everything", needs: AX, run: set },
    Case { name: "elements: text goes into a password field unread", needs: AX, run: insert_secret },
    Case { name: "elements: a list entry can be selected", needs: AX, run: select },
    Case { name: "elements: a menu entry opens the dialog", needs: AX, run: menu },
    Case { name: "elements: a disabled button is not pressed", needs: AX, run: disabled },
    Case { name: "elements: an unknown action is refused", needs: AX, run: unknown_action },
    Case { name: "elements: text into a button is refused", needs: AX, run: text_into_button },
    Case { name: "elements: a stale handle is gone", needs: AX, run: stale },
    Case { name: "elements: an action is followed by an event", needs: AX, run: event },
    Case { name: "elements: events of other processes are not told", needs: &[Need::Ax], run: no_event },
    Case { name: "elements: a cancelled scope does nothing", needs: AX, run: cancelled },
];

fn act(form: &Form, role: Role, name: &str, action: &ElementAction) -> Outcome<Option<bool>> {
    let element = form.find(role, name)?;
    let report = form.desktop.elements.act(&element.handle, action, &patient());
    let report = report.say(&format!("{action:?} on {role} {name:?}"))?;
    ensure!(!report.how.is_empty(), "the report does not say how");
    Ok(report.done)
}

fn press(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    act(&form, Role::TextField, "Name", &ElementAction::SetText("pressed".into()))?;
    act(&form, Role::Button, "Apply", &ElementAction::Press)?;
    form.until_result("pressed")
}

fn tick(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    for wanted in [true, false] {
        act(&form, Role::CheckBox, "Agree", &ElementAction::Press)?;
        until("the box follows", || {
            Ok((form.find(Role::CheckBox, "Agree")?.states.checked == wanted).then_some(()))
        })?;
    }
    Ok(())
}

fn focus(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    for (role, name) in [(Role::TextField, "Name"), (Role::CheckBox, "Agree")] {
        act(&form, role, name, &ElementAction::Focus)?;
        until(&format!("{name} has the focus"), || {
            let focused = form.desktop.elements.focused(&patient()).say("focused")?;
            Ok(focused.filter(|e| e.role == role && e.name == name && e.states.focused))
        })?;
    }
    Ok(())
}

fn insert(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let name = form.find(Role::TextField, "Name")?;
    // Characters of one to four bytes: a length in the wrong unit cuts them.
    let parts = ["Grüße 世界 🙂", " und mehr", " 完"];
    for part in parts {
        let done = act(&form, Role::TextField, "Name", &ElementAction::InsertText(part.into()))?;
        ensure!(done != Some(false), "it says that {part:?} was not inserted");
    }
    form.until_text(&name, &parts.concat())
}

fn set(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let name = form.find(Role::TextField, "Name")?;
    for text in ["first 第一", "second", ""] {
        let done = act(&form, Role::TextField, "Name", &ElementAction::SetText(text.into()))?;
        ensure!(done != Some(false), "it says that {text:?} was not set");
        form.until_text(&name, text)?;
    }
    Ok(())
}

fn insert_secret(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let done = act(&form, Role::PasswordField, "Secret", &ElementAction::SetText("s3cret".into()))?;
    ensure!(done != Some(false), "it says that it was not set");
    Ok(())
}

fn select(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    for name in ["Item 2", "Item 3"] {
        act(&form, Role::ListItem, name, &ElementAction::Select)?;
        until(&format!("{name} is selected"), || {
            Ok(form.find(Role::ListItem, name)?.states.selected.then_some(()))
        })?;
    }
    let first = form.find(Role::ListItem, "Item 2")?;
    ensure!(!first.states.selected, "the entry before is still selected");
    Ok(())
}

fn menu(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let dialog = form.open_dialog()?;
    ensure!(dialog.modal || dialog.dialog, "it does not say that it is a dialog");
    let element = form.find(Role::Dialog, "Save As")?;
    ensure!(element.states.modal, "the dialog's element is not modal");
    Ok(())
}

fn disabled(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let never = form.find(Role::Button, "Never")?;
    ensure_err!(
        form.desktop.elements.act(&never.handle, &ElementAction::Press, &patient()),
        PlatformError::NotActionable { .. }
    );
    Ok(())
}

fn unknown_action(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let apply = form.find(Role::Button, "Apply")?;
    let action = ElementAction::Named("levitate".into());
    ensure_err!(
        form.desktop.elements.act(&apply.handle, &action, &patient()),
        PlatformError::NotActionable { .. }
    );
    Ok(())
}

fn text_into_button(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let apply = form.find(Role::Button, "Apply")?;
    let action = ElementAction::InsertText("x".into());
    ensure_err!(
        form.desktop.elements.act(&apply.handle, &action, &patient()),
        PlatformError::NotActionable { .. }
    );
    Ok(())
}

fn stale(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    form.open_dialog()?;
    let cancel = form.find(Role::Button, "Cancel")?;
    let file = form.find(Role::TextField, "File name")?;
    form.desktop.elements.act(&cancel.handle, &ElementAction::Press, &patient()).say("cancel")?;
    until("the dialog is gone", || {
        Ok((!form.desktop.windows.list().say("list")?.iter().any(|w| w.title == "Save As")).then_some(()))
    })?;
    // The toolkit may take the element off the bus a moment after the window.
    until("the element is gone", || {
        Ok(matches!(
            form.desktop.elements.read(&cancel.handle, &patient()),
            Err(PlatformError::ElementGone { .. })
        )
        .then_some(()))
    })?;
    let elements = &form.desktop.elements;
    ensure_err!(
        elements.act(&cancel.handle, &ElementAction::Press, &patient()),
        PlatformError::ElementGone { .. }
    );
    ensure_err!(elements.text(&file.handle, 100, &patient()), PlatformError::ElementGone { .. });
    Ok(())
}

fn event(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let (elements, pid) = (&form.desktop.elements, Some(form.app.pid));
    let mark = elements.mark().say("mark")?;
    act(&form, Role::CheckBox, "Agree", &ElementAction::Press)?;
    let event = elements.wait_event(mark, pid, &patient()).say("wait")?.say("an event")?;
    ensure!(event.mark > mark, "the mark did not move on");
    ensure!(!event.detail.is_empty(), "the event has no word");
    let again = elements.wait_event(mark, pid, &ms(0)).say("again")?;
    ensure!(again.is_some(), "an event that came already is not told at once");
    Ok(())
}

fn no_event(stage: &dyn Stage) -> Outcome {
    let elements = &stage.desktop().elements;
    let mark = elements.mark().say("mark")?;
    let started = Instant::now();
    let event = elements.wait_event(mark, Some(4_194_305), &ms(200)).say("wait")?;
    ensure!(event.is_none(), "an event of a process that is not there: {event:?}");
    ensure!(started.elapsed() < PATIENCE, "it waited {:?} instead of 200 ms", started.elapsed());
    Ok(())
}

fn cancelled(stage: &dyn Stage) -> Outcome {
    let form = Form::open(stage)?;
    let agree = form.find(Role::CheckBox, "Agree")?;
    let token = CancelToken::new();
    token.cancel();
    let scope = Scope::new(PATIENCE, token);
    ensure_err!(
        form.desktop.elements.act(&agree.handle, &ElementAction::Press, &scope),
        PlatformError::Cancelled
    );
    let mark = form.desktop.elements.mark().say("mark")?;
    ensure_err!(form.desktop.elements.wait_event(mark, Some(4_194_305), &scope), PlatformError::Cancelled);
    let mark = form.desktop.screen.mark().say("mark")?;
    let nowhere = deskhand_protocol::Rect::new(-10, -10, 1, 1);
    ensure_err!(form.desktop.screen.wait_change(mark, Some(nowhere), &scope), PlatformError::Cancelled);
    ensure!(!form.find(Role::CheckBox, "Agree")?.states.checked, "the box was ticked");
    Ok(())
}
