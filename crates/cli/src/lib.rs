//! `deskhand`, the only program a person types: one file per command.
//!
//! Everything that acts is a call over the bridge; this crate starts and stops the host, asks it and
//! prints what it answers. It links neither the host nor the tools nor a platform.
//!
//! - [`main`]: reads the command line, runs the command, turns its end into an exit code
//!   (0 done, 1 refused or failed, 2 wrong usage).
//! - [`command`]: the command line itself, for generated references.

mod app;
mod choices;
mod commands;
mod connect;
mod ctx;
mod example;
mod fail;
mod image;
mod lang;
mod launch;
mod near;
mod paint;
mod quote;
mod registry;
mod serve;
mod table;
mod visible;

pub use app::{command, main};
