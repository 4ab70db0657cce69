//! The X11 facets against a real X server of their own, with real clients.
#![allow(missing_docs, unreachable_pub, clippy::unwrap_used, clippy::print_stdout)]

mod apps;
mod client;
mod clipboard;
#[path = "../common/mod.rs"]
mod common;
mod input;
mod programs;
mod recovery;
mod report;
mod screen;
mod typing;
mod windows;
