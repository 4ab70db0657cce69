//! Arguments of a call as they may be kept.

use deskhand_audit::{Typed, redact};
use serde_json::{Map, Value};

/// What stands for a part that is not kept.
const HIDDEN: &str = "[REDACTED]";

/// The arguments without secrets: by the names of the fields, and of the options in command lines
/// (`--password=…`, `--token …`, `PGPASSWORD=…`, `https://user:password@host`).
pub(crate) fn kept(args: &Value, typed: Typed) -> Value {
    // Without names nobody can tell what is a secret; such a call does not run anyway.
    if !args.is_object() && !args.is_null() {
        return Value::from(HIDDEN);
    }
    let mut out = redact(args, typed);
    if let Some(Value::Array(words)) = out.get_mut("args") {
        let mut follows = false;
        for word in words {
            let Value::String(text) = word else { continue };
            let (hidden, next) = if follows && !text.starts_with('-') {
                (Some(HIDDEN.to_owned()), false)
            } else {
                option(text)
            };
            follows = next;
            if let Some(hidden) = hidden {
                *text = hidden;
            }
        }
    }
    out
}

/// A word of a command line without its secret, and whether the next word is one.
fn option(word: &str) -> (Option<String>, bool) {
    if let Some((name, _)) = word.split_once('=') {
        return (is_secret(name).then(|| format!("{name}={HIDDEN}")), false);
    }
    if word.starts_with('-') {
        return (None, is_secret(word));
    }
    let Some((scheme, rest)) = word.split_once("://") else { return (None, false) };
    let end = rest.find('/').unwrap_or(rest.len());
    let user = rest[..end].rfind('@').and_then(|at| Some((rest[..at].split_once(':')?.0, at)));
    (user.map(|(user, at)| format!("{scheme}://{user}:{HIDDEN}{}", &rest[at..])), false)
}

/// Whether the audit log hides what stands under this name.
fn is_secret(name: &str) -> bool {
    let mut fields = Map::new();
    fields.insert(name.trim_start_matches('-').to_owned(), Value::from("x"));
    let before = Value::Object(fields);
    redact(&before, Typed::Plain) != before
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_of_command_lines_are_not_kept() {
        let cases = [
            (json!(["--password=x", "a"]), json!(["--password=[REDACTED]", "a"])),
            (json!(["--token", "x", "b"]), json!(["--token", "[REDACTED]", "b"])),
            (json!(["--api-key", "--verbose", "b"]), json!(["--api-key", "--verbose", "b"])),
            (json!(["PGPASSWORD=x"]), json!(["PGPASSWORD=[REDACTED]"])),
            (json!(["https://me:x@host/a@b"]), json!(["https://me:[REDACTED]@host/a@b"])),
            (json!(["https://host/a:b@c"]), json!(["https://host/a:b@c"])),
            (json!(["--title=x", "-p", 5]), json!(["--title=x", "-p", 5])),
        ];
        for (args, want) in cases {
            let out = kept(&json!({"name": "n", "args": args}), Typed::Plain);
            assert_eq!(out, json!({"name": "n", "args": want}));
        }
        assert_eq!(kept(&json!(["hunter2"]), Typed::Plain), json!("[REDACTED]"));
        assert_eq!(kept(&json!({"text": "ab"}), Typed::Secret), json!({"text": "[REDACTED len=2]"}));
    }
}
