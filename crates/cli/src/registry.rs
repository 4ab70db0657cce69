//! The tools: from the host when it runs, else from the list built into this program.

use deskhand_config::Home;
use deskhand_protocol::{Error, ErrorCode, ToolInfo, method};
use serde_json::{Value, json};

use crate::connect;

/// Written by `cargo xtask gen` from the registry itself.
const BUILT_IN: &str = include_str!("../../../schemas/tools.json");

/// The tools, and whether a host told them.
pub(crate) fn tools(home: &Home) -> Result<(Vec<ToolInfo>, bool), Error> {
    match connect::ask(home, method::TOOLS, &json!({})) {
        Ok(value) => Ok((connect::read_list("tools", value)?, true)),
        Err(error) if error.code == ErrorCode::HostNotRunning => Ok((built_in()?, false)),
        Err(error) => Err(error),
    }
}

fn built_in() -> Result<Vec<ToolInfo>, Error> {
    let value: Value = serde_json::from_str(BUILT_IN)
        .map_err(|error| Error::new(ErrorCode::Internal, format!("the built-in list of tools: {error}")))?;
    connect::read_list("tools", value)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_built_in_list_can_be_read() {
        super::built_in().unwrap();
    }
}
