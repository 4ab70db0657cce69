//! The desktop facets on Linux: X11 by x11rb, accessibility by AT-SPI.

// mod elements;  — enabled as soon as the folder has content (another helper writes it).
mod lookup;
mod x11;

pub use lookup::WindowLookup;
