//! One line → one request, or an answer that says what is wrong with it.

use deskhand_protocol::{Error, ErrorCode, RpcRequest};
use serde::Deserialize;
use serde_json::Value;

/// Longest text id.
const MAX_ID_BYTES: usize = 128;

/// A request fit to be looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// A whole number or a text.
    pub id: Value,
    /// The method.
    pub method: String,
    /// Its parameters; null when absent.
    pub params: Value,
}

/// A line that is no request, with the id to answer it under: null when it could not be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Malformed {
    /// The id, or null.
    pub id: Value,
    /// What is wrong.
    pub error: Error,
}

/// Reads one line. Every request must carry an id: an action that nobody waits for is not taken.
pub fn parse(line: &[u8]) -> Result<Request, Box<Malformed>> {
    let bad = |id: Value, message: String| {
        Err(Box::new(Malformed { id, error: Error::new(ErrorCode::BadRequest, message) }))
    };
    if let Some(at) = memchr::memchr(0, line) {
        return bad(Value::Null, format!("the line holds a NUL byte at offset {at}"));
    }
    // Checked before parsing: serde_json does not look inside strings of fields it skips.
    let text = match std::str::from_utf8(line) {
        Ok(text) => text.trim_ascii(),
        Err(error) => {
            return bad(Value::Null, format!("the line is not UTF-8 from byte {} on", error.valid_up_to()));
        }
    };
    if text.is_empty() {
        return bad(Value::Null, "the line is empty".to_owned());
    }
    if text.starts_with('[') {
        return bad(Value::Null, "batches (arrays) are not taken: send one request per line".to_owned());
    }
    let request: RpcRequest = match serde_json::from_str(text) {
        Ok(request) => request,
        Err(error) => return bad(id_of(text), format!("the line is not a JSON-RPC request: {error}")),
    };
    let Some(id) = request.id else {
        return bad(Value::Null, "the request has no id; every request needs one".to_owned());
    };
    if !fit(&id) {
        return bad(
            Value::Null,
            format!("id must be a whole number or a text of at most {MAX_ID_BYTES} bytes"),
        );
    }
    if request.jsonrpc != "2.0" {
        return bad(id, format!("jsonrpc is {:?}, must be \"2.0\"", clip(&request.jsonrpc)));
    }
    Ok(Request { id, method: request.method, params: request.params })
}

/// The start of a text from outside, for use in a message.
pub(crate) fn clip(text: &str) -> String {
    const MOST: usize = 64;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn fit(id: &Value) -> bool {
    match id {
        Value::String(text) => text.len() <= MAX_ID_BYTES,
        Value::Number(number) => number.is_i64() || number.is_u64(),
        _ => false,
    }
}

/// The id of something that is JSON but no request.
fn id_of(text: &str) -> Value {
    #[derive(Deserialize)]
    struct OnlyId {
        id: Value,
    }
    serde_json::from_str::<OnlyId>(text).ok().map(|only| only.id).filter(fit).unwrap_or(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_request_is_answered_under_its_id_if_it_has_one() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}}}"#, "[".repeat(100_000));
        let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"x"}}"#, "i".repeat(129));
        let cases: &[(&[u8], Value, &str)] = &[
            (b"", Value::Null, "empty"),
            (b"  \r", Value::Null, "empty"),
            (b"garbage", Value::Null, "expected value"),
            (b"\"text\"", Value::Null, "invalid type"),
            (b"[]", Value::Null, "batches"),
            (b" [{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\"}]", Value::Null, "batches"),
            (b"{\"id\":1,\0}", Value::Null, "NUL byte at offset 8"),
            (b"{\"a\":\"\xff\"}", Value::Null, "not UTF-8 from byte 6"),
            (b"{}", Value::Null, "missing field"),
            (br#"{"id":7}"#, 7.into(), "missing field"),
            (br#"{"id":"a","method":"x"}"#, "a".into(), "jsonrpc"),
            (br#"{"jsonrpc":"1.0","id":7,"method":"x"}"#, 7.into(), "\"1.0\""),
            (br#"{"jsonrpc":"2.0","id":7,"method":7}"#, 7.into(), "invalid type"),
            (br#"{"jsonrpc":"2.0","id":7,"id":8,"method":"x"}"#, Value::Null, "duplicate field"),
            (br#"{"jsonrpc":"2.0","method":"x"}"#, Value::Null, "no id"),
            (br#"{"jsonrpc":"2.0","id":null,"method":"x"}"#, Value::Null, "no id"),
            (br#"{"jsonrpc":"2.0","id":1.5,"method":"x"}"#, Value::Null, "whole number"),
            (br#"{"jsonrpc":"2.0","id":{},"method":"x"}"#, Value::Null, "whole number"),
            (br#"{"jsonrpc":"2.0","id":1,"method":"x"} {}"#, Value::Null, "trailing"),
            (long.as_bytes(), Value::Null, "at most 128 bytes"),
            (deep.as_bytes(), Value::Null, "recursion limit"),
        ];
        for (line, id, words) in cases {
            let shown = String::from_utf8_lossy(&line[..line.len().min(80)]).into_owned();
            let malformed = parse(line).expect_err(&shown);
            assert_eq!(&malformed.id, id, "{shown}");
            assert_eq!(malformed.error.code, ErrorCode::BadRequest, "{shown}");
            assert!(malformed.error.message.contains(words), "{shown}: {}", malformed.error.message);
        }
    }

    #[test]
    fn a_request_is_read_with_or_without_params() {
        let request = parse(b"{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"status\"}\r").unwrap();
        assert_eq!(request, Request { id: "a".into(), method: "status".into(), params: Value::Null });
        let request =
            parse(br#"{"jsonrpc":"2.0","id":-1,"method":"x","params":{"a":[1]},"more":0}"#).unwrap();
        assert_eq!(request.params["a"][0], 1);
    }
}
