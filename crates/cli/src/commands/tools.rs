//! `deskhand tools`.

use deskhand_protocol::{Category, ToolInfo};
use serde_json::json;

use crate::ctx::Ctx;
use crate::fail::Run;
use crate::lang::Lang;
use crate::registry;
use crate::table::table;

/// List the tools: risk, level, lane and what they do.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deskhand tools\n  deskhand tools --category mouse --json")]
pub(crate) struct Args {
    /// Only this category, by its English or Chinese name.
    #[arg(long, env = "DESKHAND_TOOLS_CATEGORY", value_name = "NAME", value_parser = category)]
    category: Option<Category>,
}

fn category(text: &str) -> Result<Category, String> {
    let fits =
        |category: &&Category| category.names().0.eq_ignore_ascii_case(text) || category.names().1 == text;
    Category::ALL.iter().find(fits).copied().ok_or_else(|| {
        let names: Vec<_> = Category::ALL.iter().map(|category| category.names().0).collect();
        format!("there is {}", names.join(", "))
    })
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let (mut tools, online) = registry::tools(&ctx.home()?)?;
    tools.retain(|tool| args.category.is_none_or(|category| tool.category == category));
    if ctx.json {
        ctx.json(&json!({ "tools": tools, "fromHost": online }))?;
        return Ok(0);
    }
    if !online {
        ctx.note(&ctx.err.dim(&ctx.lang.tools_offline()));
    }
    let mut rows = vec![["TOOL", "RISK", "LEVEL", "LANE", ""].map(|head| ctx.out.bold(head)).to_vec()];
    rows.extend(tools.iter().map(|tool| row(tool, ctx)));
    ctx.line(&table(&rows))?;
    Ok(0)
}

fn row(tool: &ToolInfo, ctx: &Ctx) -> Vec<String> {
    let title = if ctx.lang == Lang::Zh { &tool.title_zh } else { &tool.title };
    let risk = word(&tool.risk);
    let risk = match risk.as_str() {
        "low" => ctx.out.green(&risk),
        "medium" => ctx.out.yellow(&risk),
        _ => ctx.out.red(&risk),
    };
    vec![tool.name.clone(), risk, word(&tool.level), word(&tool.lane), title.clone()]
}

/// The word of an enum as it is on the wire.
pub(crate) fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}
