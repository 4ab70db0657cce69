//! Coordinates: in range, on the display that was named, or refused.

use deskhand_platform::Display;
use deskhand_protocol::{Error, ErrorCode, Point, Rect, Result, ScreenshotId};
use serde_json::json;

use crate::Ctx;

/// Turns coordinates of a call into a point of the desktop.
///
/// Without a screenshot they are logical pixels of the whole desktop; with one they are pixels of
/// that picture. With several displays either the route or the screenshot must name the display.
pub(crate) fn point(
    ctx: &Ctx<'_>,
    names: (&str, &str),
    x: f64,
    y: f64,
    shot: Option<&ScreenshotId>,
) -> Result<Point> {
    if let Some(id) = shot {
        let shot = ctx.books.shot(id)?;
        let (w, h) = (shot.mapping.image.width, shot.mapping.image.height);
        let point = shot.mapping.to_desktop(x, y).ok_or_else(|| {
            let valid =
                Rect::new(0, 0, i32::try_from(w).unwrap_or(i32::MAX), i32::try_from(h).unwrap_or(i32::MAX));
            out_of_range(names, x, y, "the screenshot", valid)
        })?;
        let displays = ctx.desktop.screen.displays()?;
        // A window or region picture lies on one display or says nothing about it.
        let named = shot.display.is_some() || displays.len() < 2 || ctx.route.display.is_some();
        if !named {
            return Err(display_required(names, &displays));
        }
        return on_routed_display(ctx, names, point);
    }
    let displays = ctx.desktop.screen.displays()?;
    let all = displays.iter().map(|d| d.bounds).reduce(|a, b| a.union(&b)).unwrap_or_default();
    let valid = ctx.route.display.as_ref().map_or(all, |d| d.bounds);
    let inside = x.is_finite()
        && y.is_finite()
        && x >= f64::from(valid.x)
        && y >= f64::from(valid.y)
        && x < f64::from(valid.right())
        && y < f64::from(valid.bottom());
    if !inside {
        let what = ctx
            .route
            .display
            .as_ref()
            .map_or_else(|| "the desktop".to_owned(), |d| format!("display {}", d.id));
        return Err(out_of_range(names, x, y, &what, valid));
    }
    if displays.len() > 1 && ctx.route.display.is_none() {
        return Err(display_required(names, &displays));
    }
    let point = Point::new(x.floor() as i32, y.floor() as i32);
    if !displays.iter().any(|d| d.bounds.contains(point)) {
        return Err(out_of_range(names, x, y, "every display", valid));
    }
    Ok(point)
}

fn on_routed_display(ctx: &Ctx<'_>, names: (&str, &str), point: Point) -> Result<Point> {
    match &ctx.route.display {
        Some(display) if !display.bounds.contains(point) => Err(out_of_range(
            names,
            f64::from(point.x),
            f64::from(point.y),
            &format!("display {}", display.id),
            display.bounds,
        )),
        _ => Ok(point),
    }
}

fn out_of_range(names: (&str, &str), x: f64, y: f64, what: &str, valid: Rect) -> Error {
    Error::new(ErrorCode::OutOfRange, format!("{}={x}, {}={y} is outside {what}", names.0, names.1))
        .hint(format!(
            "valid: {} from {} to {}, {} from {} to {}",
            names.0,
            valid.x,
            valid.right() - 1,
            names.1,
            valid.y,
            valid.bottom() - 1
        ))
        .detail("field", names.0)
        .detail("valid", json!(valid))
}

fn display_required(names: (&str, &str), displays: &[Display]) -> Error {
    let list: Vec<_> =
        displays.iter().map(|d| json!({"displayId": d.id, "name": d.name, "bounds": d.bounds})).collect();
    Error::new(
        ErrorCode::DisplayRequired,
        format!(
            "there are {} displays and {}, {} do not say which one is meant",
            displays.len(),
            names.0,
            names.1
        ),
    )
    .detail("displays", list)
}
