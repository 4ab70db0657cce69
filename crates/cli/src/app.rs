//! The command line as a whole.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::builder::FalseyValueParser;
use clap::error::ErrorKind;
use clap::{ArgAction, CommandFactory, FromArgMatches, Parser, Subcommand};
use serde_json::json;

use crate::commands::{
    abort, batch, call, callers, completions, describe, desk, doctor, down, evidence, man, resume,
    serve_host, status, stop, tools, up, version,
};
use crate::ctx::Ctx;
use crate::fail::{Fail, USAGE};

/// A hand at your desk: sees the desktop and acts on it under your rules.
#[derive(Parser)]
#[command(
    name = "deskhand",
    version,
    max_term_width = 100,
    after_help = "Exit codes: 0 done, 1 refused or failed, 2 wrong usage.\n\nExamples:\n  deskhand up --detach --desk\n  deskhand call screenshot '{\"mode\":\"fullscreen\"}' -o shot.jpg\n  deskhand desk exec --up -- deskhand call system_info"
)]
struct Cli {
    /// Print exactly one JSON document on standard output (JSON Lines for streams).
    #[arg(long, global = true, env = "DESKHAND_JSON", action = ArgAction::SetTrue, value_parser = FalseyValueParser::new(), help_heading = "Everywhere")]
    json: bool,
    /// The home folder, an absolute path. Default: ~/.deskhand.
    #[arg(long, global = true, env = "DESKHAND_HOME", value_name = "DIR", help_heading = "Everywhere")]
    home: Option<OsString>,
    #[command(subcommand)]
    command: Option<Commands>,
}

#[derive(Subcommand)]
enum Commands {
    Up(up::Args),
    Down(down::Args),
    Status(status::Args),
    Doctor(doctor::Args),
    #[command(subcommand)]
    Desk(desk::Command),
    Tools(tools::Args),
    Describe(describe::Args),
    Call(call::Args),
    Batch(batch::Args),
    Abort(abort::Args),
    Stop(stop::Args),
    Resume(resume::Args),
    #[command(subcommand)]
    Evidence(evidence::Command),
    #[command(subcommand)]
    Callers(callers::Command),
    Completions(completions::Args),
    Man(man::Args),
    Version(version::Args),
    #[command(hide = true)]
    ServeHost(serve_host::Args),
    #[command(hide = true)]
    DeskSession(desk::session::Args),
}

/// The command line, for help, completions, man pages and references.
#[must_use]
pub fn command() -> clap::Command {
    hide_values(Cli::command())
}

/// Help names the variables, never what is in them: it is pasted into mails and bug reports.
fn hide_values(command: clap::Command) -> clap::Command {
    command.mut_args(|arg| arg.hide_env_values(true)).mut_subcommands(hide_values)
}

/// Runs `deskhand` with the arguments of this process.
#[must_use]
pub fn main() -> ExitCode {
    let args: Vec<OsString> = std::env::args_os().collect();
    let cli =
        command().try_get_matches_from(&args).and_then(|mut matches| Cli::from_arg_matches_mut(&mut matches));
    let code = match cli {
        Ok(cli) => {
            let ctx = Ctx::new(cli.json, cli.home);
            dispatch(cli.command, &ctx).unwrap_or_else(|fail| fail.tell(&ctx))
        }
        Err(error) => wrong_usage(&error, wants_json(&args)),
    };
    ExitCode::from(code)
}

fn dispatch(command: Option<Commands>, ctx: &Ctx) -> Result<u8, Fail> {
    match command {
        None => {
            let help = self::command().render_help();
            if ctx.json {
                ctx.json(&json!({ "help": help.to_string() }))?
            } else {
                ctx.line(&help.to_string())?
            }
            Ok(0)
        }
        Some(Commands::Up(args)) => up::run(&args, ctx),
        Some(Commands::Down(args)) => down::run(&args, ctx),
        Some(Commands::Status(args)) => status::run(&args, ctx),
        Some(Commands::Doctor(args)) => doctor::run(&args, ctx),
        Some(Commands::Desk(command)) => desk::run(&command, ctx),
        Some(Commands::Tools(args)) => tools::run(&args, ctx),
        Some(Commands::Describe(args)) => describe::run(&args, ctx),
        Some(Commands::Call(args)) => call::run(&args, ctx),
        Some(Commands::Batch(args)) => batch::run(&args, ctx),
        Some(Commands::Abort(args)) => abort::run(&args, ctx),
        Some(Commands::Stop(args)) => stop::run(&args, ctx),
        Some(Commands::Resume(args)) => resume::run(&args, ctx),
        Some(Commands::Evidence(command)) => evidence::run(&command, ctx),
        Some(Commands::Callers(command)) => callers::run(&command, ctx),
        Some(Commands::Completions(args)) => completions::run(&args, ctx),
        Some(Commands::Man(args)) => man::run(&args, ctx),
        Some(Commands::Version(args)) => version::run(&args, ctx),
        Some(Commands::ServeHost(args)) => serve_host::run(&args, ctx),
        Some(Commands::DeskSession(args)) => desk::session::run(&args, ctx),
    }
}

