//! Answers as bytes, built once.

use deskhand_protocol::{Error, ErrorCode, MAX_REPLY_BYTES, RpcError};
use serde::Serialize;
use serde_json::Value;

use crate::service::UNKNOWN_METHOD;

/// A result, already serialised: a screenshot of a megabyte is turned into JSON once, not twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply(Vec<u8>);

impl Reply {
    /// Serialises a result.
    pub fn of<T: Serialize + ?Sized>(result: &T) -> Result<Self, Error> {
        serde_json::to_vec(result).map(Self).map_err(|error| {
            Error::new(ErrorCode::Internal, format!("the result cannot be written: {error}"))
        })
    }

    /// The JSON text.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<Value> for Reply {
    fn from(value: Value) -> Self {
        Self(value.to_string().into_bytes())
    }
}

/// JSON-RPC tells a missing method (-32601) from other requests that are no good (-32600).
fn rpc_error(error: Error) -> RpcError {
    let unknown = error.code == ErrorCode::BadRequest && error.details.contains_key(UNKNOWN_METHOD);
    let error = RpcError::from(error);
    RpcError { code: if unknown { -32601 } else { error.code }, ..error }
}

/// A whole response line. A result larger than a client reads becomes an error of its own.
pub(crate) fn line(id: &Value, answer: Result<Reply, Error>) -> Vec<u8> {
    let id = id.to_string();
    let answer = answer.and_then(|reply| {
        let size = reply.0.len() + id.len() + 64;
        if size <= MAX_REPLY_BYTES {
            return Ok(reply);
        }
        Err(Error::new(
            ErrorCode::FrameTooLarge,
            format!("the result takes {size} bytes, more than a client reads"),
        )
        .hint("ask for less: a smaller region, fewer nodes, a lower limitBytes")
        .detail("limitBytes", MAX_REPLY_BYTES)
        .detail("bytes", size))
    });
    let (key, body) = match answer {
        Ok(reply) => (&b"\"result\":"[..], reply.0),
        Err(error) => (&b"\"error\":"[..], serde_json::to_vec(&rpc_error(error)).unwrap_or_default()),
    };
    let mut line = Vec::with_capacity(body.len() + id.len() + 48);
    line.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    line.extend_from_slice(id.as_bytes());
    line.push(b',');
    line.extend_from_slice(key);
    line.extend_from_slice(&body);
    line.extend_from_slice(b"}\n");
    line
}

#[cfg(test)]
mod tests {
    use super::*;
    use deskhand_protocol::RpcResponse;

    #[test]
    fn lines_read_back() {
        let text = "a\nb \"quoted\"";
        let bytes = line(&"id\n".into(), Ok(Reply::of(text).unwrap()));
        assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), 1);
        let response: RpcResponse = serde_json::from_slice(&bytes).unwrap();
        assert_eq!((response.id, response.result), ("id\n".into(), Some(text.into())));

        let bytes = line(&Value::Null, Err(Error::new(ErrorCode::BadRequest, "no")));
        let response: RpcResponse = serde_json::from_slice(&bytes).unwrap();
        let error = response.error.unwrap();
        assert_eq!((error.data.code, error.code), (ErrorCode::BadRequest, -32600));

        let bytes = line(&Value::Null, Err(crate::unknown_method("nothing")));
        let error = serde_json::from_slice::<RpcResponse>(&bytes).unwrap().error.unwrap();
        assert_eq!((error.data.code, error.code), (ErrorCode::BadRequest, -32601));
        assert!(error.data.hint.contains("resume"), "{}", error.data.hint);
    }

    #[test]
    fn a_result_no_client_reads_becomes_an_error() {
        let bytes = line(&1.into(), Ok(Reply::from(Value::from("x".repeat(MAX_REPLY_BYTES)))));
        let response: RpcResponse = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(response.error.unwrap().data.code, ErrorCode::FrameTooLarge);
    }
}
