//! `deskhand abort`.

use deskhand_protocol::method;
use serde_json::json;

use crate::connect;
use crate::ctx::Ctx;
use crate::fail::Run;

/// Abort one execution: no further input is sent, held keys are let go.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  deskhand status --json     # shows the executions\n  deskhand abort exec-0198c0de"
)]
pub(crate) struct Args {
    /// Its id as `deskhand status` shows it, or the id of its request.
    execution: String,
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let answer = connect::ask(&ctx.home()?, method::ABORT, &json!({ "id": args.execution }))?;
    if ctx.json {
        ctx.json(&answer)?
    } else {
        ctx.line(&ctx.lang.abort_done(&args.execution))?
    }
    Ok(0)
}