/// Whether JSON was asked for, as far as can be seen of a command line that cannot be read.
fn wants_json(args: &[OsString]) -> bool {
    let flag = args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--json");
    let falsey = |value: &str| matches!(value, "" | "0" | "f" | "false" | "n" | "no" | "off");
    flag || std::env::var("DESKHAND_JSON").is_ok_and(|value| !falsey(&value.to_lowercase()))
}

/// Help and version that were asked for, and everything clap refuses.
fn wrong_usage(error: &clap::Error, json: bool) -> u8 {
    let asked = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    let code = if asked { 0 } else { USAGE };
    if !json {
        // Knows by itself where it goes and whether to colour it.
        let _ = error.print();
        return code;
    }
    let ctx = Ctx::new(true, None);
    let text = error.render().to_string();
    let told = match error.kind() {
        ErrorKind::DisplayVersion => ctx.json(&version::facts()),
        ErrorKind::DisplayHelp => ctx.json(&json!({ "help": text })),
        _ => return usage_error(&text).tell(&ctx),
    };
    told.map_or_else(|fail| fail.tell(&ctx), |()| code)
}

/// clap's words, cut into message and hint.
fn usage_error(text: &str) -> Fail {
    let mut message = Vec::new();
    let mut tip = None;
    let mut usage = None;
    for line in text.lines().map(str::trim) {
        if let Some(words) = line.strip_prefix("tip: ") {
            tip.get_or_insert(words);
        } else if let Some(words) = line.strip_prefix("Usage: ") {
            usage = Some(words);
        } else if tip.is_none()
            && usage.is_none()
            && !line.is_empty()
            && !line.starts_with("For more information")
        {
            message.push(line);
        }
    }
    let message = message.join(" ");
    let hint = match (tip, usage) {
        (Some(tip), _) => tip.to_owned(),
        (None, Some(usage)) => format!("usage: {usage}"),
        (None, None) => "`--help` shows the usage".to_owned(),
    };
    let message = message.strip_prefix("error: ").unwrap_or(&message);
    Fail::usage(if message.is_empty() { "a command is missing" } else { message }, hint)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every command with its full name.
    fn walk(command: &clap::Command, path: &str, see: &mut dyn FnMut(&str, &clap::Command)) {
        see(path, command);
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help") {
            walk(sub, &format!("{path} {}", sub.get_name()), see);
        }
    }

    #[test]
    fn the_definition_holds() {
        command().debug_assert();
    }

    #[test]
    fn every_flag_has_a_variable_of_its_own() {
        let mut seen = std::collections::BTreeMap::<String, Vec<String>>::new();
        walk(&command(), "deskhand", &mut |path, command| {
            for arg in
                command.get_arguments().filter(|arg| arg.get_long().is_some() || arg.get_short().is_some())
            {
                if matches!(arg.get_id().as_str(), "help" | "version") {
                    continue;
                }
                let env = arg.get_env().and_then(|env| env.to_str());
                let env = env.unwrap_or_else(|| panic!("{path} --{} has no variable", arg.get_id()));
                assert!(env.starts_with("DESKHAND_"), "{path}: {env}");
                // Taken by desks and by program locations.
                assert!(!["DESKHAND_DESK", "DESKHAND_DESK_ID", "DESKHAND_DESK_BIN"].contains(&env));
                seen.entry(env.to_owned()).or_default().push(format!("{}", arg.get_id()));
            }
        });
        for (env, flags) in seen {
            assert!(flags.iter().all(|flag| *flag == flags[0]), "{env} means several flags: {flags:?}");
        }
    }

    #[test]
    fn every_help_ends_with_an_example() {
        walk(&command(), "deskhand", &mut |path, command| {
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let (_, examples) =
                after.split_once("Example").unwrap_or_else(|| panic!("{path} has no example"));
            assert!(examples.contains(path), "{path}: the example is of another command");
            assert!(
                examples.lines().skip(1).all(|line| line.starts_with("  ")),
                "{path}: the example is not the end"
            );
            assert!(command.get_about().is_some(), "{path} says nothing about itself");
        });
    }

    #[test]
    fn the_words_of_the_contract_are_there() {
        let mut all = Vec::new();
        walk(&command(), "", &mut |path, _| all.push(path.trim().to_owned()));
        for words in [
            "up",
            "down",
            "status",
            "doctor",
            "desk start",
            "desk stop",
            "desk list",
            "desk exec",
            "desk view",
            "tools",
            "describe",
            "call",
            "batch",
            "abort",
            "stop",
            "resume",
            "evidence list",
            "evidence show",
            "evidence open",
            "completions",
            "man",
            "version",
            "callers list",
            "callers allow",
            "callers remove",
        ] {
            assert!(all.iter().any(|path| path == words), "{words}");
        }
    }

    #[test]
    fn json_is_seen_before_the_command_of_exec_only() {
        let args = |line: &str| line.split(' ').map(OsString::from).collect::<Vec<_>>();
        assert!(wants_json(&args("deskhand stats --json")));
        assert!(!wants_json(&args("deskhand desk exec -- x --json")));
    }
}
