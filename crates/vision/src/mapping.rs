//! From a place in a picture back to the desktop.

use deskhand_protocol::{Point, Rect, Size};

/// Which part of the desktop a picture shows. A picture's pixel stands for the desktop pixel under
/// its middle, so the way back is exact whatever the sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The part of the desktop, logical pixels.
    pub area: Rect,
    /// The picture.
    pub image: Size,
}

impl Mapping {
    /// The desktop pixel under the middle of the picture's pixel; `None` outside the picture.
    #[must_use]
    pub fn to_desktop(&self, x: f64, y: f64) -> Option<Point> {
        Some(Point::new(
            self.area.x + along(x, self.image.width, self.area.width)?,
            self.area.y + along(y, self.image.height, self.area.height)?,
        ))
    }

    /// The picture's pixel that shows a desktop pixel; `None` outside the area.
    #[must_use]
    pub fn to_image(&self, point: Point) -> Option<Point> {
        if !self.area.contains(point) {
            return None;
        }
        let back = |offset: i32, edge: i32, image: u32| {
            let at = (i64::from(offset) * 2 + 1) * i64::from(image) / (i64::from(edge) * 2);
            i32::try_from(at).unwrap_or(i32::MAX)
        };
        Some(Point::new(
            back(point.x - self.area.x, self.area.width, self.image.width),
            back(point.y - self.area.y, self.area.height, self.image.height),
        ))
    }
}

/// One axis: picture pixel → offset on the desktop. A fraction of a pixel belongs to that pixel.
fn along(at: f64, image: u32, edge: i32) -> Option<i32> {
    if !at.is_finite() || at < 0.0 || at >= f64::from(image) {
        return None;
    }
    let pixel = at.floor() as i64;
    let offset = (pixel * 2 + 1) * i64::from(edge) / (i64::from(image) * 2);
    i32::try_from(offset).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fit;

    #[test]
    fn every_picture_pixel_maps_to_a_desktop_pixel_that_maps_back_to_it() {
        for (w, h) in [(1920, 1080), (1367, 769), (2561, 1441), (3841, 2161), (1, 1), (1569, 3), (5, 4001)] {
            let image = fit(Size { width: w, height: h }, 1568);
            let map = Mapping { area: Rect::new(-7, 13, w as i32, h as i32), image };
            for x in 0..image.width {
                let p = map.to_desktop(f64::from(x), 0.0).unwrap();
                assert!(map.area.contains(p));
                assert_eq!(map.to_image(p).unwrap().x, x as i32, "{w}x{h} at {x}");
            }
            for y in 0..image.height {
                let p = map.to_desktop(0.0, f64::from(y)).unwrap();
                assert_eq!(map.to_image(p).unwrap().y, y as i32, "{w}x{h} at {y}");
            }
        }
    }

    #[test]
    fn outside_is_none() {
        let map = Mapping { area: Rect::new(0, 0, 100, 100), image: Size { width: 50, height: 50 } };
        for (x, y) in [(-0.1, 0.0), (50.0, 0.0), (0.0, 50.0), (f64::NAN, 1.0), (f64::INFINITY, 1.0)] {
            assert_eq!(map.to_desktop(x, y), None);
        }
        assert_eq!(map.to_image(Point::new(100, 5)), None);
    }
}
