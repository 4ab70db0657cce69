//! Doing something to an element, and looking whether it happened.

use std::time::Duration;

use atspi::{Role as Native, State};
use deskhand_platform::{ActReport, ElementAction, Handle, PlatformError, Result, Scope};

use super::bus::{AxBus, patience};
use super::names::{ACCESSIBLE, ACTION, COMPONENT, EDITABLE, PROPERTIES, SELECTION, TEXT, VALUE, bit, iface};
use super::object::{Kind, Object};
use super::wire::{Args, Variant};

/// How long an application may take to show what was done.
const SETTLE: Duration = Duration::from_millis(500);
/// Names of the action that a click would do, best first.
const DEFAULT: [&str; 12] = [
    "click",
    "press",
    "activate",
    "toggle",
    "jump",
    "open",
    "dodefault",
    "default",
    "select",
    "check",
    "expand or contract",
    "clickancestor",
];
/// Names that are something else than a click.
const ASIDE: [&str; 4] = ["setfocus", "showmenu", "showcontextmenu", "menu"];

/// Does it.
pub(super) fn act(bus: &AxBus, handle: &Handle, action: &ElementAction, scope: &Scope) -> Result<ActReport> {
    scope.check("acting on an element")?;
    let object = Object::of(bus, handle, scope)?;
    let kind = object.kind()?;
    match action {
        ElementAction::Press => press(&object, &kind, None),
        ElementAction::Named(name) => press(&object, &kind, Some(name)),
        ElementAction::Focus => focus(&object),
        ElementAction::InsertText(text) => insert(&object, &kind, text),
        ElementAction::SetText(text) => set_text(&object, &kind, text),
        ElementAction::SetValue(value) => set_value(&object, &kind, *value),
        ElementAction::Select => select(&object, &kind),
        ElementAction::ScrollTo => scroll_to(&object),
    }
}

fn no(object: &Object<'_>, reason: impl Into<String>) -> PlatformError {
    PlatformError::NotActionable { what: object.what(), reason: reason.into() }
}

/// Names of the actions of an object.
pub(super) fn actions(object: &Object<'_>) -> Result<Vec<String>> {
    let mut names = Vec::new();
    if let Some(mut r) = object.call(ACTION, "GetActions", Args::default())?.ok() {
        r.array(8, |r| {
            r.align(8);
            let (name, _, _) = (r.str(), r.str(), r.str());
            names.push(name.to_owned());
        });
    }
    Ok(names)
}

/// Which of them is the default one.
pub(super) fn default_action(names: &[String]) -> Option<usize> {
    let words: Vec<String> = names.iter().map(|n| n.to_lowercase()).collect();
    DEFAULT
        .iter()
        .find_map(|d| words.iter().position(|w| w == d))
        .or_else(|| words.iter().position(|w| !ASIDE.contains(&w.as_str())))
}

fn press(object: &Object<'_>, kind: &Kind, name: Option<&str>) -> Result<ActReport> {
    if !kind.is(State::Sensitive) && !kind.is(State::Enabled) {
        return Err(no(object, "disabled"));
    }
    if !kind.can(iface::ACTION) {
        return Err(no(object, "it has no actions; click it with the pointer"));
    }
    let names = actions(object)?;
    let index = match name {
        Some(name) => names.iter().position(|n| n.eq_ignore_ascii_case(name.trim())),
        None => default_action(&names),
    };
    let Some(index) = index else {
        return Err(no(object, format!("no such action; it has {names:?}")));
    };
    let how = format!("Action.DoAction({index}) {:?}", names[index]);
    let watched = bit(State::Checked) | bit(State::Pressed) | bit(State::Expanded) | bit(State::Selected);
    match object.try_act(ACTION, "DoAction", Args::default().i32(index as i32)) {
        Ok(reply) => {
            if reply.ok().is_none_or(|mut r| r.u32() == 0) {
                return Ok(ActReport { how: format!("{how} answered false"), done: Some(false) });
            }
        }
        // A modal dialog that it opened can keep the answer until it is closed.
        Err(None) => {
            return Ok(ActReport {
                how: format!("{how}: no answer in time, it may have happened"),
                done: None,
            });
        }
        Err(Some(e)) => return Err(e),
    }
    let toggles = [Native::CheckBox, Native::ToggleButton, Native::CheckMenuItem]
        .map(|r| r as u32)
        .contains(&kind.role);
    if !toggles || name.is_some() {
        return Ok(ActReport { how, done: None });
    }
    let changed = object.until(SETTLE, || Ok(object.states()? & watched != kind.states & watched));
    // Gone after the press is no proof against it.
    Ok(ActReport { how, done: changed.ok().filter(|c| *c) })
}

