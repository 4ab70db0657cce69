//! `window_manage` (control seed §3.5.5).

use deskhand_platform::{Window, WindowChange};
use deskhand_protocol::{
    Category, Effect, EffectReport, Evidence, Lane, Layer, Level, Needs, Result, Risk, ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::apps::WindowView;
use super::args::{EVERYWHERE, text, wrong};
use crate::{Ctx, Done, Tool};

/// Changes a window: maximises, minimises, restores, resizes or moves it. The window is found by its
/// title, the whole title first, then a part of it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Title of the window, or a part of it.
    window_title: String,
    /// What to do.
    action: Action,
    /// The place and size wanted, with the frame (actions "resize" and "move"); what is left out stays.
    bounds: Option<Bounds>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Action {
    Maximize,
    Minimize,
    Restore,
    Resize,
    Move,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bounds {
    /// Left edge.
    x: Option<f64>,
    /// Top edge.
    y: Option<f64>,
    /// Width.
    width: Option<f64>,
    /// Height.
    height: Option<f64>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether the window is as asked.
    success: bool,
    /// The window as it is now.
    window: Option<WindowView>,
    /// Whether it fills the screen now.
    maximized: bool,
}

pub(crate) struct WindowManage;

impl Tool for WindowManage {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "window_manage",
        title: "Resize, move, maximise, minimise or restore a window",
        title_zh: "调整窗口大小/位置",
        risk: Risk::Low,
        category: Category::Apps,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Windows],
        evidence: Evidence::BeforeAfter,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 10_000,
        roles: &[],
    };

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        text("window_title", &input.window_title, 1024)?;
        let change = change(input.action, input.bounds)?;
        let before = crate::tools::window_by_title(ctx, "window_title", &input.window_title)?;
        ctx.notebook.before()?;
        ctx.mark_now();
        ctx.scope.check("changing a window")?;
        let after = ctx.desktop.windows.change(before.id, change, ctx.scope)?;
        let (effect, why) = judge(change, &before, after.as_ref());
        let mut report = EffectReport::new(effect, why);
        report.layer = Some(Layer::Semantic);
        report.hit = Some(format!("window {:?}", before.title));
        let output = Output {
            success: effect == Effect::Confirmed,
            maximized: after.as_ref().is_some_and(|w| w.maximized),
            window: after.as_ref().map(WindowView::from),
        };
        Ok(Done::own(output, report))
    }
}

fn change(action: Action, bounds: Option<Bounds>) -> Result<WindowChange> {
    let fixed = match action {
        Action::Maximize => WindowChange::Maximize,
        Action::Minimize => WindowChange::Minimize,
        Action::Restore => WindowChange::Restore,
        Action::Resize | Action::Move => {
            let b = bounds.ok_or_else(|| wrong("bounds", "is missing; \"resize\" and \"move\" need it"))?;
            let needed = if action == Action::Resize {
                (b.width, b.height, "width or height")
            } else {
                (b.x, b.y, "x or y")
            };
            if needed.0.is_none() && needed.1.is_none() {
                return Err(wrong("bounds", format!("has neither {}", needed.2.replace("or", "nor"))));
            }
            let place = |name: &str, v: Option<f64>| whole(name, v, -32_768.0, 32_767.0);
            let size = |name: &str, v: Option<f64>| whole(name, v, 1.0, 32_767.0);
            return Ok(WindowChange::Bounds {
                x: place("bounds.x", b.x)?,
                y: place("bounds.y", b.y)?,
                width: size("bounds.width", b.width)?,
                height: size("bounds.height", b.height)?,
            });
        }
    };
    if bounds.is_some() {
        return Err(wrong("bounds", "only goes with \"resize\" or \"move\""));
    }
    Ok(fixed)
}

fn whole(field: &str, value: Option<f64>, least: f64, most: f64) -> Result<Option<i32>> {
    match value {
        Some(v) if !(v.is_finite() && (least..=most).contains(&v)) => {
            Err(wrong(field, format!("is {v}; it goes from {least} to {most}")))
        }
        v => Ok(v.map(|v| v.round() as i32)),
    }
}

fn judge(change: WindowChange, before: &Window, after: Option<&Window>) -> (Effect, String) {
    let Some(after) = after else { return (Effect::Partial, "the window is gone".to_owned()) };
    let place =
        |w: &Window| format!("{}x{} at {},{}", w.bounds.width, w.bounds.height, w.bounds.x, w.bounds.y);
    let done = match change {
        WindowChange::Maximize => after.maximized,
        WindowChange::Minimize => after.minimized,
        WindowChange::Restore => !after.minimized && (before.minimized || !after.maximized),
        WindowChange::Bounds { x, y, width, height } => {
            let is = |asked: Option<i32>, now: i32| asked.is_none_or(|a| a == now);
            let b = after.bounds;
            is(x, b.x) && is(y, b.y) && is(width, b.width) && is(height, b.height)
        }
        WindowChange::Close => false,
    };
    if done {
        (Effect::Confirmed, format!("the window is as asked: {}", place(after)))
    } else if before.bounds != after.bounds
        || before.maximized != after.maximized
        || before.minimized != after.minimized
    {
        (Effect::Partial, format!("the window manager made it {}", place(after)))
    } else {
        (Effect::SuspectedNoop, format!("the window stayed {}", place(after)))
    }
}
