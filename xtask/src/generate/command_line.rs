//! The reference of the command line: what `--help` of every command says.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::NOTICE;

/// Deepest `deskhand a b c` that is looked for.
const MAX_DEPTH: usize = 3;

/// `docs/reference/cli.md`.
pub(crate) fn page(root: &Path) -> Result<String, Box<dyn std::error::Error>> {
    let program = build(root)?;
    let mut out = format!(
        "{NOTICE}\n# The command line\n\nExit codes: 0 done, 1 refused or failed, 2 wrong usage. `--json` prints exactly \
         one JSON document on stdout (JSON\nLines for streams); words for people go to stderr.\n"
    );
    describe(&program, &[], &mut out)?;
    Ok(out)
}

/// `DESKHAND_BIN`, else builds the program and asks cargo where it is.
fn build(root: &Path) -> Result<PathBuf, Box<dyn std::error::Error>> {
    if let Some(program) = std::env::var_os("DESKHAND_BIN") {
        return Ok(PathBuf::from(program));
    }
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let out = Command::new(cargo)
        .current_dir(root)
        .args(["build", "--quiet", "-p", "deskhand-cli", "--bin", "deskhand", "--message-format", "json"])
        .stderr(Stdio::inherit())
        .output()?;
    if !out.status.success() {
        return Err("deskhand-cli does not build".into());
    }
    let text = String::from_utf8(out.stdout)?;
    let built = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let path = built.filter_map(|m| m["executable"].as_str().map(PathBuf::from)).next_back();
    path.ok_or_else(|| "cargo built no program `deskhand`".into())
}

fn describe(program: &Path, path: &[String], out: &mut String) -> Result<(), Box<dyn std::error::Error>> {
    let help = help(program, path)?;
    let title =
        std::iter::once("deskhand").chain(path.iter().map(String::as_str)).collect::<Vec<_>>().join(" ");
    let level = "#".repeat((path.len() + 2).min(4));
    let _ = write!(out, "\n{level} {title}\n\n```text\n{}\n```\n", help.trim_end());
    if path.len() < MAX_DEPTH {
        for name in commands(&help) {
            let mut deeper = path.to_vec();
            deeper.push(name);
            describe(program, &deeper, out)?;
        }
    }
    Ok(())
}

/// `--help` without a terminal and without an environment, so that it is the same everywhere.
fn help(program: &Path, path: &[String]) -> Result<String, Box<dyn std::error::Error>> {
    let out = Command::new(program).args(path).arg("--help").env_clear().stdin(Stdio::null()).output()?;
    if !out.status.success() {
        let said = String::from_utf8_lossy(&out.stderr);
        return Err(format!("`deskhand {} --help` failed: {said}", path.join(" ")).into());
    }
    let text = String::from_utf8(out.stdout)?;
    Ok(text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n"))
}

/// The names under `Commands:` of a help text.
fn commands(help: &str) -> Vec<String> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    lines
        .take_while(|line| line.starts_with(' '))
        .filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')))
        .filter_map(|rest| rest.split_whitespace().next().map(str::to_owned))
        .filter(|name| name != "help")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read_from_the_help() {
        let help = "A hand.\n\nUsage: x\n\nCommands:\n  up      Start\n  desk    Desks that\n          go on\n  help    Help\n\nOptions:\n  -h  Help\n";
        assert_eq!(commands(help), ["up", "desk"]);
        assert_eq!(commands("Usage: x\n\nOptions:\n  -h\n"), Vec::<String>::new());
    }
}
