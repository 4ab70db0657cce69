//! The built program, run as people and scripts run it.

mod errors;
mod evidence;
mod fake_host;
mod support;
mod words;
