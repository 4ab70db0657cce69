//! `deskhand desk stop`.

use clap::ArgAction;
use clap::builder::FalseyValueParser;
use serde_json::json;

use super::name;
use crate::ctx::Ctx;
use crate::fail::{Fail, Run};

/// Stop a desk, or all; returns when every process and file of it is gone.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deskhand desk stop work\n  deskhand desk stop --all")]
pub(crate) struct Args {
    /// Its name.
    #[arg(value_parser = name)]
    name: Option<String>,
    /// Stop every desk of this home.
    #[arg(long, env = "DESKHAND_DESK_ALL", action = ArgAction::SetTrue, value_parser = FalseyValueParser::new())]
    all: bool,
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let home = ctx.home()?;
    let names = match (&args.name, args.all) {
        // A name that is typed counts more than a variable that says all.
        (Some(name), _) => vec![name.clone()],
        (None, true) => deskhand_desk::list(&home)?.into_iter().map(|desk| desk.name).collect(),
        (None, false) => {
            return Err(Fail::usage(
                "no desk is named",
                "give a name, or --all; `deskhand desk list` shows them",
            ));
        }
    };
    for name in &names {
        match deskhand_desk::stop(&home, name) {
            // With --all: it ended by itself meanwhile.
            Err(deskhand_desk::DeskError::NotFound(_)) if args.name.is_none() => {}
            stopped => stopped?,
        }
        if !ctx.json {
            ctx.line(&ctx.lang.desk_stopped(name))?;
        }
    }
    if ctx.json {
        ctx.json(&json!({ "stopped": names }))?;
    } else if names.is_empty() {
        ctx.note(&ctx.lang.desk_none());
    }
    Ok(0)
}
