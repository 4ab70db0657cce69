//! One line → one request, or an answer that says what is wrong with it.

use deskhand_protocol::{Error, ErrorCode, RpcRequest};
use serde::Deserialize;
use serde_json::Value;

/// Longest text id.
const MAX_ID_BYTES: usize = 128;
/// Memory a line may take once it is read, by rough count: 80,000 numbers or 11,000 objects.
const MAX_TREE_BYTES: usize = 8 * 1024 * 1024;

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
    if tree_bytes(line) > MAX_TREE_BYTES {
        return bad(
            Value::Null,
            format!("the line holds too many values: read, it would take more than {MAX_TREE_BYTES} bytes"),
        );
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

/// What the values of a line take in memory, as a rough upper count, found without building them.
/// A line of `[],[],…` takes many times its length. What stands in strings costs what it is long.
fn tree_bytes(line: &[u8]) -> usize {
    // A value, twice because a list doubles as it grows, and its text.
    const COMMA: usize = 100;
    // Room for four values.
    const LIST: usize = 160;
    // A node of the tree has room for eleven entries even when it holds one.
    const OBJECT: usize = 700;
    if line.len() <= MAX_TREE_BYTES / OBJECT {
        return 0; // cannot hold enough
    }
    let mut bytes = 0;
    let mut at = 0;
    while let Some(&byte) = line.get(at) {
        at += 1;
        match byte {
            b',' => bytes += COMMA,
            b'[' => bytes += LIST,
            b'{' => bytes += OBJECT,
            b'"' => {
                while let Some(found) = memchr::memchr2(b'"', b'\\', line.get(at..).unwrap_or_default()) {
                    at += found + 1;
                    if line[at - 1] == b'"' {
                        break;
                    }
                    at += 1; // what follows a backslash ends nothing
                }
            }
            _ => {}
        }
    }
    bytes
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
        let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}}}"#, "[".repeat(1000));
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
    fn a_line_that_would_swell_is_not_read() {
        let line = |args: &str| format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":[{args}]}}"#);
        let text = format!(r#""{}""#, r#",[{\",\\"#.repeat(300_000));
        let cases = [
            ("[],".repeat(1_300_000) + "0", false),
            ("{},".repeat(1_300_000) + "0", false),
            (r#"{"":1},"#.repeat(20_000) + "0", false),
            (r#"{"a":"#.repeat(100) + "0", false),
            ("1,".repeat(100_000) + "0", false),
            ("1,".repeat(50_000) + "0", true),
            (r#"{"x":1,"y":2},"#.repeat(5000) + "0", true),
            (text.clone(), true),
            (format!("{text},{}0", "[],".repeat(100_000)), false),
        ];
        for (args, taken) in cases {
            let shown = &args[..args.len().min(20)];
            match parse(line(&args).as_bytes()) {
                Ok(_) => assert!(taken, "{shown}"),
                Err(malformed) => {
                    assert!(!taken, "{shown}: {}", malformed.error.message);
                    let swells = malformed.error.message.contains("too many values");
                    assert_eq!(swells, args.len() > 1000, "{shown}: {}", malformed.error.message);
                }
            }
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