fn focus(object: &Object<'_>) -> Result<ActReport> {
    let said = object.yes(COMPONENT, "GrabFocus", Args::default())?;
    let focused = object.until(SETTLE, || Ok(object.states()? & bit(State::Focused) != 0))?;
    Ok(ActReport { how: format!("Component.GrabFocus answered {said}"), done: Some(focused) })
}

fn editable(object: &Object<'_>, kind: &Kind) -> Result<()> {
    if !kind.can(iface::EDITABLE) {
        return Err(no(object, "its application offers no EditableText; paste or type keys instead"));
    }
    if !kind.is(State::Editable) {
        return Err(no(object, "read only"));
    }
    if !kind.is(State::Sensitive) && !kind.is(State::Enabled) {
        return Err(no(object, "disabled"));
    }
    Ok(())
}

fn range(object: &Object<'_>, from: i32, to: i32) -> Result<String> {
    let reply = object.call(TEXT, "GetText", Args::default().i32(from).i32(to))?;
    Ok(reply.ok().map(|mut r| r.str().to_owned()).unwrap_or_default())
}

fn count(object: &Object<'_>) -> Result<i32> {
    object.int(TEXT, "CharacterCount")
}

fn insert(object: &Object<'_>, kind: &Kind, text: &str) -> Result<ActReport> {
    editable(object, kind)?;
    if text.contains('\0') {
        return Err(PlatformError::Invalid { field: "text".into(), why: "holds a NUL character".into() });
    }
    let units = text.encode_utf16().count();
    let qt = object.app.facts(object.bus, &patience(object.scope, SETTLE)).qt;
    let length = i32::try_from(if qt { units } else { text.len() })
        .map_err(|_| PlatformError::Invalid { field: "text".into(), why: "longer than 2 GiB".into() })?;
    let mut at = object.int(TEXT, "CaretOffset")?.max(0);
    let selected = object
        .call(TEXT, "GetNSelections", Args::default())
        .ok()
        .and_then(|r| r.ok().map(|mut r| r.i32()))
        .unwrap_or(0);
    if selected > 0
        && let Some(mut r) = object.call(TEXT, "GetSelection", Args::default().i32(0))?.ok()
    {
        let (a, b) = (r.i32(), r.i32());
        let (start, end) = (a.min(b), a.max(b));
        if end > start && start >= 0 {
            object.yes(EDITABLE, "DeleteText", Args::default().i32(start).i32(end))?;
            at = start;
        }
    }
    let before = count(object)?;
    at = at.min(before);
    let how = format!("EditableText.InsertText({at}, …, {length})");
    let args = Args::default().i32(at).str(text).i32(length);
    match object.try_call(EDITABLE, "InsertText", args) {
        Ok(_) => {}
        Err(None) => {
            return Ok(ActReport {
                how: format!("{how}: no answer in time, it may have happened"),
                done: None,
            });
        }
        Err(Some(e)) => return Err(e),
    }
    if kind.secure() {
        // Its content is never read, not even to check.
        let grew = object.until(SETTLE, || Ok(text.is_empty() || count(object)? > before))?;
        return Ok(ActReport { how, done: (!grew).then_some(false) });
    }
    // Offsets are characters here and UTF-16 units there: how much longer it got tells which.
    let longer_by = [text.chars().count(), units];
    let mut end = at;
    let done = object.until(SETTLE, || {
        let more = (count(object)? - before).max(0);
        end = at + more;
        Ok(longer_by.contains(&(more as usize)) && range(object, at, end)? == text)
    })?;
    if done {
        let _ = object.yes(TEXT, "SetCaretOffset", Args::default().i32(end));
    }
    Ok(ActReport { how, done: Some(done) })
}

