//! An example call of a tool: written by hand, or made from its schema.

use serde_json::{Map, Value, json};

/// Schemas may refer to themselves; this deep is enough for an example.
const MAX_DEPTH: usize = 6;

/// Examples worth typing. A test checks that each names a tool and fields that exist.
const WRITTEN: &[(&str, &str)] = &[
    ("observe", r#"{}"#),
    ("screenshot", r#"{"mode":"fullscreen"}"#),
    ("capture_screen", r#"{}"#),
    ("dump_ax_tree", r#"{"maxNodes":500}"#),
    ("find", r#"{"selector":{"byRole":"button","byTitle":{"contains":"save"}}}"#),
    ("read_text", r#"{"selector":{"byRole":"text_area"}}"#),
    ("wait_until", r#"{"condition":{"windowTitle":{"contains":"Save As"}},"timeoutMs":5000}"#),
    ("highlight", r#"{"target":{"selector":{"byTitle":{"equals":"OK"}}}}"#),
    ("click", r#"{"target":{"selector":{"byRole":"button","byTitle":{"equals":"OK"}}}}"#),
    ("menu_pick", r#"{"path":["File","Save As…"]}"#),
    ("mouse_move", r#"{"x":400,"y":300}"#),
    ("left_click", r#"{"x":400,"y":300}"#),
    ("right_click", r#"{"x":400,"y":300}"#),
    ("double_click", r#"{"x":400,"y":300}"#),
    ("mouse_drag", r#"{"from_x":400,"from_y":300,"to_x":600,"to_y":300}"#),
    ("scroll", r#"{"x":400,"y":300,"direction":"down"}"#),
    ("type_text", r#"{"text":"Hello, 你好"}"#),
    ("key_press", r#"{"keys":["ctrl","s"]}"#),
    ("hotkey", r#"{"keys":["alt","tab"],"reason":"switch windows"}"#),
    ("app_launch", r#"{"name":"mousepad"}"#),
    ("app_switch", r#"{"name":"mousepad"}"#),
    ("app_list", r#"{"include_windows":true}"#),
    ("app_close", r#"{"name":"mousepad"}"#),
    ("window_manage", r#"{"window_title":"Mousepad","action":"maximize"}"#),
    ("clipboard_read", r#"{}"#),
    ("clipboard_write", r#"{"text":"Hello, 你好"}"#),
    ("notification_send", r#"{"title":"Deskhand","body":"done"}"#),
    ("system_info", r#"{}"#),
];

/// The written example of a tool, or one made from its schema.
pub(crate) fn of(tool: &str, schema: &Value) -> Value {
    let written = WRITTEN.iter().find(|(name, _)| *name == tool);
    written.and_then(|(_, text)| serde_json::from_str(text).ok()).unwrap_or_else(|| arguments(schema))
}

/// Arguments that fit the schema: what is required, nothing more.
pub(crate) fn arguments(schema: &Value) -> Value {
    let value = sample(schema, schema, 0);
    if value.is_object() { value } else { json!({}) }
}

fn sample(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth > MAX_DEPTH {
        return Value::Null;
    }
    if let Some(first) = schema.pointer("/examples/0") {
        return first.clone();
    }
    if let Some(fixed) =
        schema.get("default").filter(|value| !value.is_null()).or_else(|| schema.get("const"))
    {
        return fixed.clone();
    }
    if let Some(first) = schema.pointer("/enum/0") {
        return first.clone();
    }
    if let Some(target) =
        schema.get("$ref").and_then(Value::as_str).and_then(|name| root.pointer(name.strip_prefix('#')?))
    {
        return sample(target, root, depth + 1);
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        let options = schema.get(choice).and_then(Value::as_array).into_iter().flatten();
        if let Some(first) = options.into_iter().find(|option| option.get("type") != Some(&json!("null"))) {
            return sample(first, root, depth + 1);
        }
    }
    match kind(schema) {
        Some("object") => object(schema, root, depth),
        Some("array") => {
            let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0);
            let item = schema.get("items").map(|items| sample(items, root, depth + 1));
            json!(item.filter(|_| least > 0).into_iter().collect::<Vec<_>>())
        }
        Some("string") => json!("text"),
        Some("integer") => {
            schema.get("minimum").and_then(Value::as_i64).map_or(json!(100), |least| json!(least.max(1)))
        }
        Some("number") => json!(100),
        Some("boolean") => json!(true),
        _ => object(schema, root, depth),
    }
}

fn object(schema: &Value, root: &Value, depth: usize) -> Value {
    let required =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let mut made = Map::new();
    for name in required {
        let field = schema.get("properties").and_then(|all| all.get(name)).unwrap_or(&Value::Null);
        made.insert(name.to_owned(), sample(field, root, depth + 1));
    }
    Value::Object(made)
}

/// The type; of several the first that is not null.
fn kind(schema: &Value) -> Option<&str> {
    match schema.get("type")? {
        Value::String(name) => Some(name),
        Value::Array(names) => names.iter().filter_map(Value::as_str).find(|name| *name != "null"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_written_example_fits_its_tool_and_every_tool_has_one() {
        let file: Value = serde_json::from_str(include_str!("../../../schemas/tools.json")).unwrap();
        for tool in file["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            let (_, text) =
                WRITTEN.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("{name} has none"));
            let example: Value = serde_json::from_str(text).unwrap();
            let fields = &tool["inputSchema"]["properties"];
            for key in example.as_object().unwrap().keys() {
                assert!(fields.get(key).is_some(), "{name} has no field {key}");
            }
            for key in tool["inputSchema"]["required"].as_array().into_iter().flatten() {
                assert!(example.get(key.as_str().unwrap()).is_some(), "{name} needs {key}");
            }
        }
    }

    #[test]
    fn examples_have_what_is_required() {
        for (schema, expected) in [
            (json!({ "type": "object" }), json!({})),
            (json!(true), json!({})),
            (
                json!({
                    "type": "object",
                    "required": ["x", "mode", "keys", "on", "target"],
                    "properties": {
                        "x": { "type": "integer" },
                        "mode": { "enum": ["window", "region"] },
                        "keys": { "type": "array", "minItems": 1, "items": { "type": "string" } },
                        "on": { "type": ["null", "boolean"] },
                        "target": { "$ref": "#/$defs/Target" },
                        "more": { "type": "string" },
                    },
                    "$defs": { "Target": { "oneOf": [
                        { "type": "object", "required": ["id"], "properties": { "id": { "type": "string", "examples": ["el-1"] } } },
                        { "type": "null" },
                    ] } },
                }),
                json!({ "x": 100, "mode": "window", "keys": ["text"], "on": true, "target": { "id": "el-1" } }),
            ),
        ] {
            assert_eq!(arguments(&schema), expected);
        }
        let endless = json!({ "type": "object", "required": ["a"], "properties": { "a": { "$ref": "#" } } });
        assert!(arguments(&endless).is_object());
    }
}
