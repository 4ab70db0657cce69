//! `deskhand completions`.

use clap_complete::Shell;
use serde_json::json;

use crate::ctx::Ctx;
use crate::fail::{Fail, Run};

/// Print a completion script for a shell.
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  deskhand completions bash > ~/.local/share/bash-completion/completions/deskhand\n  deskhand completions zsh > ~/.zfunc/_deskhand\n  deskhand completions fish > ~/.config/fish/completions/deskhand.fish"
)]
pub(crate) struct Args {
    /// The shell.
    shell: Shell,
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut visible(&crate::app::command()), "deskhand", &mut script);
    let script = String::from_utf8(script).map_err(|error| {
        Fail::Failed(deskhand_protocol::Error::new(deskhand_protocol::ErrorCode::Internal, error.to_string()))
    })?;
    if ctx.json {
        ctx.json(&json!({ "shell": args.shell.to_string(), "script": script }))?;
    } else {
        ctx.line(&script)?;
    }
    Ok(0)
}

/// Without the commands only Deskhand itself types: scripts are offered what people type.
pub(crate) fn visible(command: &clap::Command) -> clap::Command {
    let subcommands: Vec<clap::Command> =
        command.get_subcommands().filter(|sub| !sub.is_hide_set()).cloned().collect();
    let mut rebuilt = clap::Command::new("deskhand")
        .version(crate::connect::VERSION)
        .subcommands(subcommands)
        .args(command.get_arguments().cloned());
    if let Some(about) = command.get_about() {
        rebuilt = rebuilt.about(about.clone());
    }
    if let Some(after) = command.get_after_help() {
        rebuilt = rebuilt.after_help(after.clone());
    }
    rebuilt
}
