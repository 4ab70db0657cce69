//! `deskhand up`.

use std::path::Path;
use std::process::Command;

use clap::ArgAction;
use clap::builder::FalseyValueParser;
use deskhand_config::Home;
use deskhand_desk::{Options, parse_size};
use deskhand_protocol::{CheckStatus, ErrorCode, HostStatus, Light, Size};
use serde_json::{Value, json};

use crate::connect;
use crate::ctx::Ctx;
use crate::fail::{self, FAILED, Fail, Run};
use crate::launch::{self, NotReady};
use crate::serve::{self, End, Serving};

/// Start the host on this display, or on a virtual desk if asked or if there is no display.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deskhand up                      # stays until Ctrl-C\n  deskhand up --detach\n  deskhand up --detach --desk=1280x800"
)]
pub(crate) struct Args {
    /// Return when it answers; it goes on in the background until `deskhand down`.
    #[arg(long, env = "DESKHAND_UP_DETACH", action = ArgAction::SetTrue, value_parser = FalseyValueParser::new())]
    detach: bool,
    /// On a fresh virtual desk of this size (default 1920x1080), which ends with the host.
    #[arg(long, env = "DESKHAND_UP_DESK", value_name = "WxH", num_args = 0..=1, require_equals = true, default_missing_value = "yes", value_parser = desk_size)]
    desk: Option<Size>,
}

fn desk_size(text: &str) -> Result<Size, String> {
    match text {
        "yes" | "true" | "1" => Ok(Options::default().size),
        size => parse_size("desk", size).map_err(|error| error.to_string()),
    }
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let home = ctx.home()?;
    match connect::status(&home) {
        Ok(status) => return already(&home, &status, args.desk.is_some(), ctx),
        Err(error) if error.code == ErrorCode::HostNotRunning => {}
        Err(error) => return Err(error.into()),
    }
    home.ensure()?;
    let has_display = std::env::var_os("DISPLAY").is_some_and(|display| !display.is_empty());
    if args.desk.is_none() && !has_display {
        ctx.note(&ctx.lang.up_no_display());
    }
    let size = args.desk.or((!has_display).then(|| Options::default().size));
    let options = size.map(|size| Options { size, ..Options::default() });
    if args.detach {
        detached(&home, options.as_ref(), ctx)
    } else {
        foreground(&home, options.as_ref(), ctx)
    }
}

fn already(home: &Home, status: &HostStatus, desk_wanted: bool, ctx: &Ctx) -> Run {
    if ctx.json {
        ctx.json(&facts(home, status, true, None))?;
    } else {
        ctx.line(&ctx.lang.up_already(status.pid, &status.display))?;
    }
    if desk_wanted {
        ctx.note(&ctx.lang.up_elsewhere());
    }
    Ok(0)
}

/// The status, and how it came about.
fn facts(home: &Home, status: &HostStatus, already: bool, log: Option<&Path>) -> Value {
    let mut value = json!(status);
    value["alreadyRunning"] = json!(already);
    value["desk"] = json!(serve::desk_of(home, status));
    value["log"] = json!(log);
    value
}

fn tell(
    home: &Home,
    status: &HostStatus,
    desk: Option<&Options>,
    log: Option<&Path>,
    ctx: &Ctx,
) -> Result<(), Fail> {
    if ctx.json {
        return ctx.json(&facts(home, status, false, log));
    }
    ctx.line(&ctx.lang.up_running(status.pid, &status.display, &status.home))?;
    if let (Some(options), Some(name)) = (desk, serve::desk_of(home, status)) {
        ctx.line(&ctx.lang.up_desk(name, format!("{}x{}", options.size.width, options.size.height)))?;
    }
    for check in status.checks.iter().filter(|check| check.status != CheckStatus::Pass) {
        ctx.line(&format!("  {}: {}", ctx.out.yellow(&check.id), ctx.out.foreign(&check.summary)))?;
    }
    if status.light != Light::Green {
        ctx.line(&ctx.lang.up_limited())?;
    }
    if let Some(log) = log {
        ctx.line(&ctx.out.dim(&ctx.lang.up_log(log.display())))?;
    }
    Ok(())
}

fn foreground(home: &Home, desk: Option<&Options>, ctx: &Ctx) -> Run {
    let mut serving = Serving::start(home, desk, None)?;
    let status = match serving.wait_ready(home) {
        Ok(status) => status,
        Err(NotReady::CalledOff) => {
            drop(serving);
            ctx.note(&ctx.lang.up_stopped());
            return Ok(0);
        }
        Err(NotReady::Another(status)) => {
            drop(serving);
            return already(home, &status, desk.is_some(), ctx);
        }
        Err(why) => return Err(launch::did_not_start(&why, None).into()),
    };
    tell(home, &status, desk, None, ctx)?;
    ctx.note(&ctx.err.dim(&ctx.lang.up_foreground()));
    let end = serving.hold();
    drop(serving);
    let why = match end {
        End::Asked => {
            ctx.note(&ctx.lang.up_stopped());
            return Ok(0);
        }
        End::Host(status) => format!("the host ended by itself: {status}"),
        End::Desk(why) => format!("the desk ended: {why}"),
    };
    // With --json the one document is out already.
    ctx.note(&format!("{}: {why}", ctx.lang.label_error()));
    Ok(FAILED)
}

fn detached(home: &Home, desk: Option<&Options>, ctx: &Ctx) -> Run {
    launch::host_program()?;
    let (path, log) = launch::open_log(home)?;
    let start = log.metadata().map_or(0, |meta| meta.len());
    let program = launch::myself()?;
    let mut command = Command::new(&program);
    // --json: what it has to say about itself is read back from the log.
    command.args(["serve-host", "--detached", "--json"]).env("DESKHAND_HOME", home.root());
    if let Some(options) = desk {
        let options = serde_json::to_string(options).map_err(std::io::Error::from)?;
        command.arg("--desk").arg(options);
    }
    launch::into_log(&mut command, &log)?;
    let mut child = command.spawn().map_err(|error| fail::file("run", &program, &error))?;
    match launch::wait_ready(home, &mut child, || false) {
        Ok(status) => tell(home, &status, desk, Some(&path), ctx)?,
        Err(NotReady::Another(status)) => {
            launch::end(&mut child);
            return already(home, &status, desk.is_some(), ctx);
        }
        Err(why) => {
            launch::end(&mut child);
            return Err(launch::did_not_start(&why, Some((&path, start))).into());
        }
    }
    Ok(0)
}
