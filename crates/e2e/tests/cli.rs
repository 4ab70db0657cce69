//! The command line over real programs: up, status, call, batch, evidence, down, desk exec.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use std::io::Write;
use std::process::{Command, Output, Stdio};

use deskhand_e2e::program;
use serde_json::Value;

/// A home of its own, without a display.
struct Home(tempfile::TempDir);

impl Home {
    fn new() -> Self {
        Self(tempfile::Builder::new().prefix("dh").tempdir().unwrap())
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(program("deskhand"));
        command.args(args).env("DESKHAND_HOME", self.0.path().join("h")).env("LC_ALL", "C.UTF-8");
        for name in ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"] {
            command.env_remove(name);
        }
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    fn json(&self, args: &[&str]) -> Value {
        let out = self.run(args);
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{args:?}: {e}: {out:?}"))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = self.run(&["down"]);
    }
}

#[test]
fn up_call_batch_evidence_down() {
    let home = Home::new();
    let up = home.run(&["up", "--detach", "--desk=1024x768", "--json"]);
    assert!(up.status.success(), "{up:?}");
    assert!(home.run(&["up", "--detach"]).status.success(), "a second up says that it runs");
    let status = home.json(&["status", "--json"]);
    assert_eq!(status["light"].as_str().map(str::is_empty), Some(false), "{status}");
    assert!(status["display"].as_str().unwrap().starts_with(':'));

    let info = home.json(&["call", "system_info", "--json"]);
    assert_eq!(info["result"]["displays"][0]["width"], 1024, "{info}");

    let asked = home.run(&["call", "mouse_move", r#"{"x":11,"y":12,"smooth":false}"#, "--json"]);
    assert_eq!(asked.status.code(), Some(1));
    let asked: Value = serde_json::from_slice(&asked.stdout).unwrap();
    assert_eq!(asked["error"]["code"], "DESKTOP_CONFIRM_REQUIRED");
    let phrase = asked["error"]["details"]["phrase"].as_str().unwrap();
    let moved = home.json(&[
        "call",
        "mouse_move",
        r#"{"x":11,"y":12,"smooth":false}"#,
        "--confirm",
        phrase,
        "--json",
    ]);
    assert!(moved["error"].is_null(), "{moved}");
    assert!(moved["effect"]["effect"].is_string(), "{moved}");
    let id = moved["evidence"]["id"].as_str().unwrap();
    assert!(std::path::Path::new(moved["evidence"]["path"].as_str().unwrap()).join("summary.md").exists());
    let shown = home.run(&["evidence", "show", id]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("mouse_move"), "{shown:?}");
    let list = home.json(&["evidence", "list", "--json"]);
    assert!(list.to_string().contains("mouse_move"), "{list}");

    let mut batch =
        home.command(&["batch", "--yes"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = "{\"tool\":\"system_info\",\"args\":{}}\n{\"tool\":\"mouse_move\",\"args\":{\"x\":5,\"y\":6}}\nnot json\n{\"tool\":\"nope\",\"args\":{}}\n{\"tool\":\"clipboard_write\",\"args\":{\"text\":\"\u{4f60}\u{597d}\"}}\n{\"tool\":\"clipboard_read\"}\n";
    batch.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let out = batch.wait_with_output().unwrap();
    let outcomes: Vec<Value> =
        String::from_utf8(out.stdout).unwrap().lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(outcomes.len(), 6, "{outcomes:?}");
    let codes: Vec<_> = outcomes.iter().map(|o| o["error"]["code"].as_str()).collect();
    assert_eq!(codes[0..2], [None, None]);
    assert!(codes[2].is_some() && codes[3] == Some("DESKTOP_UNKNOWN_TOOL"), "{codes:?}");
    assert_eq!(outcomes[5]["result"]["text"], "\u{4f60}\u{597d}");
    assert_eq!(out.status.code(), Some(1), "one of them failed");

    assert!(home.run(&["down"]).status.success());
    assert_eq!(home.run(&["status"]).status.code(), Some(1));
    assert!(home.run(&["down"]).status.success(), "down again says that nothing runs");
    let desks = home.json(&["desk", "list", "--json"]);
    assert!(!desks.to_string().contains("\"display\""), "the desk went with its host: {desks}");
}

#[test]
fn exec_with_a_host_gives_the_command_a_whole_desk() {
    let home = Home::new();
    let script = format!(
        "set -e; D={}; $D call screenshot '{{\"mode\":\"fullscreen\"}}' -o {}/shot.jpg >/dev/null; $D status --json",
        program("deskhand").display(),
        home.0.path().display()
    );
    let out = home.run(&["desk", "exec", "--size", "900x700", "--up", "--", "sh", "-c", &script]);
    assert!(out.status.success(), "{out:?}");
    let status: Value = serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {out:?}"));
    let throw_away = std::path::PathBuf::from(status["home"].as_str().unwrap());
    assert!(!throw_away.exists(), "the throw-away home is gone");
    let picture = std::fs::read(home.0.path().join("shot.jpg")).unwrap();
    assert_eq!(picture[..3], [0xff, 0xd8, 0xff]);
    assert_eq!(home.run(&["desk", "exec", "--up", "--", "sh", "-c", "exit 7"]).status.code(), Some(7));
}

#[test]
fn a_rebuilt_program_can_still_end_its_host() {
    let home = Home::new();
    let dir = home.0.path().join("bin");
    std::fs::create_dir(&dir).unwrap();
    for name in ["deskhand", "deskhand-host", "deskhand-desk"] {
        std::fs::copy(program(name), dir.join(name)).unwrap();
    }
    let own = |args: &[&str]| {
        let mut command = Command::new(dir.join("deskhand"));
        command
            .args(args)
            .env("DESKHAND_HOME", home.0.path().join("h"))
            .env_remove("DISPLAY")
            .output()
            .unwrap()
    };
    let up = own(&["up", "--detach", "--desk"]);
    assert!(up.status.success(), "{up:?}");
    // A new build: another file at the same place.
    let bytes = std::fs::read(dir.join("deskhand")).unwrap();
    std::fs::remove_file(dir.join("deskhand")).unwrap();
    std::fs::write(dir.join("deskhand"), [&bytes[..], b"\0new"].concat()).unwrap();
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(dir.join("deskhand"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let refused = own(&["call", "system_info", "--json"]);
    assert!(String::from_utf8_lossy(&refused.stdout).contains("DESKTOP_CALLER_REFUSED"), "{refused:?}");
    let down = own(&["down"]);
    assert!(down.status.success(), "{down:?}");
    assert_eq!(own(&["status"]).status.code(), Some(1));
}
