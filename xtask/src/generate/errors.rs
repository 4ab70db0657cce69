//! The error codes, for programs and for people.

use std::fmt::Write;

use deskhand_protocol::ErrorCode;
use serde_json::json;

use super::{NOTICE, cell};

/// `schemas/error-codes.json`.
pub(crate) fn schema() -> Result<String, serde_json::Error> {
    let codes: Vec<_> = ErrorCode::ALL
        .iter()
        .map(
            |code| json!({"code": code.as_str(), "retryable": code.retryable(), "hint": code.default_hint()}),
        )
        .collect();
    Ok(serde_json::to_string_pretty(&json!({"errorCodes": codes}))? + "\n")
}

/// `docs/reference/errors.md`.
pub(crate) fn page() -> String {
    let mut out = format!(
        "{NOTICE}\n# Error codes\n\nEvery failed call answers `error {{ code, message, hint, retryable, details }}`. \
         `retryable` says whether the\nsame call may succeed later without being changed. The hint below is the \
         code's own; an answer often has a more\nexact one.\n\n| code | retryable | hint |\n|---|---|---|\n"
    );
    for code in ErrorCode::ALL {
        let retry = if code.retryable() { "yes" } else { "no" };
        let _ = writeln!(out, "| `{code}` | {retry} | {} |", cell(code.default_hint()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_on_both() {
        let (schema, page) = (schema().unwrap(), page());
        for code in ErrorCode::ALL {
            assert!(schema.contains(&format!("\"{code}\"")), "{code}");
            assert!(page.contains(&format!("| `{code}` |")), "{code}");
        }
    }
}
