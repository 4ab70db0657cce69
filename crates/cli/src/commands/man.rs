//! `deskhand man`.

use std::path::PathBuf;

use serde_json::json;

use super::completions::visible;
use crate::ctx::Ctx;
use crate::fail::{self, Run};

/// Print the manual page, or write one page per command.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deskhand man | man -l -\n  deskhand man -o ~/.local/share/man/man1")]
pub(crate) struct Args {
    /// Write all pages into this folder (made if missing).
    #[arg(short, long, env = "DESKHAND_MAN_OUTPUT", value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let mut root = visible(&crate::app::command()).disable_help_subcommand(true);
    root.build();
    let Some(dir) = &args.output else {
        let text = page(root)?;
        if ctx.json {
            ctx.json(&json!({ "name": "deskhand.1", "text": text }))?
        } else {
            ctx.line(&text)?
        }
        return Ok(0);
    };
    std::fs::create_dir_all(dir).map_err(|error| fail::file("make", dir, &error))?;
    let mut pages = Vec::new();
    collect(&root, "deskhand", &mut pages);
    let mut written = Vec::new();
    for (name, command) in pages {
        let path = dir.join(format!("{name}.1"));
        std::fs::write(&path, page(command)?).map_err(|error| fail::file("write", &path, &error))?;
        written.push(path.display().to_string());
    }
    if ctx.json {
        ctx.json(&json!({ "pages": written }))?
    } else {
        ctx.line(&written.join("\n"))?
    }
    Ok(0)
}

fn collect(command: &clap::Command, name: &str, pages: &mut Vec<(String, clap::Command)>) {
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        collect(sub, &format!("{name}-{}", sub.get_name()), pages);
    }
    // Pages go by the full name, as in `man git-log`.
    let owned: &'static str = Box::leak(name.to_owned().into_boxed_str());
    pages.push((name.to_owned(), command.clone().name(owned).display_name(name.to_owned())));
}

fn page(command: clap::Command) -> Result<String, fail::Fail> {
    let mut text = Vec::new();
    clap_mangen::Man::new(command).render(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
