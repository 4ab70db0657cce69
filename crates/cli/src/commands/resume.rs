//! `deskhand resume`.

use deskhand_protocol::method;
use serde_json::json;

use crate::connect;
use crate::ctx::Ctx;
use crate::fail::Run;

/// Let calls act again after an emergency stop.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  deskhand resume")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, ctx: &Ctx) -> Run {
    let answer = connect::ask(&ctx.home()?, method::RESUME, &json!({}))?;
    if ctx.json {
        ctx.json(&answer)?
    } else {
        ctx.line(&ctx.lang.resume_done())?
    }
    Ok(0)
}
