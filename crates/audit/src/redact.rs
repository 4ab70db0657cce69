//! Arguments fit to be kept: secrets hidden, long texts cut.

use serde_json::{Map, Value};

/// Longest text kept whole.
pub const MAX_TEXT_BYTES: usize = 2048;

/// Whether what a call types is a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Typed {
    /// Ordinary text.
    Plain,
    /// It goes into a password field: `text` is hidden.
    Secret,
}

/// Parts of key names that mean a secret, without case, dashes and underscores.
const SECRET_PARTS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "cookie",
    "bearer",
];
/// Whole key names that mean a secret.
const SECRET_NAMES: &[&str] = &["pwd", "pass", "pin", "otp", "auth"];

/// A copy of the arguments in which values under keys like `password`, `secret`, `token` or
/// `api_key` read `[REDACTED len=N]`, as does `text` when it is a secret, and texts over
/// [`MAX_TEXT_BYTES`] are cut and say so. `secure: true` among the arguments makes `text` secret too.
#[must_use]
pub fn redact(args: &Value, typed: Typed) -> Value {
    let secure = typed == Typed::Secret || args.get("secure").and_then(Value::as_bool) == Some(true);
    walk(args, secure)
}

fn walk(value: &Value, secure: bool) -> Value {
    match value {
        Value::String(text) => Value::String(cut(text)),
        Value::Array(items) => items.iter().map(|item| walk(item, secure)).collect(),
        Value::Object(fields) => {
            let mut kept = Map::new();
            for (key, value) in fields {
                let hide = is_secret(key) || (secure && key == "text");
                kept.insert(cut(key), if hide { hidden(value) } else { walk(value, secure) });
            }
            Value::Object(kept)
        }
        other => other.clone(),
    }
}

fn is_secret(key: &str) -> bool {
    let plain: String = key.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    SECRET_NAMES.contains(&plain.as_str()) || SECRET_PARTS.iter().any(|part| plain.contains(part))
}

fn hidden(value: &Value) -> Value {
    let length = match value {
        Value::Null | Value::Bool(_) => return value.clone(),
        Value::String(text) => text.chars().count(),
        other => other.to_string().len(),
    };
    Value::String(format!("[REDACTED len={length}]"))
}

fn cut(text: &str) -> String {
    if text.len() <= MAX_TEXT_BYTES {
        return text.to_owned();
    }
    let end = (0..=MAX_TEXT_BYTES).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    format!("{}… [CUT len={}]", &text[..end], text.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_hidden_and_the_rest_is_not() {
        let cases = [
            (json!({"password": "hunter2"}), json!({"password": "[REDACTED len=7]"})),
            (json!({"API_KEY": "汉字"}), json!({"API_KEY": "[REDACTED len=2]"})),
            (json!({"x": [{"accessToken": "abc"}]}), json!({"x": [{"accessToken": "[REDACTED len=3]"}]})),
            (json!({"secret": {"a": 1}}), json!({"secret": "[REDACTED len=7]"})),
            (json!({"pin": 1234, "spinner": 5}), json!({"pin": "[REDACTED len=4]", "spinner": 5})),
            (json!({"password": null, "secret": true}), json!({"password": null, "secret": true})),
            (json!({"text": "hello", "author": "me"}), json!({"text": "hello", "author": "me"})),
            (json!({"text": "hello", "secure": true}), json!({"text": "[REDACTED len=5]", "secure": true})),
            (json!([1, "a", null]), json!([1, "a", null])),
        ];
        for (args, want) in cases {
            assert_eq!(redact(&args, Typed::Plain), want, "{args}");
        }
        assert_eq!(redact(&json!({"text": "hello"}), Typed::Secret), json!({"text": "[REDACTED len=5]"}));
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let text = "字".repeat(1000);
        let kept = redact(&json!({ "text": text }), Typed::Plain);
        let kept = kept["text"].as_str().unwrap();
        assert!(kept.ends_with("… [CUT len=3000]") && kept.len() < 2100, "{}", kept.len());
        let exact = "x".repeat(MAX_TEXT_BYTES);
        assert_eq!(redact(&json!(exact), Typed::Plain), json!(exact));
    }
}
