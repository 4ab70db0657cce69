//! The way to the host.

use std::time::Duration;

use deskhand_bridge::Client;
use deskhand_config::Home;
use deskhand_protocol::{Error, ErrorCode, HostStatus, method};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// This program's version, as told to the host.
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");
/// How long a question that runs nothing may take.
pub(crate) const QUESTION: Duration = Duration::from_secs(10);

/// Connects to the host of a home.
pub(crate) fn client(home: &Home) -> Result<Client, Error> {
    Client::connect(&home.socket(), "deskhand", VERSION)
}

/// Asks the host one question on a connection of its own.
pub(crate) fn ask(home: &Home, method: &str, params: &Value) -> Result<Value, Error> {
    client(home)?.request(method, params, QUESTION)
}

/// Who runs, where, for how long.
pub(crate) fn status(home: &Home) -> Result<HostStatus, Error> {
    read("status", ask(home, method::STATUS, &json!({}))?)
}

/// Reads an answer of the host as what it should be.
pub(crate) fn read<T: DeserializeOwned>(what: &str, value: Value) -> Result<T, Error> {
    serde_json::from_value(value).map_err(|error| {
        Error::new(ErrorCode::Internal, format!("the host's answer to {what} cannot be read: {error}"))
            .hint("host and deskhand may be of different versions: `deskhand down`, then `deskhand up`")
    })
}

/// Reads a list that comes bare or as the field `name` of an object.
pub(crate) fn read_list<T: DeserializeOwned>(name: &str, value: Value) -> Result<Vec<T>, Error> {
    match value {
        Value::Object(mut object) => read(name, object.remove(name).unwrap_or(Value::Null)),
        other => read(name, other),
    }
}
