//! The finished programs on a private desk, driven as a client drives them. Test code only.
//!
//! [`LiveHost`] starts a virtual desk, the real `deskhand-host` on it and a client of the bridge.
//! The programs are those beside the test's own (`cargo build --bins` first; `make test` does).

// Test code: arguments are written as `json!` values where they are used.
#![allow(clippy::needless_pass_by_value)]

pub mod apps;
mod live;

pub use live::{LiveHost, LiveOptions, program, wait_for, x11};
