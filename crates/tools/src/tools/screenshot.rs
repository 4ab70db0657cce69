//! `screenshot` (control seed §3.2.1).

use std::time::{SystemTime, UNIX_EPOCH};

use deskhand_platform::{Area, Frame, Window};
use deskhand_protocol::{
    Category, Error, ErrorCode, Evidence, Lane, Level, Needs, Platform, Rect, Result, Risk, ScreenshotId,
    ToolMeta,
};
use deskhand_vision::{Format, Mapping, Pixels};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Ctx, Done, Tool};

/// Longest edge of a picture; what vision models read without scaling it again.
const LONG_EDGE: u32 = 1568;

/// Captures the whole screen, a window or a region as an image. Coordinates of later mouse calls may
/// be given in the image's own pixels by passing its `screenshotId`. The long edge is at most 1568.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// What to capture.
    mode: Mode,
    /// Title of the window, or a part of it (mode "window"; default: the focused window).
    window_title: Option<String>,
    /// The region in logical pixels (mode "region").
    region: Option<Rect>,
    /// Image format, default "jpeg".
    format: Option<ImageFormat>,
    /// JPEG quality 0 to 100, default 80.
    #[schemars(range(min = 0, max = 100))]
    quality: Option<u8>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Fullscreen,
    Window,
    Region,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ImageFormat {
    Png,
    #[default]
    Jpeg,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The image, base64.
    image: String,
    /// Image width in pixels.
    width: u32,
    /// Image height in pixels.
    height: u32,
    /// Physical pixels per logical pixel of the screen.
    scale: f64,
    /// When it was taken, milliseconds since 1970.
    timestamp: u64,
    /// Pass it to mouse tools to give coordinates in this image's pixels.
    #[serde(rename = "screenshotId")]
    screenshot_id: ScreenshotId,
    /// The part of the desktop it shows, logical pixels.
    region: Rect,
    /// "image/jpeg" or "image/png".
    #[serde(rename = "mimeType")]
    mime_type: &'static str,
}

pub(crate) struct Screenshot;

