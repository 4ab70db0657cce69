//! What there is instead, when something was not found: windows, displays, elements, a line each.

use deskhand_protocol::Rect;
use serde_json::Value;

/// Most lines of one list.
const MOST: usize = 10;
/// Longest title or label shown; the whole one is in --json.
const LONGEST: usize = 60;

/// A list for people.
#[derive(Debug, PartialEq)]
pub(crate) struct Choices {
    /// The lines.
    pub(crate) shown: Vec<String>,
    /// How many were left out.
    pub(crate) more: usize,
}

/// The lines of an error's detail, if it is one of those lists.
pub(crate) fn lines(key: &str, value: &Value) -> Option<Choices> {
    let line = match key {
        "windows" => window,
        "displays" => display,
        "candidates" => candidate,
        _ => return None,
    };
    let items = value.as_array().filter(|items| items.iter().all(Value::is_object))?;
    let shown: Vec<String> = items.iter().take(MOST).map(line).collect();
    Some(Choices { more: items.len() - shown.len(), shown })
}

fn window(item: &Value) -> String {
    let id = text(item, "windowId").or_else(|| text(item, "id"));
    let app = text(item, "app").or_else(|| text(item, "appName"));
    let title = text(item, "title").map(|title| quoted(&title));
    let pid = text(item, "pid").map(|pid| format!("pid {pid}"));
    join([id, title, app, pid])
}

fn display(item: &Value) -> String {
    let id = text(item, "displayId").or_else(|| text(item, "id"));
    let bounds = item.get("bounds").and_then(|bounds| serde_json::from_value::<Rect>(bounds.clone()).ok());
    let bounds = bounds.map(|b| format!("{}x{} at {},{}", b.width, b.height, b.x, b.y));
    join([id, text(item, "name"), bounds])
}

fn candidate(item: &Value) -> String {
    let score = item.get("score").and_then(Value::as_f64).map(|score| format!("{score:.2}"));
    let reasons = item
        .get("reasons")
        .and_then(Value::as_array)
        .map(|reasons| cut(&reasons.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("; ")));
    let label = text(item, "label").map(|label| quoted(&label));
    join([score, text(item, "role"), label, reasons.filter(|reasons| !reasons.is_empty())])
}

/// A field that fits into a line.
fn text(item: &Value, key: &str) -> Option<String> {
    match item.get(key)? {
        Value::String(text) => Some(cut(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn quoted(text: &str) -> String {
    format!("\"{text}\"")
}

/// One line, not too long.
fn cut(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match flat.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &flat[..end]),
        None => flat,
    }
}

fn join<const N: usize>(parts: [Option<String>; N]) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join("  ")
}
