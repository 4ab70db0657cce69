//! What tests stand on: a fake desktop made from a text scene, one conformance suite for every
//! desktop, and (feature `live`) real applications on a virtual desk.

pub mod conformance;
mod fake;
#[cfg(feature = "live")]
pub mod live;
mod scene;

pub use fake::{FakeDesktop, InputEvent, Logged};
pub use scene::{AppSpec, DisplaySpec, Effect, ElementSpec, PARTS, Scene, SceneError, WindowSpec};
