//! `scroll` (control seed §3.3.4, host seed §2).

use deskhand_protocol::{
    Category, Evidence, Lane, Level, Needs, Point, Result, Risk, ScreenshotId, Target, ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::{EVERYWHERE, wrong};
use super::pointer::{Spot, arrive, report, spot, watch};
use crate::{Ctx, Done, Tool, aim, select};

/// Most pixels of one call.
const MOST: f64 = 100_000.0;
/// Pixels when nothing is said.
const DEFAULT: f64 = 300.0;

/// Turns the mouse wheel over a point, or over the middle of an element (`target`).
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// X coordinate; needed unless `target` is given.
    x: Option<f64>,
    /// Y coordinate; needed unless `target` is given.
    y: Option<f64>,
    /// Which way the content's view moves.
    direction: Direction,
    /// How far in pixels, default 300.
    #[schemars(range(min = 1, max = 100000))]
    amount: Option<f64>,
    /// The element to scroll, instead of x and y.
    target: Option<Target>,
    /// Coordinates are pixels of this screenshot.
    #[serde(rename = "screenshotId")]
    screenshot_id: Option<ScreenshotId>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Direction {
    Up,
    Down,
    Left,
    Right,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether the events were sent; `effect` says whether anything moved.
    success: bool,
    /// Where.
    position: Point,
    /// Pixels asked for by the notches that were sent; a wheel has no half notches.
    scrolled: i32,
}

pub(crate) struct Scroll;

impl Tool for Scroll {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "scroll",
        title: "Turn the mouse wheel",
        title_zh: "滚轮滚动",
        risk: Risk::Low,
        category: Category::Mouse,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Input, Needs::Screen],
        evidence: Evidence::BeforeAfter,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 10_000,
        roles: &[],
    };

    fn check(input: &Input) -> Result<()> {
        let amount = input.amount.unwrap_or(DEFAULT);
        if !(amount.is_finite() && (1.0..=MOST).contains(&amount)) {
            return Err(wrong("amount", format!("is {amount}; it goes from 1 to {MOST} pixels")));
        }
        match (&input.target, input.x, input.y) {
            (Some(_), Some(_), _) | (Some(_), _, Some(_)) => {
                Err(wrong("target", "is given beside x and y; give one or the other"))
            }
            (Some(target), None, None) => select::check_target(target),
            (None, Some(_), Some(_)) => Ok(()),
            (None, None, _) => Err(wrong("x", "is missing; give x and y, or target")),
            (None, _, None) => Err(wrong("y", "is missing; give x and y, or target")),
        }
    }

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let amount = input.amount.unwrap_or(DEFAULT);
        let spot = place(&input, ctx)?;
        arrive(ctx, &spot, false)?;
        let report = report(ctx, &spot);
        ctx.mark_now();
        ctx.scope.check("scrolling")?;
        let pixels = amount.round() as i32;
        let (dx, dy) = match input.direction {
            Direction::Up => (0, -pixels),
            Direction::Down => (0, pixels),
            Direction::Left => (-pixels, 0),
            Direction::Right => (pixels, 0),
        };
        ctx.sending();
        let sent = ctx.desktop.input.wheel(dx, dy, ctx.scope)?;
        let output = Output { success: true, position: spot.point, scrolled: sent.0.abs().max(sent.1.abs()) };
        Ok(watch(output, report, &spot))
    }
}

fn place(input: &Input, ctx: &Ctx<'_>) -> Result<Spot> {
    let Some(target) = &input.target else {
        // `check` has seen to it that both are there.
        let (x, y) = (input.x.unwrap_or(f64::NAN), input.y.unwrap_or(f64::NAN));
        return spot(ctx, ("x", "y"), x, y, input.screenshot_id.as_ref());
    };
    let aim = aim::aim(ctx, target)?;
    aim.check_actionable(ctx)?;
    let spot = Spot::of(&aim, ctx)?;
    ctx.route.guard(ctx.desktop)?;
    Ok(spot)
}
