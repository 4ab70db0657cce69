//! Logical and physical pixels.
//!
//! X11 has physical pixels only. Desktops that enlarge everything say so by `Xft.dpi` in the resource
//! database; its whole multiple of 96 is our scale (192 dpi → 2). Fractions stay 1 to 1: toolkits draw
//! them inside their own windows.

use deskhand_protocol::{Point, Rect};

/// Physical pixels per logical pixel, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scale(pub(crate) i32);

impl Scale {
    /// From the text of the `RESOURCE_MANAGER` property.
    pub(crate) fn from_resources(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let dpi = text
            .lines()
            .filter_map(|line| line.split_once(':'))
            .find(|(key, _)| matches!(key.trim(), "Xft.dpi" | "*dpi" | "Xft*dpi"))
            .and_then(|(_, value)| value.trim().parse::<f64>().ok())
            .unwrap_or(96.0);
        let whole = (dpi / 96.0).floor();
        Self(if whole.is_finite() { (whole as i32).clamp(1, 8) } else { 1 })
    }

    pub(crate) fn factor(self) -> f64 {
        f64::from(self.0)
    }

    pub(crate) fn point_up(self, p: Point) -> Point {
        Point::new(p.x.saturating_mul(self.0), p.y.saturating_mul(self.0))
    }

    pub(crate) fn point_down(self, p: Point) -> Point {
        Point::new(p.x.div_euclid(self.0), p.y.div_euclid(self.0))
    }

    /// Physical rectangle of a logical one.
    pub(crate) fn up(self, r: Rect) -> Rect {
        let s = self.0;
        Rect::new(
            r.x.saturating_mul(s),
            r.y.saturating_mul(s),
            r.width.saturating_mul(s),
            r.height.saturating_mul(s),
        )
    }

    /// The smallest logical rectangle around a physical one.
    pub(crate) fn down(self, r: Rect) -> Rect {
        let s = self.0;
        let (x, y) = (r.x.div_euclid(s), r.y.div_euclid(s));
        let right = -((-r.right()).div_euclid(s));
        let bottom = -((-r.bottom()).div_euclid(s));
        Rect::new(x, y, right - x, bottom - y)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_is_the_whole_multiple_of_96_dpi() {
        for (text, want) in [
            ("", 1),
            ("Xft.dpi:\t96\n", 1),
            ("a: b\nXft.dpi: 192\n", 2),
            ("Xft.dpi: 144", 1),
            ("Xft.dpi: 300.5", 3),
            ("Xft.dpi: nonsense", 1),
            ("Xft.dpi: -5", 1),
            ("Xft.dpi: inf", 1),
        ] {
            assert_eq!(Scale::from_resources(text.as_bytes()), Scale(want), "{text:?}");
        }
    }

    #[test]
    fn down_covers_every_physical_pixel() {
        let s = Scale(2);
        assert_eq!(s.down(Rect::new(1, 1, 2, 2)), Rect::new(0, 0, 2, 2));
        assert_eq!(s.down(Rect::new(-3, 0, 3, 4)), Rect::new(-2, 0, 2, 2));
        assert_eq!(s.up(s.down(Rect::new(4, 6, 8, 10))), Rect::new(4, 6, 8, 10));
    }
}
