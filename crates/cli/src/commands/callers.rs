//! `deskhand callers`: which further programs may use the bridge.

use std::path::{Path, PathBuf};

use deskhand_bridge::callers;
use deskhand_protocol::{Error, ErrorCode};
use serde_json::json;

use crate::ctx::Ctx;
use crate::fail::{Fail, Run};
use crate::table::table;

/// Programs that may use the bridge, beside Deskhand's own.
#[derive(clap::Subcommand)]
#[command(after_help = "Example:\n  deskhand callers allow /usr/local/bin/my-agent --note 'night shift'")]
pub(crate) enum Command {
    /// Show them.
    #[command(after_help = "Example:\n  deskhand callers list --json")]
    List,
    /// Allow a program as it is now; after a change of the file it must be allowed again.
    #[command(after_help = "Example:\n  deskhand callers allow /usr/local/bin/my-agent")]
    Allow {
        /// The program. A script is run by its interpreter: allowing that allows all its scripts.
        path: PathBuf,
        /// Why, for people.
        #[arg(long, env = "DESKHAND_CALLERS_NOTE", value_name = "TEXT")]
        note: Option<String>,
    },
    /// Allow it no longer. The program itself need not exist any more.
    #[command(after_help = "Example:\n  deskhand callers remove /usr/local/bin/my-agent")]
    Remove {
        /// The program.
        path: PathBuf,
    },
}

pub(crate) fn run(command: &Command, ctx: &Ctx) -> Run {
    let home = ctx.home()?;
    let file = home.callers_file();
    match command {
        Command::List => list(&file, ctx),
        Command::Allow { path, note } => {
            home.ensure()?;
            if is_script(path) {
                return Err(Fail::usage(
                    format!("{} is a script: the kernel names its interpreter as the caller", path.display()),
                    "allow the interpreter (and with it all its scripts), or a compiled program",
                ));
            }
            let caller = callers::allow(&file, path, note.as_deref())?;
            if ctx.json {
                ctx.json(&caller)?
            } else {
                ctx.line(&ctx.lang.callers_allowed(caller.path.display()))?
            }
            Ok(0)
        }
        Command::Remove { path } => {
            if !callers::remove(&file, path)? {
                return Err(Error::new(
                    ErrorCode::NotFound,
                    format!("{} is not on the list", path.display()),
                )
                .hint("`deskhand callers list` shows it")
                .into());
            }
            let words = ctx.lang.callers_removed(path.display());
            if ctx.json {
                ctx.json(&json!({ "removed": path }))?
            } else {
                ctx.line(&words)?
            }
            Ok(0)
        }
    }
}

fn list(file: &Path, ctx: &Ctx) -> Run {
    let callers = callers::list(file)?;
    if ctx.json {
        ctx.json(&json!({ "callers": callers }))?;
    } else if callers.is_empty() {
        ctx.note(&ctx.lang.callers_none());
    } else {
        let rows: Vec<_> = callers
            .iter()
            .map(|caller| {
                let hash = caller.sha256.get(..16).unwrap_or(&caller.sha256);
                vec![
                    caller.path.display().to_string(),
                    hash.to_owned(),
                    caller.note.clone().unwrap_or_default(),
                ]
            })
            .collect();
        ctx.line(&table(&rows))?;
    }
    Ok(0)
}

fn is_script(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 2];
    std::fs::File::open(path).is_ok_and(|mut file| file.read_exact(&mut start).is_ok()) && &start == b"#!"
}
