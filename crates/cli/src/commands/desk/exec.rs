//! `deskhand desk exec`.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::ArgAction;
use clap::builder::FalseyValueParser;

use super::Monitors;
use crate::ctx::Ctx;
use crate::fail::{self, Run};
use crate::launch;

/// Run one command on a fresh desk; everything is cleaned up after, and its exit code is ours.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deskhand desk exec -- mousepad\n  deskhand desk exec --size 1280x800 --up -- sh -c 'deskhand call app_list; deskhand call screenshot \"{\\\"mode\\\":\\\"fullscreen\\\"}\" -o shot.jpg'"
)]
pub(crate) struct Args {
    #[command(flatten)]
    monitors: Monitors,
    /// Also run a host on the desk, in a home that is thrown away; the command gets its DESKHAND_HOME.
    #[arg(long, env = "DESKHAND_DESK_UP", action = ArgAction::SetTrue, value_parser = FalseyValueParser::new())]
    up: bool,
    /// With --up: a home that is kept, with its evidence.
    #[arg(long, env = "DESKHAND_DESK_KEEP", value_name = "DIR")]
    keep: Option<PathBuf>,
    /// With --up: a further program that may use the bridge (several: repeat it).
    #[arg(long, env = "DESKHAND_DESK_ALLOW_CALLER", value_name = "PATH", value_delimiter = ':')]
    allow_caller: Vec<PathBuf>,
    /// The command and its arguments, after `--`.
    #[arg(last = true, required = true, value_name = "CMD")]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let home = ctx.home()?;
    let command = if args.up { session(args, ctx)? } else { args.command.clone() };
    Ok(deskhand_desk::exec(&args.monitors.options(), &home, &command)?)
}

/// The command wrapped in the step that runs a host beside it.
fn session(args: &Args, ctx: &Ctx) -> Result<Vec<OsString>, fail::Fail> {
    launch::host_program()?;
    let mut command: Vec<OsString> = vec![launch::myself()?.into(), "desk-session".into()];
    if ctx.json {
        command.push("--json".into());
    }
    if let Some(dir) = &args.keep {
        let dir = std::path::absolute(dir).map_err(|error| fail::file("find", dir, &error))?;
        command.extend(["--keep".into(), dir.into()]);
    }
    for program in &args.allow_caller {
        command.extend(["--allow-caller".into(), program.into()]);
    }
    command.push("--".into());
    command.extend(args.command.iter().cloned());
    Ok(command)
}
