//! `deskhand desk list`.

use std::time::{SystemTime, UNIX_EPOCH};

use deskhand_desk::DeskInfo;
use serde_json::json;

use crate::ctx::Ctx;
use crate::fail::Run;
use crate::table::{duration, table};

/// List the desks that run.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  deskhand desk list --json")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, ctx: &Ctx) -> Run {
    let desks = deskhand_desk::list(&ctx.home()?)?;
    if ctx.json {
        ctx.json(&json!({ "desks": desks }))?;
    } else if desks.is_empty() {
        ctx.note(&ctx.lang.desk_none());
    } else {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis());
        let now = u64::try_from(now).unwrap_or(u64::MAX);
        let mut rows =
            vec![["NAME", "DISPLAY", "SIZE", "PID", "OWNER", "AGE"].map(|head| ctx.out.bold(head)).to_vec()];
        rows.extend(desks.iter().map(|desk| row(desk, now)));
        ctx.line(&table(&rows))?;
    }
    Ok(0)
}

fn row(desk: &DeskInfo, now: u64) -> Vec<String> {
    let size = |size: deskhand_protocol::Size| format!("{}x{}", size.width, size.height);
    let sizes: Vec<_> = [Some(desk.size), desk.second].into_iter().flatten().map(size).collect();
    vec![
        desk.name.clone(),
        if desk.display.is_empty() { "…".to_owned() } else { desk.display.clone() },
        sizes.join("+"),
        desk.pid.to_string(),
        desk.owner_pid.map_or_else(|| "-".to_owned(), |pid| pid.to_string()),
        duration(now.saturating_sub(desk.started)),
    ]
}
