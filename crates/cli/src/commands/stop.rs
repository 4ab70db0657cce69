//! `deskhand stop`.

use deskhand_protocol::method;
use serde_json::json;

use crate::connect;
use crate::ctx::Ctx;
use crate::fail::Run;

/// Emergency stop: abort everything, drop what waits, and let nothing act until `deskhand resume`.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  deskhand stop")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, ctx: &Ctx) -> Run {
    let answer = connect::ask(&ctx.home()?, method::STOP, &json!({}))?;
    if ctx.json {
        ctx.json(&answer)?
    } else {
        ctx.line(&ctx.lang.stop_done())?
    }
    Ok(0)
}
