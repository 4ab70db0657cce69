//! `mouse_move` (control seed §3.3.1).

use deskhand_protocol::{
    Category, Effect, EffectReport, Evidence, Lane, Layer, Level, Needs, Result, Risk, ScreenshotId, ToolMeta,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::args::{EVERYWHERE, millis};
use super::pointer::{Output, report, spot};
use crate::{Ctx, Done, Tool, motion};

/// Moves the pointer to a point without clicking, for example to hover.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// X coordinate.
    x: f64,
    /// Y coordinate.
    y: f64,
    /// Move along a bent line as a hand would, default true; false jumps.
    smooth: Option<bool>,
    /// How long the move takes in milliseconds, default 100, at most 10000.
    #[schemars(range(min = 0, max = 10000))]
    duration: Option<f64>,
    /// Coordinates are pixels of this screenshot.
    #[serde(rename = "screenshotId")]
    screenshot_id: Option<ScreenshotId>,
}

pub(crate) struct MouseMove;

impl Tool for MouseMove {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "mouse_move",
        title: "Move the pointer",
        title_zh: "移动光标到指定坐标",
        risk: Risk::Medium,
        category: Category::Mouse,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Input, Needs::Screen],
        evidence: Evidence::BeforeAfter,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 20_000,
        roles: &[],
    };

    fn check(input: &Input) -> Result<()> {
        millis("duration", input.duration, 100, 10_000).map(|_| ())
    }

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let time = millis("duration", input.duration, 100, 10_000)?;
        let spot = spot(ctx, ("x", "y"), input.x, input.y, input.screenshot_id.as_ref())?;
        ctx.notebook.before()?;
        ctx.mark_now();
        motion::glide(ctx, spot.point, input.smooth.unwrap_or(true), time)?;
        let output = Output { success: true, position: spot.point };
        let mut own = report(ctx, &spot);
        own.layer = Some(Layer::Coordinates);
        if ctx.verify {
            let at = ctx.desktop.input.pointer()?;
            let verdict = if at == spot.point {
                EffectReport::new(Effect::Confirmed, "the pointer is there")
            } else {
                EffectReport::new(Effect::Partial, format!("the pointer is at {},{}", at.x, at.y))
            };
            own = EffectReport { effect: verdict.effect, why: verdict.why, ..own };
        }
        Ok(Done::own(output, own))
    }
}
