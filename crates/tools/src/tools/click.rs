//! `click` (host seed §2): the pointer at the element as it is now, else the element's own action.

use std::time::Duration;

use deskhand_platform::{Button, ElementAction, PlatformError};
use deskhand_protocol::{
    Category, Effect, EffectReport, ElementRef, ErrorCode, Evidence, Lane, Layer, Level, Needs, Point,
    Result, Risk, Role, Target, ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::{EVERYWHERE, bounded};
use super::pointer::{self, Click as How, Spot};
use super::windows_seen::Seen;
use crate::aim::{self, Aim};
use crate::{Ctx, Done, Tool, select};

/// How long an element may take to answer a press; a dialog it opens can swallow the answer.
const ANSWER: Duration = Duration::from_secs(3);

/// Clicks an element found by a selector or given by a reference. The pointer clicks its middle, after
/// it was checked that nothing covers it; an element that is out of sight is pressed by its own action.
/// Says what was hit and what changed.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The element.
    target: Target,
    /// The mouse button, default "left".
    button: Option<MouseButton>,
    /// How many clicks, default 1, at most 3.
    #[schemars(range(min = 1, max = 3))]
    count: Option<u32>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum MouseButton {
    #[default]
    Left,
    Middle,
    Right,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether it was clicked; `effect` says what came of it.
    success: bool,
    /// Where the pointer clicked; absent when the element's own action was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<Point>,
    /// The element that was clicked.
    element: ElementRef,
    /// The way: "element" or "coordinates".
    layer: Layer,
}

pub(crate) struct Click;

impl Tool for Click {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "click",
        title: "Click an element",
        title_zh: "点击元素",
        risk: Risk::Medium,
        category: Category::Mouse,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Elements, Needs::Input],
        evidence: Evidence::BeforeAfter,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 20_000,
        roles: &[],
    };

    fn check(input: &Input) -> Result<()> {
        bounded("count", input.count, 1, 1, 3)?;
        select::check_target(&input.target)
    }

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let count = bounded("count", input.count, 1, 1, 3)?;
        let button = input.button.unwrap_or_default();
        let aim = aim::aim(ctx, &input.target)?;
        aim.check_actionable(ctx)?;
        ctx.route.guard(ctx.desktop)?;
        let plain = button == MouseButton::Left && count == 1;
        if plain
            && takes_focus(&aim)
            && let Ok(done) = by_element(ctx, &aim)?
        {
            return Ok(done);
        }
        let button = match button {
            MouseButton::Left => Button::Left,
            MouseButton::Middle => Button::Middle,
            MouseButton::Right => Button::Right,
        };
        // The pointer comes before the element's action: GTK 3 applications that open a dialog from
        // an accessibility action block inside it, and stop for good at the next key press.
        match Spot::of(&aim, ctx) {
            Ok(spot) => by_pointer(ctx, aim, &spot, button, count),
            Err(error) if plain && error.code == ErrorCode::NotActionable => match by_element(ctx, &aim)? {
                Ok(done) => {
                    ctx.notebook.note(&format!("the element's own action was used: {}", error.message));
                    Ok(done)
                }
                Err(why) => Err(error.detail("ownAction", why)),
            },
            Err(error) => Err(error),
        }
    }
}

/// A click into a text field is a wish for the caret.
fn takes_focus(aim: &Aim) -> bool {
    matches!(own_action(aim), Some(ElementAction::Focus))
}

/// What an element can do for a click by itself.
fn own_action(aim: &Aim) -> Option<ElementAction> {
    let e = &aim.element;
    let has_action = !e.actions.is_empty();
    match e.role {
        Role::Button
        | Role::ToggleButton
        | Role::CheckBox
        | Role::RadioButton
        | Role::Link
        | Role::MenuItem
        | Role::Menu => has_action.then_some(ElementAction::Press),
        Role::TextField | Role::TextArea | Role::PasswordField | Role::SpinButton if e.states.focusable => {
            Some(ElementAction::Focus)
        }
        // The default action of an entry often is "activate", which opens it: more than a click.
        Role::Tab | Role::ListItem | Role::TreeItem => {
            let first = e.actions.first().map(|a| a.to_lowercase()).unwrap_or_default();
            if matches!(first.as_str(), "click" | "press" | "select" | "switch" | "jump") {
                Some(ElementAction::Press)
            } else {
                e.states.selectable.then_some(ElementAction::Select)
            }
        }
        _ => None,
    }
}

/// The element's own way; the inner error says why it cannot be taken.
fn by_element(ctx: &Ctx<'_>, aim: &Aim) -> Result<Result<Done<Output>, String>> {
    let Some(action) = own_action(aim) else {
        return Ok(Err("the element has no action for a click".into()));
    };
    if action == ElementAction::Focus
        && let Some(window) = aim.window.as_ref().filter(|w| !w.focused)
    {
        ctx.desktop.windows.activate(window.id, &ctx.scope.within(ANSWER))?;
    }
    let windows = Seen::now(ctx);
    ctx.notebook.before()?;
    ctx.mark_now();
    ctx.scope.check("clicking")?;
    let acted = ctx.desktop.elements.act(aim.handle(), &action, &ctx.scope.within(ANSWER));
    let output =
        || Output { success: true, position: None, element: aim.reference.clone(), layer: Layer::Element };
    let mut report = EffectReport::new(Effect::Unverifiable, "the element's own action was used");
    report.layer = Some(Layer::Element);
    report.at = aim.element.rect.map(|r| r.center());
    report.hit = Some(aim.words());
    match acted {
        Ok(done) if done.done == Some(false) => Ok(Err(format!("{} did nothing", done.how))),
        Ok(done)
            if matches!(action, ElementAction::Focus | ElementAction::Select) && done.done == Some(true) =>
        {
            report.effect = Effect::Confirmed;
            report.why = format!("read back after {}", done.how);
            Ok(Ok(Done::own(output(), report)))
        }
        Ok(done) => {
            report.why = done.how;
            let pid = Some(aim.element.pid);
            Ok(Ok(Done::watch(output(), report, pid, aim.window.as_ref().map(|w| w.bounds))))
        }
        Err(e @ (PlatformError::Timeout { .. } | PlatformError::AppUnresponsive { .. })) => {
            ctx.scope.check("clicking")?;
            // The answer may have been swallowed by a dialog that the click opened.
            match windows.news(ctx)? {
                Some(news) => {
                    report.effect = Effect::Confirmed;
                    report.why = news;
                    Ok(Ok(Done::own(output(), report)))
                }
                None => Err(e.into()),
            }
        }
        Err(PlatformError::NotActionable { reason, .. }) => Ok(Err(reason)),
        Err(PlatformError::Unsupported { why, .. }) => Ok(Err(why)),
        Err(e) => Err(e.into()),
    }
}

fn by_pointer(ctx: &Ctx<'_>, aim: Aim, spot: &Spot, button: Button, count: u32) -> Result<Done<Output>> {
    let mut report = pointer::click(ctx, spot, &How { button, count, modifiers: &[], smooth: false })?;
    report.hit = Some(aim.words());
    report.layer = Some(Layer::Element);
    let position = Some(spot.point);
    let output = Output { success: true, position, element: aim.reference, layer: Layer::Element };
    Ok(pointer::watch(output, report, spot))
}
