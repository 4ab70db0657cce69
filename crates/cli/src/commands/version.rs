//! `deskhand version`.

use deskhand_protocol::BRIDGE_VERSION;
use serde_json::{Value, json};

use crate::connect::VERSION;
use crate::ctx::Ctx;
use crate::fail::Run;

/// Print the version.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  deskhand version --json")]
pub(crate) struct Args {}

/// The version as programs read it.
pub(crate) fn facts() -> Value {
    json!({ "name": "deskhand", "version": VERSION, "bridge": BRIDGE_VERSION })
}

pub(crate) fn run(_args: &Args, ctx: &Ctx) -> Run {
    if ctx.json {
        ctx.json(&facts())?
    } else {
        ctx.line(&format!("deskhand {VERSION}"))?
    }
    Ok(0)
}
