//! The built program, run as people and scripts run it.

// Helpers of tests may unwrap as tests may.
#![allow(clippy::unwrap_used)]

mod errors;
mod evidence;
mod fake_host;
mod shown;
mod support;
mod words;
