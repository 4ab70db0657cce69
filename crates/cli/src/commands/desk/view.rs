//! `deskhand desk view`.

use std::path::PathBuf;

use deskhand_desk::Desk;
use serde_json::json;

use super::name;
use crate::ctx::Ctx;
use crate::fail::{self, Run};

/// Write a picture of a desk, all its monitors, as PNG.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  deskhand desk view work -o shot.png")]
pub(crate) struct Args {
    /// Its name.
    #[arg(value_parser = name)]
    name: String,
    /// The file.
    #[arg(short, long, env = "DESKHAND_DESK_OUTPUT", value_name = "FILE")]
    output: PathBuf,
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let picture = Desk::attach(&ctx.home()?, &args.name)?.screenshot_png()?;
    std::fs::write(&args.output, &picture).map_err(|error| fail::file("write", &args.output, &error))?;
    if ctx.json {
        ctx.json(&json!({ "desk": args.name, "path": args.output, "bytes": picture.len() }))?;
    } else {
        ctx.line(&ctx.lang.wrote(args.output.display()))?;
    }
    Ok(0)
}
