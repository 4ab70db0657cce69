//! `deskhand serve-host`, which `deskhand up` types: the step between it and the host. It puts the
//! process where it belongs (a session of its own, or tied to its parent's life) and becomes the host.

use std::os::unix::process::CommandExt;
use std::process::Command;

use deskhand_desk::Options;
use deskhand_protocol::{Error, ErrorCode};
use rustix::process::{Signal, getppid, set_parent_process_death_signal, setsid};

use crate::ctx::Ctx;
use crate::fail::{self, FAILED, Fail, Run};
use crate::launch;
use crate::serve::{End, Serving};

/// Become the host. Typed by `deskhand up`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// End with this process.
    #[arg(long, value_name = "PID")]
    with_parent: Option<i32>,
    /// In a session of its own, until it is told to end.
    #[arg(long)]
    detached: bool,
    /// On a fresh desk like this, which ends with the host.
    #[arg(long, value_name = "JSON", requires = "detached")]
    desk: Option<String>,
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let home = ctx.home()?;
    if args.detached {
        // Fails only if we lead a group already, and then we are apart from any terminal's.
        let _ = setsid();
    }
    if let Some(options) = &args.desk {
        let options: Options = serde_json::from_str(options).map_err(|error| {
            Fail::usage(format!("--desk: {error}"), "this command is typed by `deskhand up`")
        })?;
        let mut serving = Serving::start(&home, Some(&options), None)?;
        return match serving.hold() {
            End::Asked => Ok(0),
            End::Host(status) => {
                ctx.note(&format!("deskhand: the host ended: {status}"));
                Ok(FAILED)
            }
            End::Desk(why) => {
                ctx.note(&format!("deskhand: the desk ended: {why}"));
                Ok(FAILED)
            }
        };
    }
    if let Some(parent) = args.with_parent {
        set_parent_process_death_signal(Some(Signal::TERM)).map_err(|error| {
            Error::new(ErrorCode::Internal, format!("the host cannot be tied to its parent: {error}"))
        })?;
        // It may have ended before the line above.
        if getppid().map(|pid| pid.as_raw_nonzero().get()) != Some(parent) {
            return Ok(FAILED);
        }
    }
    let program = launch::host_program()?;
    let error = Command::new(&program).env("DESKHAND_HOME", home.root()).exec();
    Err(fail::file("run", &program, &error).into())
}
