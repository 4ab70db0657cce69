//! The one flat list of tools. Adding a tool is one file under `tools/` and one line here.

use deskhand_protocol::ToolInfo;

use crate::tool::{AnyTool, Erased};
use crate::tools as t;

/// Every tool, in the order they are listed to people.
pub const ALL: &[&dyn AnyTool] = &[
    // eyes
    &Erased::<t::screenshot::Screenshot>::new(),
];

/// A tool by its name.
#[must_use]
pub fn find(name: &str) -> Option<&'static dyn AnyTool> {
    ALL.iter().copied().find(|t| t.meta().name == name)
}

/// All tools with descriptions and schemas.
#[must_use]
pub fn infos() -> Vec<ToolInfo> {
    ALL.iter().map(|t| t.info()).collect()
}
