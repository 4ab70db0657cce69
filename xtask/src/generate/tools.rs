//! The tools, for programs and for people.

use std::fmt::Write;

use deskhand_protocol::{Category, ToolInfo};
use serde_json::{Value, json};

use super::{NOTICE, cell};

/// `schemas/tools.json`.
pub(crate) fn schema(infos: &[ToolInfo]) -> Result<String, serde_json::Error> {
    Ok(serde_json::to_string_pretty(&json!({"tools": infos}))? + "\n")
}

/// `docs/reference/tools.md`.
pub(crate) fn page(infos: &[ToolInfo]) -> String {
    let mut out = format!(
        "{NOTICE}\n# Tools\n\n{} tools. `deskhand describe TOOL` shows the same, with the full schema; \
         `schemas/tools.json` has it for\nprograms. A tool that is not read-only needs `confirm` \
         (see [calling tools](../guide/calling-tools.md)).\n\n\
         | tool | what it does | risk | level | read-only | lane |\n|---|---|---|---|---|---|\n",
        infos.len()
    );
    for info in infos {
        let (name, title, level) = (&info.name, cell(&info.title), info.level);
        let read_only = if info.read_only { "yes" } else { "no" };
        let (risk, lane) = (word(&info.risk), word(&info.lane));
        let _ =
            writeln!(out, "| [`{name}`](#{name}) | {title} | {risk} | {level:?} | {read_only} | {lane} |");
    }
    for category in Category::ALL {
        let mut ours = infos.iter().filter(|i| i.category == *category).peekable();
        if ours.peek().is_some() {
            let (english, chinese) = category.names();
            let _ = writeln!(out, "\n## {english} · {chinese}");
        }
        for info in ours {
            one(&mut out, info);
        }
    }
    out
}

fn one(out: &mut String, info: &ToolInfo) {
    let _ = writeln!(
        out,
        "\n### {}\n\n{} · {}\n\n{}\n",
        info.name,
        info.title,
        info.title_zh,
        info.description.trim()
    );
    let platforms: Vec<String> = info.platforms.iter().map(word).collect();
    let needs: Vec<String> = info.needs.iter().map(word).collect();
    let needs = if needs.is_empty() { "nothing".to_owned() } else { needs.join(", ") };
    let _ = writeln!(
        out,
        "Needs {needs}; evidence {}; time limit {} ms; on {}.",
        word(&info.evidence),
        info.timeout_ms,
        platforms.join(", ")
    );
    fields(out, "Argument", &info.input_schema);
    fields(out, "Result field", &info.output_schema);
}

/// A table of the fields of an object's schema.
fn fields(out: &mut String, heading: &str, schema: &Value) {
    let Some(properties) = schema["properties"].as_object().filter(|p| !p.is_empty()) else { return };
    let required = |name: &str| schema["required"].as_array().is_some_and(|r| r.iter().any(|n| n == name));
    let _ = writeln!(out, "\n| {heading} | type | required | meaning |\n|---|---|---|---|");
    for (name, field) in properties {
        let needed = if required(name) { "yes" } else { "no" };
        let meaning = cell(field["description"].as_str().unwrap_or_default());
        let _ = writeln!(out, "| `{name}` | {} | {needed} | {meaning} |", cell(&kind(field)));
    }
}

/// The type of a field, in few words.
fn kind(field: &Value) -> String {
    let any = |list: &Value| {
        let parts = list.as_array().into_iter().flatten().filter(|p| p["type"] != "null").map(kind);
        let mut parts: Vec<String> = parts.collect();
        parts.dedup();
        parts.join(" or ")
    };
    if let Some(words) = field["enum"].as_array() {
        let words: Vec<String> = words.iter().filter(|w| !w.is_null()).map(|w| format!("`{w}`")).collect();
        return words.join(" or ");
    }
    if !field["const"].is_null() {
        return format!("`{}`", field["const"]);
    }
    if let Some(place) = field["$ref"].as_str() {
        return place.rsplit('/').next().unwrap_or(place).to_owned();
    }
    for list in ["oneOf", "anyOf", "allOf"] {
        if field[list].is_array() {
            return any(&field[list]);
        }
    }
    let name = match &field["type"] {
        Value::String(name) => name.clone(),
        Value::Array(names) => {
            let names: Vec<&str> = names.iter().filter_map(Value::as_str).filter(|n| *n != "null").collect();
            names.join(" or ")
        }
        _ => "any".to_owned(),
    };
    match (name.as_str(), &field["items"], field["properties"].as_object()) {
        ("array", items, _) if items.is_object() => format!("list of {}", kind(items)),
        ("object", _, Some(inner)) if !inner.is_empty() => {
            format!("{{ {} }}", inner.keys().cloned().collect::<Vec<_>>().join(", "))
        }
        _ => name,
    }
}

/// The word a value has on the wire.
fn word<T: serde::Serialize>(value: &T) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_told_in_few_words() {
        for (schema, words) in [
            (json!({"type": "string"}), "string"),
            (json!({"type": ["integer", "null"]}), "integer"),
            (json!({"enum": ["a", "b"]}), "`\"a\"` or `\"b\"`"),
            (json!({"const": "a"}), "`\"a\"`"),
            (json!({"$ref": "#/$defs/Selector"}), "Selector"),
            (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "string"),
            (json!({"oneOf": [{"const": 1}, {"const": 2}]}), "`1` or `2`"),
            (json!({"type": "array", "items": {"type": "number"}}), "list of number"),
            (json!({"type": "object", "properties": {"x": {}, "y": {}}}), "{ x, y }"),
            (json!({}), "any"),
        ] {
            assert_eq!(kind(&schema), words, "{schema}");
        }
    }

    #[test]
    fn every_tool_is_on_the_page() {
        let infos = deskhand_tools::infos();
        let page = page(&infos);
        for info in &infos {
            assert!(page.contains(&format!("\n### {}\n", info.name)), "{}", info.name);
            assert!(!info.description.trim().is_empty(), "{} has no description", info.name);
        }
    }
}
