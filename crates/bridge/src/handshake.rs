//! The host's challenge, and the `hello` that answers it.

use deskhand_protocol::{BRIDGE_VERSION, Error, ErrorCode, Hello, HelloReply};
use rustix::rand::{GetRandomFlags, getrandom};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::hash::hex;
use crate::reply::Reply;
use crate::request::Request;

/// Longest client name kept.
const MAX_CLIENT_NAME: usize = 128;
/// The method of the host's first line.
const CHALLENGE: &str = "challenge";

/// 128 random bits.
pub(crate) fn random_hex() -> Result<String, Error> {
    let mut random = [0u8; 16];
    if getrandom(&mut random, GetRandomFlags::empty()) != Ok(random.len()) {
        return Err(Error::new(ErrorCode::Internal, "the system gives no random bytes"));
    }
    Ok(hex(&random))
}

/// Made after the process was examined: bytes that were written before cannot hold it.
pub(crate) struct Challenge(String);

/// Why `hello` was not taken.
#[derive(Debug)]
pub(crate) enum NoHello {
    /// The challenge is not ours: whoever wrote this had not read it.
    Challenge,
    /// Something else; the client may try again.
    Bad(Error),
}

impl Challenge {
    pub(crate) fn new() -> Result<Self, Error> {
        random_hex().map(Self)
    }

    /// The host's first line.
    pub(crate) fn line(&self) -> Vec<u8> {
        let mut line = json!({"jsonrpc": "2.0", "method": CHALLENGE, "params": {"challenge": self.0}})
            .to_string()
            .into_bytes();
        line.push(b'\n');
        line
    }

    /// Reads `hello`. The challenge comes before all else.
    pub(crate) fn greet(&self, request: &Request, max_request_bytes: usize) -> Result<Reply, NoHello> {
        let bad = |message: String| Err(NoHello::Bad(Error::new(ErrorCode::BadRequest, message)));
        match request.params.get("challenge") {
            Some(Value::String(text)) if *text == self.0 => {}
            Some(_) => return Err(NoHello::Challenge),
            None => {
                let error = Error::new(ErrorCode::BadRequest, "hello: challenge is missing")
                    .hint("read the host's first line, then repeat its challenge in hello");
                return Err(NoHello::Bad(error));
            }
        }
        let hello = match Hello::deserialize(&request.params) {
            Ok(hello) => hello,
            Err(error) => return bad(format!("hello: {error}")),
        };
        if hello.client.is_empty() || hello.client.len() > MAX_CLIENT_NAME {
            return bad(format!("hello: client must have 1 to {MAX_CLIENT_NAME} bytes"));
        }
        if !hello.versions.contains(&BRIDGE_VERSION) {
            let shown: Vec<_> = hello.versions.iter().take(8).collect();
            let error = Error::new(
                ErrorCode::BadRequest,
                format!("the client speaks bridge versions {shown:?}, this host speaks {BRIDGE_VERSION}"),
            )
            .hint("install client and host of the same release, and restart the host")
            .detail("versions", vec![BRIDGE_VERSION]);
            return Err(NoHello::Bad(error));
        }
        Reply::of(&HelloReply {
            version: BRIDGE_VERSION,
            host_version: env!("CARGO_PKG_VERSION").to_owned(),
            host_pid: std::process::id(),
            max_request_bytes,
        })
        .map_err(NoHello::Bad)
    }
}

/// The challenge, if this is the host's first line. The client's side.
pub(crate) fn challenge_in(line: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct First {
        method: String,
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        challenge: String,
    }
    let first: First = serde_json::from_slice(line).ok()?;
    (first.method == CHALLENGE).then_some(first.params.challenge)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hello_must_repeat_the_challenge_before_anything_else_counts() {
        let challenge = Challenge::new().unwrap();
        let said = challenge_in(&challenge.line()).unwrap();
        assert!(said.len() == 32 && said.bytes().all(|byte| byte.is_ascii_hexdigit()), "{said}");
        assert_ne!(Challenge::new().unwrap().0, said);
        let greet =
            |params: Value| challenge.greet(&Request { id: 1.into(), method: "hello".into(), params }, 1000);
        let good = json!({"versions": [1], "client": "c", "clientVersion": "0", "challenge": said});
        assert!(greet(good.clone()).is_ok());
        for wrong in
            [json!(""), json!("0".repeat(32)), json!(said.to_uppercase() + "0"), json!(null), json!([1])]
        {
            // The rest is broken as well: it is not looked at.
            let found = greet(json!({"versions": 7, "challenge": wrong}));
            assert!(matches!(found, Err(NoHello::Challenge)), "{wrong}");
        }
        for (field, value) in [("versions", json!([2])), ("client", json!("")), ("more", json!(1))] {
            let mut params = good.clone();
            params[field] = value;
            assert!(matches!(greet(params), Err(NoHello::Bad(_))), "{field}");
        }
        for params in [json!({"versions": [1], "client": "c", "clientVersion": "0"}), json!([]), Value::Null]
        {
            let Err(NoHello::Bad(error)) = greet(params) else { panic!("taken") };
            assert!(error.message.contains("challenge is missing"), "{error}");
        }
    }

    #[test]
    fn other_lines_are_no_challenge() {
        for line in [
            r#"{"jsonrpc":"2.0","id":null,"error":{}}"#,
            "{}",
            "",
            r#"{"method":"x","params":{"challenge":"a"}}"#,
        ] {
            assert_eq!(challenge_in(line.as_bytes()), None, "{line}");
        }
    }
}
