//! `deskhand desk start`.

use deskhand_desk::{Desk, Options, Owner};
use serde_json::{Map, Value, json};

use super::{Monitors, name};
use crate::ctx::Ctx;
use crate::fail::Run;
use crate::quote::quote;

/// Start a desk that runs until it is stopped; prints the variables that lead programs to it.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deskhand desk start --name work --size 1600x900\n  eval \"$(deskhand desk start)\" && mousepad &"
)]
pub(crate) struct Args {
    /// Its name, of a-z, 0-9 and -; without one the first free of desk-1, desk-2, …
    #[arg(long, env = "DESKHAND_DESK_NAME", value_name = "N", value_parser = name)]
    name: Option<String>,
    #[command(flatten)]
    monitors: Monitors,
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let options = Options { name: args.name.clone(), owner: Owner::Nobody, ..args.monitors.options() };
    let desk = Desk::start(&options, &ctx.home()?)?;
    let env = desk.env();
    if ctx.json {
        let mut value = json!(desk.info());
        value["env"] =
            env.into_iter().map(|(key, value)| (key, Value::from(value))).collect::<Map<_, _>>().into();
        ctx.json(&value)?;
    } else {
        let lines: Vec<_> = env.iter().map(|(key, value)| format!("export {key}={}", quote(value))).collect();
        ctx.line(&lines.join("\n"))?;
        ctx.note(&ctx.lang.desk_started(desk.name(), desk.display()));
    }
    Ok(0)
}
