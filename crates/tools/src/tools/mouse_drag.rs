//! `mouse_drag` (control seed §3.3.3).

use std::time::Duration;

use deskhand_platform::Button;
use deskhand_protocol::{
    Category, Evidence, Lane, Level, Needs, Point, Result, Risk, ScreenshotId, ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::{EVERYWHERE, millis};
use super::pointer::{Held, arrive, report, spot};
use crate::{Ctx, Done, Tool, motion, place};

/// Applications start a drag only after they have seen the button go down and drop only where they
/// have seen the pointer rest.
const REST: Duration = Duration::from_millis(30);

/// Presses the left button at one point, moves to another and lets go: moves a file, a slider, a
/// window, or selects text.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// X coordinate of the start.
    from_x: f64,
    /// Y coordinate of the start.
    from_y: f64,
    /// X coordinate of the end.
    to_x: f64,
    /// Y coordinate of the end.
    to_y: f64,
    /// How long the move takes in milliseconds, default 500, at most 30000.
    #[schemars(range(min = 0, max = 30000))]
    duration: Option<f64>,
    /// Coordinates are pixels of this screenshot.
    #[serde(rename = "screenshotId")]
    screenshot_id: Option<ScreenshotId>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether the events were sent.
    success: bool,
    /// Where the button went down.
    from: Point,
    /// Where it was let go.
    to: Point,
}

pub(crate) struct MouseDrag;

impl Tool for MouseDrag {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "mouse_drag",
        title: "Drag with the left button",
        title_zh: "拖拽操作",
        risk: Risk::Medium,
        category: Category::Mouse,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Input, Needs::Screen],
        evidence: Evidence::BeforeAfter,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 40_000,
        roles: &[],
    };

    fn check(input: &Input) -> Result<()> {
        millis("duration", input.duration, 500, 30_000).map(|_| ())
    }

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let time = millis("duration", input.duration, 500, 30_000)?;
        let shot = input.screenshot_id.as_ref();
        // The end may lie outside the routed window: a title bar is dragged to another place.
        let to = place::point(ctx, ("to_x", "to_y"), input.to_x, input.to_y, shot)?;
        let start = spot(ctx, ("from_x", "from_y"), input.from_x, input.from_y, shot)?;
        arrive(ctx, &start, false)?;
        let report = report(ctx, &start);
        ctx.mark_now();
        let mut held = Held::new(&*ctx.desktop.input);
        ctx.sending();
        held.button(Button::Left, ctx.scope)?;
        ctx.scope.sleep(REST, "dragging")?;
        // At least two steps: toolkits ignore a drag whose pointer only jumps.
        let middle = Point::new(i32::midpoint(start.point.x, to.x), i32::midpoint(start.point.y, to.y));
        if time < Duration::from_millis(20) {
            motion::glide(ctx, middle, false, Duration::ZERO)?;
        }
        motion::glide(ctx, to, true, time)?;
        ctx.scope.sleep(REST, "dragging")?;
        held.lift(Button::Left)?;
        held.end()?;
        let pid = start.window.as_ref().and_then(|w| w.pid);
        // What was dragged may have gone to another window: pixels anywhere count.
        Ok(Done::watch(Output { success: true, from: start.point, to }, report, pid, None))
    }
}
