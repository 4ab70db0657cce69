//! `deskhand desk-session`, which `deskhand desk exec --up` types: a host and one command side by
//! side on the desk this process runs on.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};

use deskhand_bridge::callers;
use deskhand_config::Home;
use deskhand_protocol::{Error, ErrorCode};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::ctx::Ctx;
use crate::fail::{self, Fail, Run};
use crate::launch;
use crate::serve::Serving;

/// What a shell answers when there is no such program.
const NO_PROGRAM: u8 = 127;
/// What it answers when the program cannot be run.
const NOT_A_PROGRAM: u8 = 126;

/// Run a host and a command. Typed by `deskhand desk exec --up`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A home that is kept.
    #[arg(long)]
    keep: Option<PathBuf>,
    /// A further program that may use the bridge.
    #[arg(long)]
    allow_caller: Vec<PathBuf>,
    /// The command.
    #[arg(last = true, required = true)]
    command: Vec<OsString>,
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let home = match &args.keep {
        Some(dir) => Home::at(dir),
        None => throw_away_home()?,
    };
    home.ensure()?;
    for program in &args.allow_caller {
        callers::allow(&home.callers_file(), program, Some("desk exec --allow-caller"))?;
    }
    let (log_path, log) = launch::open_log(&home)?;
    let start = log.metadata().map_or(0, |meta| meta.len());
    let mut serving = Serving::start(&home, None, Some(&log))?;
    if let Err(why) = serving.wait_ready(&home) {
        drop(serving);
        let mut error = launch::did_not_start(&why, Some((&log_path, start)));
        if args.keep.is_none() {
            // Thrown away with the home; its last lines are in the error.
            error.details.remove("log");
        }
        return Err(error.into());
    }
    let mut signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGCHLD])
        .map_err(|error| Error::new(ErrorCode::Internal, format!("signals cannot be watched: {error}")))?;
    let program = PathBuf::from(&args.command[0]);
    let started = Command::new(&program).args(&args.command[1..]).env("DESKHAND_HOME", home.root()).spawn();
    let mut child = match started {
        Ok(child) => child,
        Err(error) => {
            // As a shell, and as `desk exec` without --up.
            ctx.note(&format!("deskhand: cannot run {}: {error}", program.display()));
            return Ok(if error.kind() == std::io::ErrorKind::NotFound { NO_PROGRAM } else { NOT_A_PROGRAM });
        }
    };
    let status = wait(&mut child, &mut signals)?;
    drop(serving);
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(fail::FAILED))
}

/// In the desk's own runtime folder, which is removed with the desk, however it ends.
fn throw_away_home() -> Result<Home, Fail> {
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty()).map(PathBuf::from);
    match (runtime, std::env::var_os("DESKHAND_DESK")) {
        (Some(dir), Some(_)) => Ok(Home::at(dir.join("deskhand"))),
        _ => Err(Fail::usage(
            "this command runs only on a virtual desk",
            "type `deskhand desk exec --up -- CMD`",
        )),
    }
}

/// Waits as long as the command takes, and passes on what asks for its end.
fn wait(child: &mut Child, signals: &mut Signals) -> Result<ExitStatus, Fail> {
    loop {
        let ended = child.try_wait().map_err(|error| Error::new(ErrorCode::Internal, error.to_string()))?;
        if let Some(status) = ended {
            return Ok(status);
        }
        for signal in signals.wait() {
            // What the terminal sends has reached the command already.
            let by_terminal = matches!(signal, SIGINT | SIGQUIT) && std::io::stdin().is_terminal();
            let passed_on = signal != SIGCHLD && !by_terminal;
            if let Some(signal) = Signal::from_named_raw(signal).filter(|_| passed_on) {
                let _ = kill_process(Pid::from_child(child), signal);
            }
        }
    }
}
