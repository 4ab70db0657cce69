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
    use std::collections::HashMap;
    use std::path::{Path, PathBuf};

    use serde_json::Value;

    use super::built_in;

    /// Files with examples people copy: our own words, the front page and the guides.
    fn pages() -> Vec<PathBuf> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let mut pages = vec![root.join("README.md"), root.join("ARCHITECTURE.md"), root.join("SECURITY.md")];
        let mut dirs = vec![root.join("docs"), root.join("crates/cli/src")];
        while let Some(dir) = dirs.pop() {
            for entry in std::fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let wanted = path.extension().is_some_and(|end| end == "md" || end == "rs");
                if path.is_dir() {
                    dirs.push(path)
                } else if wanted {
                    pages.push(path)
                }
            }
        }
        pages
    }

    /// Every tool named in an example, with what follows its name. Tests name tools that are not there.
    fn named(text: &str) -> Vec<(&str, &str)> {
        let text = text.split("#[cfg(test)]").next().unwrap_or_default();
        let before = ["deskhand call ", "deskhand describe ", r#""tool":""#, r#"\"tool\":\""#];
        let mut found = Vec::new();
        for before in before {
            for (at, _) in text.match_indices(before) {
                let rest = &text[at + before.len()..];
                let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '_').unwrap_or(rest.len());
                // A placeholder such as TOOL or {} is no name.
                if end > 0 && !rest.starts_with('{') {
                    found.push((&rest[..end], &rest[end..]));
                }
            }
        }
        found
    }

    #[test]
    fn every_example_names_a_tool_that_exists_with_arguments_it_has() {
        let tools: HashMap<String, Value> =
            built_in().unwrap().into_iter().map(|tool| (tool.name, tool.input_schema)).collect();
        assert!(tools.len() > 20, "{}", tools.len());
        let (mut seen, mut read) = (0, 0);
        for page in pages() {
            let text = std::fs::read_to_string(&page).unwrap();
            for (tool, rest) in named(&text) {
                let schema = tools.get(tool).unwrap_or_else(|| panic!("{}: {tool}", page.display()));
                seen += 1;
                let Some(json) = rest.strip_prefix(" '").and_then(|rest| rest.split('\'').next()) else {
                    continue;
                };
                let json = json.replace("\\\"", "\"");
                let args: serde_json::Map<String, Value> =
                    serde_json::from_str(&json).unwrap_or_else(|e| panic!("{}: {json}: {e}", page.display()));
                read += 1;
                for key in args.keys() {
                    assert!(schema["properties"].get(key).is_some(), "{}: {tool} {key}", page.display());
                }
            }
        }
        assert!(seen > 20 && read > 5, "the examples are not found any more: {seen}, {read}");
    }

    #[test]
    fn examples_are_found_where_they_stand() {
        let text =
            r#"deskhand call a_b '{}' deskhand call TOOL {"tool":"c"} {\"tool\":\"d\"} deskhand describe e"#;
        let names: Vec<_> = named(text).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a_b", "e", "c", "d"]);
    }
}
