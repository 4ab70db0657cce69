//! `deskhand status`.

use deskhand_protocol::{CheckStatus, HostStatus, Light};

use crate::connect;
use crate::ctx::Ctx;
use crate::fail::Run;
use crate::paint::Paint;
use crate::table::{duration, table};

/// Who runs, where, for how long, and the permission lights.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  deskhand status --json")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args, ctx: &Ctx) -> Run {
    let status = connect::status(&ctx.home()?)?;
    if ctx.json {
        ctx.json(&status)?
    } else {
        ctx.line(&render(&status, ctx))?
    }
    Ok(0)
}

/// The status in words.
fn render(status: &HostStatus, ctx: &Ctx) -> String {
    let (lang, paint) = (ctx.lang, ctx.out);
    let mut text = format!(
        "{} {}\n",
        light(status.light, paint),
        lang.status_running(status.pid, duration(status.uptime_ms)),
    );
    if status.stopped {
        text.push_str(&format!("{}\n", paint.red(&lang.status_stopped())));
    }
    let field = |label: String, value: String| vec![format!("  {label}"), value];
    let mut rows = vec![
        field(lang.label_version(), paint.foreign(&status.version).into_owned()),
        field(lang.label_display(), paint.foreign(&status.display).into_owned()),
        field(lang.label_home(), paint.foreign(&status.home).into_owned()),
        field(lang.label_clients(), status.clients.to_string()),
    ];
    if status.executions.is_empty() {
        rows.push(field(lang.label_executions(), lang.status_none()));
    }
    text.push_str(&table(&rows));
    if !status.executions.is_empty() {
        text.push_str(&format!("  {}\n", lang.label_executions()));
        let rows: Vec<_> = status
            .executions
            .iter()
            .map(|run| {
                let state = serde_json::to_value(run.state).ok();
                vec![
                    format!("    {}", run.execution_id),
                    paint.foreign(&run.tool).into_owned(),
                    state.as_ref().and_then(|word| word.as_str()).unwrap_or_default().to_owned(),
                    duration(run.age_ms),
                    paint.foreign(&run.caller).into_owned(),
                ]
            })
            .collect();
        text.push_str(&table(&rows));
    }
    let rows: Vec<_> = status
        .checks
        .iter()
        .map(|check| {
            let colour = match check.status {
                CheckStatus::Pass => Light::Green,
                CheckStatus::Warn => Light::Yellow,
                CheckStatus::Fail => Light::Red,
            };
            vec![
                format!("  {} {}", light(colour, paint), check.id),
                paint.foreign(&check.summary).into_owned(),
            ]
        })
        .collect();
    text.push_str(&table(&rows));
    text
}

/// A lamp; its shape tells as much as its colour.
fn light(light: Light, paint: Paint) -> String {
    match light {
        Light::Green => paint.green("●"),
        Light::Yellow => paint.yellow("◐"),
        Light::Red => paint.red("○"),
    }
}