fn set_text(object: &Object<'_>, kind: &Kind, text: &str) -> Result<ActReport> {
    editable(object, kind)?;
    if text.contains('\0') {
        return Err(PlatformError::Invalid { field: "text".into(), why: "holds a NUL character".into() });
    }
    let how = "EditableText.SetTextContents".to_owned();
    match object.try_call(EDITABLE, "SetTextContents", Args::default().str(text)) {
        Ok(_) => {}
        Err(None) => {
            return Ok(ActReport {
                how: format!("{how}: no answer in time, it may have happened"),
                done: None,
            });
        }
        Err(Some(e)) => return Err(e),
    }
    if kind.secure() {
        return Ok(ActReport { how, done: None });
    }
    let done = object.until(SETTLE, || Ok(range(object, 0, count(object)?)? == text))?;
    Ok(ActReport { how, done: Some(done) })
}

fn set_value(object: &Object<'_>, kind: &Kind, value: f64) -> Result<ActReport> {
    if !value.is_finite() {
        return Err(PlatformError::Invalid {
            field: "value".into(),
            why: format!("{value} is not a number to set"),
        });
    }
    if !kind.can(iface::VALUE) {
        return Err(no(object, "it has no number to set"));
    }
    object.call(PROPERTIES, "Set", Args::default().str(VALUE).str("CurrentValue").variant_f64(value))?;
    let mut now = f64::NAN;
    let done = object.until(SETTLE, || {
        let take = |v: Variant<'_>| if let Variant::Double(d) = v { Some(d) } else { None };
        now = object.property(VALUE, "CurrentValue", take)?.unwrap_or(f64::NAN);
        Ok((now - value).abs() <= 1e-6 * value.abs().max(1.0))
    })?;
    Ok(ActReport { how: format!("Value.CurrentValue is now {now}"), done: Some(done) })
}

fn select(object: &Object<'_>, kind: &Kind) -> Result<ActReport> {
    let chosen = || Ok(object.states()? & (bit(State::Selected) | bit(State::Checked)) != 0);
    let take =
        |v: Variant<'_>| if let Variant::Reference(_, path) = v { Some(path.to_owned()) } else { None };
    let parent = object.property(ACCESSIBLE, "Parent", take)?;
    if let Some(parent) = parent.filter(|p| p != super::names::NULL) {
        let parent = object.other(&parent);
        if parent.kind().is_ok_and(|k| k.can(iface::SELECTION)) {
            let index = object
                .call(ACCESSIBLE, "GetIndexInParent", Args::default())?
                .ok()
                .map_or(-1, |mut r| r.i32());
            if index >= 0 {
                let said = parent.yes(SELECTION, "SelectChild", Args::default().i32(index))?;
                if object.until(SETTLE, chosen)? {
                    return Ok(ActReport {
                        how: format!("Selection.SelectChild({index})"),
                        done: Some(true),
                    });
                }
                if !kind.can(iface::ACTION) {
                    let how = format!("Selection.SelectChild({index}) answered {said}");
                    return Ok(ActReport { how, done: Some(false) });
                }
            }
        }
    }
    let pressed = press(object, kind, None)?;
    Ok(ActReport { how: pressed.how, done: Some(object.until(SETTLE, chosen)?) })
}

fn scroll_to(object: &Object<'_>) -> Result<ActReport> {
    /// Anywhere on the screen.
    const ANYWHERE: u32 = 6;
    let said = object.yes(COMPONENT, "ScrollTo", Args::default().u32(ANYWHERE))?;
    let shows = object.until(SETTLE, || Ok(object.states()? & bit(State::Showing) != 0))?;
    if !said && !shows {
        return Err(no(object, "its application cannot scroll to it; turn the wheel over its list instead"));
    }
    Ok(ActReport { how: format!("Component.ScrollTo(anywhere) answered {said}"), done: Some(shows) })
}

#[cfg(test)]
mod tests {
    use super::default_action;

    #[test]
    fn the_default_action_by_table() {
        for (names, best) in [
            (vec!["click"], Some(0)),
            (vec!["SetFocus", "Press"], Some(1)),
            (vec!["showContextMenu", "jump"], Some(1)),
            (vec!["something"], Some(0)),
            (vec!["SetFocus"], None),
            (vec![], None),
        ] {
            let names: Vec<String> = names.into_iter().map(str::to_owned).collect();
            assert_eq!(default_action(&names), best, "{names:?}");
        }
    }
}
