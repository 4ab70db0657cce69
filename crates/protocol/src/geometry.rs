//! Places on the desktop, in logical pixels, origin top left, across all displays.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A point in logical pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Point {
    /// Pixels to the right of the desktop's left edge.
    pub x: i32,
    /// Pixels below the desktop's top edge.
    pub y: i32,
}

impl Point {
    /// A point at `x`, `y`.
    #[must_use]
    pub const fn new(x: i32, y: i32) -> Self {
        Self { x, y }
    }
}

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Size {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
}

/// A rectangle in logical pixels. Right and bottom edges are exclusive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Rect {
    /// Left edge.
    pub x: i32,
    /// Top edge.
    pub y: i32,
    /// Pixels across.
    pub width: i32,
    /// Pixels down.
    pub height: i32,
}

impl Rect {
    /// A rectangle from its top left corner and its size.
    #[must_use]
    pub const fn new(x: i32, y: i32, width: i32, height: i32) -> Self {
        Self { x, y, width, height }
    }

    /// The pixel in the middle.
    #[must_use]
    pub const fn center(&self) -> Point {
        Point::new(self.x.saturating_add(self.width / 2), self.y.saturating_add(self.height / 2))
    }

    /// First column to the right of the rectangle.
    #[must_use]
    pub const fn right(&self) -> i32 {
        self.x.saturating_add(self.width)
    }

    /// First row below the rectangle.
    #[must_use]
    pub const fn bottom(&self) -> i32 {
        self.y.saturating_add(self.height)
    }

    /// Whether it covers no pixel.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.width <= 0 || self.height <= 0
    }

    /// Whether the pixel at `p` is inside.
    #[must_use]
    pub const fn contains(&self, p: Point) -> bool {
        p.x >= self.x && p.y >= self.y && p.x < self.right() && p.y < self.bottom()
    }

    /// Whether `other` is wholly inside.
    #[must_use]
    pub const fn contains_rect(&self, other: &Rect) -> bool {
        other.x >= self.x
            && other.y >= self.y
            && other.right() <= self.right()
            && other.bottom() <= self.bottom()
    }

    /// The shared part, if there is one.
    #[must_use]
    pub fn intersect(&self, other: &Rect) -> Option<Rect> {
        let x = self.x.max(other.x);
        let y = self.y.max(other.y);
        let r = Rect::new(x, y, self.right().min(other.right()) - x, self.bottom().min(other.bottom()) - y);
        (!r.is_empty()).then_some(r)
    }

    /// The smallest rectangle around both.
    #[must_use]
    pub fn union(&self, other: &Rect) -> Rect {
        let x = self.x.min(other.x);
        let y = self.y.min(other.y);
        Rect::new(x, y, self.right().max(other.right()) - x, self.bottom().max(other.bottom()) - y)
    }
}
