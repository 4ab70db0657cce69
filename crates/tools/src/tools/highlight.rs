//! `highlight` (host seed §6 M1): shows the user what is meant.

use std::time::Duration;

use deskhand_platform::{Area, Frame, Highlight as Drawn};
use deskhand_protocol::{
    Category, Effect, EffectReport, Error, ErrorCode, Evidence, Lane, Layer, Level, Needs, Rect, Result,
    Risk, Target, ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::args::{EVERYWHERE, millis, wrong};
use crate::aim::{self, not_actionable};
use crate::{Ctx, Done, Tool, select};

/// Line width in pixels.
const THICKNESS: i32 = 4;
/// Colour when nothing is said.
const COLOR: &str = "#ff2d55";
/// How long the frame may take to appear.
const APPEARS: Duration = Duration::from_millis(400);

/// Draws a coloured frame around an element or a rectangle on the user's screen for a short time.
/// Clicks go through it.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The element; or give `rect`.
    target: Option<Target>,
    /// The rectangle in logical pixels; or give `target`.
    rect: Option<Rect>,
    /// How long it stays in milliseconds, default 1500, at most 60000.
    #[schemars(range(min = 0, max = 60000))]
    duration: Option<f64>,
    /// Colour as "#rrggbb", default "#ff2d55".
    color: Option<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether the frame was drawn.
    success: bool,
    /// What it is around.
    rect: Rect,
}

pub(crate) struct Highlight;

impl Tool for Highlight {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "highlight",
        title: "Draw a frame around an element",
        title_zh: "高亮元素",
        risk: Risk::Low,
        category: Category::Screen,
        level: Level::L1,
        read_only: true,
        lane: Lane::SharedRead,
        needs: &[Needs::Screen],
        evidence: Evidence::None,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 15_000,
        roles: &[],
    };

    fn check(input: &Input) -> Result<()> {
        millis("duration", input.duration, 1500, 60_000)?;
        color(input.color.as_deref().unwrap_or(COLOR))?;
        match (&input.target, input.rect) {
            (Some(target), None) => select::check_target(target),
            (None, Some(rect)) if rect.is_empty() => Err(wrong("rect", "has no width or height")),
            (None, Some(_)) => Ok(()),
            (Some(_), Some(_)) => Err(wrong("rect", "is given beside target; give one of them")),
            (None, None) => Err(wrong("target", "is missing; give target or rect")),
        }
    }

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let time = millis("duration", input.duration, 1500, 60_000)?;
        let color = color(input.color.as_deref().unwrap_or(COLOR))?;
        let (rect, hit) = match (&input.target, input.rect) {
            (Some(target), None) => {
                let aim = aim::aim(ctx, target)?;
                let rect = aim.element.rect.filter(|r| !r.is_empty());
                (
                    rect.ok_or_else(|| not_actionable(&aim.words(), "it has no place on the screen"))?,
                    Some(aim.words()),
                )
            }
            (_, rect) => (rect.unwrap_or_default(), None),
        };
        let rect = on_desktop(ctx, rect)?;
        ctx.scope.check("highlighting")?;
        let drawn = Drawn { rect, color, thickness: THICKNESS.unsigned_abs(), time };
        ctx.desktop.screen.highlight(&drawn)?;
        let mut report = if !ctx.verify || time.is_zero() {
            EffectReport::new(Effect::Unverifiable, "not looked for")
        } else if seen(ctx, rect, color)? {
            EffectReport::new(Effect::Confirmed, "its colour is on the screen")
        } else {
            EffectReport::new(Effect::SuspectedNoop, "its colour is not on the screen")
        };
        report.layer = Some(Layer::Semantic);
        report.hit = hit;
        Ok(Done::own(Output { success: report.effect != Effect::SuspectedNoop, rect }, report))
    }
}

/// The part of a rectangle that lies on the desktop.
fn on_desktop(ctx: &Ctx<'_>, rect: Rect) -> Result<Rect> {
    let displays = ctx.desktop.screen.displays()?;
    let valid = displays.iter().map(|d| d.bounds).reduce(|a, b| a.union(&b)).unwrap_or_default();
    rect.intersect(&valid).ok_or_else(|| {
        let Rect { x, y, width, height } = rect;
        Error::new(
            ErrorCode::OutOfRange,
            format!("rect of {width}x{height} at {x},{y} is outside the desktop"),
        )
        .detail("field", "rect")
        .detail("valid", json!(valid))
    })
}

fn color(text: &str) -> Result<u32> {
    let hex = text.strip_prefix('#').unwrap_or(text);
    let good = hex.len() == 6 && hex.chars().all(|c| c.is_ascii_hexdigit());
    match u32::from_str_radix(hex, 16) {
        Ok(color) if good => Ok(color),
        _ => Err(wrong("color", format!("is {text:?}; write it as \"#ff0000\""))),
    }
}

/// Whether the frame can be seen, after a while.
fn seen(ctx: &Ctx<'_>, rect: Rect, color: u32) -> Result<bool> {
    let around = 2 * THICKNESS;
    let area = Rect::new(rect.x - around, rect.y - around, rect.width + 2 * around, rect.height + 2 * around);
    let wait = ctx.scope.within(APPEARS);
    loop {
        let frame = ctx.desktop.screen.capture(Area::Region(area), ctx.scope)?;
        if has_color(&frame, color) {
            return Ok(true);
        }
        if wait.sleep(Duration::from_millis(20), "looking for the frame").is_err() {
            ctx.scope.check("looking for the frame")?;
            return Ok(false);
        }
    }
}

/// At least a line's worth of pixels in that colour.
fn has_color(frame: &Frame, color: u32) -> bool {
    let [_, r, g, b] = color.to_be_bytes();
    let needed = frame.size.width.min(frame.size.height).min(16) as usize;
    frame.data.chunks_exact(4).filter(|p| p[..3] == [b, g, r]).take(needed).count() >= needed.max(1)
}
