//! `deskhand describe`.

use deskhand_protocol::{Error, ErrorCode, ToolInfo};
use serde_json::Value;

use super::tools::word;
use crate::ctx::Ctx;
use crate::example;
use crate::fail::Run;
use crate::lang::Lang;
use crate::near::near;
use crate::quote::quote;
use crate::registry;
use crate::table::table;

/// Describe one tool: schema, risk, category, level, lane, an example.
#[derive(clap::Args)]
#[command(after_help = "Example:\n  deskhand describe screenshot")]
pub(crate) struct Args {
    /// Its name.
    tool: String,
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let (tools, _) = registry::tools(&ctx.home()?)?;
    let Some(tool) = tools.iter().find(|tool| tool.name == args.tool) else {
        return Err(unknown(&args.tool, &tools).into());
    };
    if ctx.json {
        let mut value = serde_json::to_value(tool).unwrap_or_default();
        if let Value::Object(fields) = &mut value {
            fields.insert("example".to_owned(), example::of(&tool.name, &tool.input_schema));
        }
        ctx.json(&value)?;
    } else {
        ctx.line(&render(tool, ctx))?;
    }
    Ok(0)
}

/// There is no such tool; these are like it.
fn unknown(name: &str, tools: &[ToolInfo]) -> Error {
    let names = near(name, tools.iter().map(|tool| tool.name.as_str()));
    let error = Error::new(ErrorCode::UnknownTool, format!("there is no tool {name:?}"));
    if names.is_empty() {
        return error;
    }
    error
        .hint(format!("did you mean {}? `deskhand tools` lists all", names.join(", ")))
        .detail("near", names.iter().map(|name| Value::from(*name)).collect::<Vec<_>>())
}

fn render(tool: &ToolInfo, ctx: &Ctx) -> String {
    let paint = ctx.out;
    let title = if ctx.lang == Lang::Zh { &tool.title_zh } else { &tool.title };
    let category = if ctx.lang == Lang::Zh { tool.category_zh.clone() } else { word(&tool.category) };
    let mut text = format!("{}  {title}\n\n{}\n\n", paint.bold(&tool.name), tool.description.trim());
    let needs: Vec<_> = tool.needs.iter().map(word).collect();
    let platforms: Vec<_> = tool.platforms.iter().map(word).collect();
    let facts = [
        ("risk", word(&tool.risk)),
        ("category", category),
        ("level", word(&tool.level)),
        ("lane", word(&tool.lane)),
        ("confirm", if tool.read_only { "no: it only looks" } else { "yes: it acts" }.to_owned()),
        ("needs", needs.join(", ")),
        ("evidence", word(&tool.evidence)),
        ("platforms", platforms.join(", ")),
        ("timeout", format!("{} ms", tool.timeout_ms)),
        ("roles", if tool.roles.is_empty() { "all".to_owned() } else { tool.roles.join(", ") }),
    ];
    let rows: Vec<_> = facts.into_iter().map(|(key, value)| vec![format!("  {key}"), value]).collect();
    text.push_str(&table(&rows));
    let fields = fields(&tool.input_schema);
    if !fields.is_empty() {
        text.push_str(&format!("\n{}\n{}", paint.bold("arguments"), table(&fields)));
    }
    let arguments = example::of(&tool.name, &tool.input_schema).to_string();
    text.push_str(&format!(
        "\n{}\n  deskhand call {} {}\n\n{}\n",
        paint.bold("example"),
        tool.name,
        quote(&arguments),
        paint.dim(&format!("The whole schema: deskhand describe {} --json", tool.name)),
    ));
    text
}

/// One row per argument: name, type, whether it must be given, what it is.
fn fields(schema: &Value) -> Vec<Vec<String>> {
    let required = schema.get("required").and_then(Value::as_array);
    let must = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return Vec::new() };
    let mut rows: Vec<(bool, Vec<String>)> = properties
        .iter()
        .map(|(name, field)| {
            let about = field.get("description").and_then(Value::as_str).unwrap_or_default();
            let about = about.split_whitespace().collect::<Vec<_>>().join(" ");
            let mark = if must(name) { "required" } else { "" };
            (!must(name), vec![format!("  {name}"), kind(field, schema), mark.to_owned(), about])
        })
        .collect();
    rows.sort_by_key(|(optional, _)| *optional);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The type of a field in a word or two.
fn kind(field: &Value, root: &Value) -> String {
    if let Some(values) = field.get("enum").and_then(Value::as_array) {
        return values.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("|");
    }
    if let Some(name) = field.get("$ref").and_then(Value::as_str) {
        let target = name.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return match target.filter(|target| target.get("enum").is_some()) {
            Some(target) => kind(target, root),
            None => name.rsplit('/').next().unwrap_or_default().to_owned(),
        };
    }
    for choice in ["anyOf", "oneOf"] {
        if let Some(options) = field.get(choice).and_then(Value::as_array) {
            let kinds = options.iter().map(|option| kind(option, root)).filter(|kind| kind != "null");
            return kinds.collect::<Vec<_>>().join("|");
        }
    }
    if let Some(fixed) = field.get("const").and_then(Value::as_str) {
        return fixed.to_owned();
    }
    match field.get("type") {
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => names
            .iter()
            .filter_map(Value::as_str)
            .filter(|name| *name != "null")
            .collect::<Vec<_>>()
            .join("|"),
        _ => "any".to_owned(),
    }
}
