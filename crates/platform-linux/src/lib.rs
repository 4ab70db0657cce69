//! The desktop facets on Linux: X11 by x11rb, accessibility by AT-SPI.

mod elements;
mod lookup;
mod apps;
mod clipboard;
mod input;
mod process;
mod screen;
mod windows;
mod x11;

pub use elements::AtspiElements;
pub use lookup::WindowLookup;
