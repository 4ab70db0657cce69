//! A pointer path as a hand would draw it: a bent line, slow at both ends.

use std::time::Duration;

use deskhand_protocol::{Point, Result};

use crate::Ctx;

/// Time between two steps; a hand's mouse reports about this often.
const STEP: Duration = Duration::from_millis(8);
/// Most steps of one path.
const MAX_STEPS: u32 = 1000;

/// Points from `from` to `to` over `time`; the last one is exactly `to`. `bend` (-1 to 1) says how
/// far and to which side the line bends.
pub(crate) fn path(from: Point, to: Point, time: Duration, bend: f64) -> Vec<Point> {
    let steps = u32::try_from(time.as_millis() / STEP.as_millis()).unwrap_or(MAX_STEPS).clamp(1, MAX_STEPS);
    let (dx, dy) = (f64::from(to.x - from.x), f64::from(to.y - from.y));
    let sway = bend * 0.12;
    // Two control points beside the straight line make a cubic Bezier curve.
    let c1 = (f64::from(from.x) + dx * 0.3 - dy * sway, f64::from(from.y) + dy * 0.3 + dx * sway);
    let c2 = (f64::from(from.x) + dx * 0.7 - dy * sway * 0.6, f64::from(from.y) + dy * 0.7 + dx * sway * 0.6);
    let mut points: Vec<Point> = (1..steps)
        .map(|i| {
            let linear = f64::from(i) / f64::from(steps);
            let t = linear * linear * (3.0 - 2.0 * linear);
            let u = 1.0 - t;
            let at = |p0: f64, p1: f64, p2: f64, p3: f64| {
                u * u * u * p0 + 3.0 * u * u * t * p1 + 3.0 * u * t * t * p2 + t * t * t * p3
            };
            Point::new(
                at(f64::from(from.x), c1.0, c2.0, f64::from(to.x)).round() as i32,
                at(f64::from(from.y), c1.1, c2.1, f64::from(to.y)).round() as i32,
            )
        })
        .collect();
    points.push(to);
    points
}

/// Moves the pointer to `to`: along a path over `time` with `smooth`, else at once.
pub(crate) fn glide(ctx: &Ctx<'_>, to: Point, smooth: bool, time: Duration) -> Result<()> {
    let from = if smooth && !time.is_zero() { ctx.desktop.input.pointer()? } else { to };
    if from == to {
        return Ok(ctx.desktop.input.move_to(to, ctx.scope)?);
    }
    let points = path(from, to, time, fastrand::f64() * 2.0 - 1.0);
    let pause = time / u32::try_from(points.len()).unwrap_or(1);
    let screen = ctx
        .desktop
        .screen
        .displays()?
        .iter()
        .map(|d| d.bounds)
        .reduce(|a, b| a.union(&b))
        .unwrap_or_default();
    for (i, p) in points.iter().enumerate() {
        if i > 0 {
            let jitter = pause.mul_f64(0.8 + fastrand::f64() * 0.4);
            ctx.scope.sleep(jitter, "moving the pointer")?;
        }
        let p = Point::new(p.x.clamp(screen.x, screen.right() - 1), p.y.clamp(screen.y, screen.bottom() - 1));
        ctx.desktop.input.move_to(p, ctx.scope)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_ends_exactly_and_stays_near_the_line() {
        for bend in [-1.0, 0.0, 0.5, 1.0] {
            let (from, to) = (Point::new(10, 20), Point::new(1000, 500));
            let points = path(from, to, Duration::from_millis(400), bend);
            assert_eq!(points.last(), Some(&to));
            assert!(points.len() > 20);
            for p in &points {
                assert!((-200..=1200).contains(&p.x) && (-200..=800).contains(&p.y), "{p:?}");
            }
        }
    }

    #[test]
    fn no_time_is_one_step() {
        assert_eq!(path(Point::new(0, 0), Point::new(5, 5), Duration::ZERO, 1.0), vec![Point::new(5, 5)]);
    }

    #[test]
    fn it_starts_and_ends_slowly() {
        let points = path(Point::new(0, 0), Point::new(1000, 0), Duration::from_millis(800), 0.0);
        let mid = points.len() / 2;
        let step = |i: usize| (points[i + 1].x - points[i].x).abs();
        assert!(step(0) < step(mid) && step(points.len() - 2) < step(mid));
    }
}