impl Tool for Screenshot {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "screenshot",
        title: "Take a picture of the screen, a window or a region",
        title_zh: "全屏/窗口/区域截屏",
        risk: Risk::Low,
        category: Category::Screen,
        level: Level::L1,
        read_only: true,
        lane: Lane::SharedRead,
        needs: &[Needs::Screen],
        evidence: Evidence::None,
        platforms: &[Platform::Linux, Platform::Macos, Platform::Windows],
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

/// Scales and encodes a frame, remembers its place, and puts it into an answer; the encoded bytes
/// come along for the evidence.
pub(crate) fn answer(
    ctx: &Ctx<'_>,
    frame: &Frame,
    display: Option<u32>,
    format: Option<ImageFormat>,
    quality: Option<u8>,
) -> Result<(Output, Picture)> {
    let picture = picture(frame, wanted(format, quality)?)?;
    let output = Output {
        image: deskhand_vision::to_base64(&picture.bytes),
        width: picture.mapping.image.width,
        height: picture.mapping.image.height,
        scale: frame.scale,
        timestamp: now_ms().saturating_sub(u64::try_from(frame.taken.elapsed().as_millis()).unwrap_or(0)),
        screenshot_id: ctx.books.keep_shot(picture.mapping, display),
        region: frame.area,
        mime_type: picture.mime_type,
    };
    Ok((output, picture))
}

/// The picture format asked for.
pub(crate) fn wanted(format: Option<ImageFormat>, quality: Option<u8>) -> Result<Format> {
    let quality = check_quality(quality)?;
    Ok(match format.unwrap_or_default() {
        ImageFormat::Png => Format::Png,
        ImageFormat::Jpeg => Format::Jpeg(quality),
    })
}

/// An encoded picture of a frame.
pub(crate) struct Picture {
    pub(crate) bytes: Vec<u8>,
    pub(crate) mapping: Mapping,
    pub(crate) mime_type: &'static str,
}

/// Scales to the long edge and encodes.
fn picture(frame: &Frame, format: Format) -> Result<Picture> {
    let fail = |e: deskhand_vision::VisionError| Error::new(ErrorCode::Internal, e.to_string());
    let size = deskhand_vision::fit(frame.size, LONG_EDGE);
    let pixels = Pixels { data: &frame.data, size: frame.size };
    let bytes = if size == frame.size {
        deskhand_vision::encode(pixels, format).map_err(fail)?
    } else {
        let scaled = deskhand_vision::scale(pixels, size).map_err(fail)?;
        deskhand_vision::encode(Pixels { data: &scaled, size }, format).map_err(fail)?
    };
    let mime_type = if format == Format::Png { "image/png" } else { "image/jpeg" };
    Ok(Picture { bytes, mapping: Mapping { area: frame.area, image: size }, mime_type })
}

/// Milliseconds since 1970.
fn now_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

fn check_quality(quality: Option<u8>) -> Result<u8> {
    match quality.unwrap_or(80) {
        q @ 0..=100 => Ok(q),
        q => Err(Error::new(ErrorCode::InvalidInput, format!("quality is {q}; it goes from 0 to 100"))
            .detail("field", "quality")),
    }
}

fn area(input: &Input, ctx: &Ctx<'_>) -> Result<(Area, Option<u32>)> {
    let wrong = |field: &str, why: &str| {
        Error::new(ErrorCode::InvalidInput, format!("screenshot: {field} {why}")).detail("field", field)
    };
    match input.mode {
        Mode::Fullscreen => of_screen(ctx),
        Mode::Region => of_region(
            ctx,
            input.region.ok_or_else(|| wrong("region", "is missing; mode \"region\" needs it"))?,
        ),
        Mode::Window => {
            let window = match (&input.window_title, &ctx.route.window) {
                (Some(title), _) => crate::tools::window_by_title(ctx, "window_title", title)?,
                (None, Some(window)) => window.clone(),
                (None, None) => ctx.desktop.windows.active()?.ok_or_else(|| {
                    // Every error of a tool gets the windows its hint speaks of.
                    Error::new(ErrorCode::WindowNotFound, "no window has the focus; name one in window_title")
                })?,
            };
            of_window(ctx, &window)
        }
    }
}

/// A window's part of the screen, and the display it lies on when it lies on one.
pub(crate) fn of_window(ctx: &Ctx<'_>, window: &Window) -> Result<(Area, Option<u32>)> {
    if window.minimized {
        return Err(Error::new(
            ErrorCode::NotActionable,
            format!("{:?} is minimised and has no pixels", window.title),
        )
        .hint("restore it first with window_manage")
        .detail("reason", "minimised"));
    }
    Ok((Area::Window(window.id), on_display(ctx, &window.bounds)?))
}

/// A region of the screen, and the display it lies on when it lies on one.
pub(crate) fn of_region(ctx: &Ctx<'_>, region: Rect) -> Result<(Area, Option<u32>)> {
    if region.is_empty() {
        return Err(
            Error::new(ErrorCode::InvalidInput, "region has no width or height").detail("field", "region")
        );
    }
    Ok((Area::Region(region), on_display(ctx, &region)?))
}

/// All of the screen, or the routed display.
pub(crate) fn of_screen(ctx: &Ctx<'_>) -> Result<(Area, Option<u32>)> {
    if let Some(display) = &ctx.route.display {
        return Ok((Area::Display(display.id), Some(display.id)));
    }
    // With one display there is no doubt which one is meant.
    match ctx.desktop.screen.displays()?.as_slice() {
        [only] => Ok((Area::All, Some(only.id))),
        _ => Ok((Area::All, None)),
    }
}

fn on_display(ctx: &Ctx<'_>, rect: &Rect) -> Result<Option<u32>> {
    Ok(ctx.desktop.screen.displays()?.iter().find(|d| d.bounds.contains_rect(rect)).map(|d| d.id))
}
