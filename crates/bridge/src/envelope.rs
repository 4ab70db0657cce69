//! The parameters of `call`, checked before anything sees them.

use deskhand_protocol::{CallParams, Error, ErrorCode};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::replay::NonceBook;
use crate::request::clip;

/// Longest request id.
const MAX_REQUEST_ID: usize = 128;
/// Longest tool name.
const MAX_TOOL: usize = 128;

/// Reads the envelope and takes its nonce. A wrong field is named.
pub(crate) fn open(params: &Value, book: &NonceBook) -> Result<CallParams, Error> {
    let params = parse(params)?;
    if let Some(id) = &params.request_id {
        // It names the folder of the evidence.
        let id = id.as_str();
        let plain = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
        if id.is_empty() || id.len() > MAX_REQUEST_ID || !plain || id.starts_with('.') {
            return Err(wrong("requestId", &format!("{:?} is not an id", clip(id)))
                .hint("1 to 128 of A-Z a-z 0-9 - _ . and not a dot first"));
        }
    }
    if params.tool.is_empty() || params.tool.len() > MAX_TOOL {
        return Err(wrong("tool", &format!("{:?} is not the name of a tool", clip(&params.tool))));
    }
    book.take(&params.nonce, params.expires_at)?;
    Ok(params)
}

fn parse(params: &Value) -> Result<CallParams, Error> {
    if !params.is_object() {
        return Err(wrong("params", "must be an object with nonce, expiresAt, tool and args"));
    }
    // Serde names a field that is missing or unknown, but not one of the wrong type: when it fails,
    // each field is tried alone.
    match CallParams::deserialize(params) {
        Ok(parsed) => Ok(parsed),
        Err(error) => Err(diagnose(params, &error)),
    }
}

fn diagnose(params: &Value, error: &serde_json::Error) -> Error {
    for (field, value) in params.as_object().into_iter().flatten() {
        if field == "args" {
            continue; // anything is an argument
        }
        let mut alone = json!({"nonce": "", "expiresAt": 0, "tool": ""});
        alone[field.as_str()] = value.clone();
        if let Err(error) = CallParams::deserialize(&alone) {
            return wrong(&clip(field), &clip_long(&error.to_string()));
        }
    }
    for field in ["nonce", "expiresAt", "tool"] {
        if params.get(field).is_none() {
            return wrong(field, "is missing");
        }
    }
    wrong("params", &clip_long(&error.to_string()))
}

fn clip_long(text: &str) -> String {
    text.chars().take(400).collect()
}

fn wrong(field: &str, what: &str) -> Error {
    Error::new(ErrorCode::InvalidInput, format!("{field}: {what}"))
        .hint("the fields of a call: requestId?, nonce, expiresAt, timeoutMs?, tool, args, route?, confirm?, project?, options?")
        .detail("field", field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book() -> NonceBook {
        NonceBook::new(Box::new(|| 1000))
    }

    fn good() -> Value {
        json!({"nonce": "0123456789abcdef", "expiresAt": 2000, "tool": "click", "args": {"x": 1}})
    }

    #[test]
    fn a_good_envelope_opens_once() {
        let book = book();
        let params = open(&good(), &book).unwrap();
        assert_eq!((params.tool.as_str(), &params.args["x"]), ("click", &json!(1)));
        assert_eq!(open(&good(), &book).unwrap_err().code, ErrorCode::NonceReplayed);
    }

    #[test]
    fn a_wrong_field_is_named_and_burns_no_nonce() {
        let cases = [
            ("nonce", json!(null)),
            ("nonce", json!("short")),
            ("expiresAt", json!("soon")),
            ("expiresAt", json!(-5)),
            ("tool", json!(7)),
            ("tool", json!("")),
            ("timeoutMs", json!(1.5)),
            ("requestId", json!("../../etc")),
            ("requestId", json!(".hidden")),
            ("requestId", json!("")),
            ("requestId", json!("a/b")),
            ("confirm", json!(true)),
            ("options", json!({"verify": "yes"})),
            ("route", json!("left")),
            ("surprise", json!(1)),
        ];
        let book = book();
        for (field, value) in cases {
            let mut params = good();
            params[field] = value.clone();
            let error = open(&params, &book).unwrap_err();
            assert_eq!(error.code, ErrorCode::InvalidInput, "{field} {value}");
            assert_eq!(error.details["field"], field, "{field} {value}: {}", error.message);
        }
        for field in ["nonce", "expiresAt", "tool"] {
            let mut params = good();
            params.as_object_mut().unwrap().remove(field);
            let error = open(&params, &book).unwrap_err();
            assert_eq!(error.details["field"], field);
        }
        for params in [Value::Null, json!([]), json!("x")] {
            assert_eq!(open(&params, &book).unwrap_err().details["field"], "params");
        }
        assert!(book.is_empty());
    }
}
