//! `capture_screen` (host seed §2).

use deskhand_platform::Area;
use deskhand_protocol::{
    Category, Error, ErrorCode, Evidence, Lane, Level, Needs, Rect, Result, Risk, ToolMeta, WindowRoute,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::args::{EVERYWHERE, wrong};
use super::screenshot::{ImageFormat, Output, answer, of_region, of_screen, of_window, wanted};
use crate::route::windows_json;
use crate::{Ctx, Done, Tool};

/// Captures a display, a window or a region as an image (give one of them; default: the routed
/// window or display, else the whole desktop). Its `screenshotId` can be given to mouse tools.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Input {
    /// Id of a display (`system_info`).
    display: Option<u32>,
    /// A window by its id or a pattern of its title.
    window: Option<WindowRoute>,
    /// A region in logical pixels.
    region: Option<Rect>,
    /// Image format, default "jpeg".
    format: Option<ImageFormat>,
    /// JPEG quality 0 to 100, default 80.
    #[schemars(range(min = 0, max = 100))]
    quality: Option<u8>,
}

pub(crate) struct CaptureScreen;

impl Tool for CaptureScreen {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "capture_screen",
        title: "Capture a display, a window or a region",
        title_zh: "截图（显示器/窗口/区域）",
        risk: Risk::Low,
        category: Category::Screen,
        level: Level::L1,
        read_only: true,
        lane: Lane::SharedRead,
        needs: &[Needs::Screen],
        evidence: Evidence::None,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 10_000,
        roles: &[],
    };

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        wanted(input.format, input.quality)?;
        let (area, display) = area(&input, ctx)?;
        let frame = ctx.desktop.screen.capture(area, ctx.scope)?;
        let (output, _) = answer(ctx, &frame, display, input.format, input.quality)?;
        Ok(Done::look(output))
    }
}

fn area(input: &Input, ctx: &Ctx<'_>) -> Result<(Area, Option<u32>)> {
    match (input.display, &input.window, input.region) {
        (None, None, None) => match &ctx.route.window {
            Some(window) => of_window(ctx, window),
            None => of_screen(ctx),
        },
        (Some(id), None, None) => {
            let ids: Vec<u32> = ctx.desktop.screen.displays()?.iter().map(|d| d.id).collect();
            if !ids.contains(&id) {
                return Err(wrong("display", format!("is {id}; there is no such display"))
                    .hint(format!("use one of {ids:?}")));
            }
            Ok((Area::Display(id), Some(id)))
        }
        (None, Some(window), None) => of_window(ctx, &named(ctx, window)?),
        (None, None, Some(region)) => of_region(ctx, region),
        _ => Err(wrong("display, window, region", "are given together; give one of them")),
    }
}

fn named(ctx: &Ctx<'_>, wanted: &WindowRoute) -> Result<deskhand_platform::Window> {
    let all = ctx.desktop.windows.list()?;
    let pattern = wanted.title_pattern.as_deref().map(|p| {
        regex_lite::Regex::new(p).map_err(|e| wrong("window.titlePattern", format!("is {p:?}: {e}")))
    });
    let pattern = pattern.transpose()?;
    if wanted.window_id.is_none() && pattern.is_none() {
        return Err(wrong("window", "is empty; give windowId or titlePattern"));
    }
    let fits = |w: &&deskhand_platform::Window| {
        wanted.window_id.is_none_or(|id| w.id.0 == id)
            && pattern.as_ref().is_none_or(|p| p.is_match(&w.title))
    };
    let found = all.iter().filter(fits).min_by_key(|w| !w.focused).cloned();
    found.ok_or_else(|| {
        let what = serde_json::to_string(wanted).unwrap_or_default();
        Error::new(ErrorCode::WindowNotFound, format!("no window fits {what}"))
            .detail("windows", windows_json(&all))
    })
}
