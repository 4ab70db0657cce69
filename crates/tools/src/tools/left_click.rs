//! `left_click` (control seed §3.3.2).

use deskhand_platform::Button;
use deskhand_protocol::{Category, Evidence, Lane, Level, Needs, Result, Risk, ScreenshotId, ToolMeta};
use schemars::JsonSchema;
use serde::Deserialize;

use super::args::EVERYWHERE;
use super::pointer::{ClickArgs, Mod, Output, click_tool};
use crate::{Ctx, Done, Tool};

/// Clicks the left mouse button at a point, in logical pixels of the desktop or in the pixels of a screenshot. Says what was
/// hit and whether anything changed. Prefer `click` with a target where the element is in the tree.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// X coordinate.
    x: f64,
    /// Y coordinate.
    y: f64,
    /// Keys held while clicking.
    modifiers: Option<Vec<Mod>>,
    /// Coordinates are pixels of this screenshot (`screenshot`, `capture_screen`, `observe`).
    #[serde(rename = "screenshotId")]
    screenshot_id: Option<ScreenshotId>,
    /// Move there as a hand would. Default false: jump.
    smooth: Option<bool>,
}

pub(crate) struct LeftClick;

impl Tool for LeftClick {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "left_click",
        title: "Click with the left button",
        title_zh: "左键单击",
        risk: Risk::Medium,
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

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let Input { x, y, modifiers, screenshot_id, smooth } = input;
        click_tool(ctx, &ClickArgs { x, y, modifiers, screenshot_id, smooth }, Button::Left, 1)
    }
}
