//! `deskhand doctor` tells the truth when each part is broken on purpose.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use deskhand_e2e::{LiveHost, LiveOptions, program};
use serde_json::Value;
use std::process::Command;

/// The whole report and the exit code.
fn doctor(mut command: Command) -> (Value, i32) {
    let out = command.args(["doctor", "--json"]).output().expect("deskhand runs");
    let text = String::from_utf8_lossy(&out.stdout);
    let report = serde_json::from_str(&text)
        .unwrap_or_else(|e| panic!("{e}: {text} {}", String::from_utf8_lossy(&out.stderr)));
    (report, out.status.code().unwrap_or(-1))
}

fn check<'a>(report: &'a Value, id: &str) -> &'a Value {
    report["checks"]
        .as_array()
        .into_iter()
        .flatten()
        .find(|c| c["id"] == id)
        .unwrap_or_else(|| panic!("no check {id} in {report}"))
}

#[test]
fn a_healthy_desk_passes() {
    let live = LiveHost::start();
    let (report, code) = doctor(live.deskhand());
    for id in ["host", "display", "screen_capture", "input", "window_manager", "ax", "fonts"] {
        assert_eq!(check(&report, id)["status"], "pass", "{report:#}");
    }
    assert_eq!(code, 0, "{report:#}");
}

#[test]
fn no_window_manager_is_told_with_the_code_calls_answer_with() {
    let live = LiveHost::with(&LiveOptions { window_manager: false, ..LiveOptions::default() });
    let (report, code) = doctor(live.deskhand());
    let wm = check(&report, "window_manager");
    assert_eq!(wm["status"], "fail", "{report:#}");
    assert!(!wm["fix"].as_str().unwrap_or_default().is_empty());
    assert_eq!(code, 1);
    live.spawn("xterm", &[]);
    let outcome =
        live.call("window_manage", serde_json::json!({"window_title": "xterm", "action": "maximize"}));
    let error = outcome.error.expect("it cannot work");
    assert_eq!(wm["code"], error.code.as_str(), "{error}");
}

#[test]
fn no_accessibility_bus_is_told_with_the_code_calls_answer_with() {
    // An address where nobody listens: the session bus offers none either.
    let env = vec![("AT_SPI_BUS_ADDRESS".to_owned(), "unix:path=/nonexistent/bus".to_owned())];
    let live = LiveHost::with(&LiveOptions { accessibility: false, env, ..LiveOptions::default() });
    let (report, code) = doctor(live.deskhand());
    let ax = check(&report, "ax");
    assert_eq!(ax["status"], "fail", "{report:#}");
    assert_eq!(code, 1);
    let outcome = live.call("dump_ax_tree", serde_json::json!({"root": "desktop"}));
    let error = outcome.error.expect("it cannot work");
    assert_eq!(ax["code"], error.code.as_str(), "{error}");
    assert!(
        live.call("screenshot", serde_json::json!({"mode": "fullscreen"})).error.is_none(),
        "pixels still work"
    );
}

#[test]
fn no_fonts_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let config = dir.path().join("fonts.conf");
    std::fs::write(&config, "<?xml version=\"1.0\"?><fontconfig></fontconfig>").unwrap();
    let env = vec![("FONTCONFIG_FILE".to_owned(), config.display().to_string())];
    let live = LiveHost::with(&LiveOptions { env, ..LiveOptions::default() });
    let (report, _) = doctor(live.deskhand());
    assert_ne!(check(&report, "fonts")["status"], "pass", "{report:#}");
    assert!(!check(&report, "fonts")["fix"].as_str().unwrap_or_default().is_empty());
}

#[test]
fn an_empty_clipboard_is_said_to_have_no_owner_and_a_full_one_is_not() {
    let live = LiveHost::start();
    let (report, _) = doctor(live.deskhand());
    let summary = check(&report, "clipboard")["summary"].as_str().unwrap_or_default().to_lowercase();
    assert!(summary.contains("no") && (summary.contains("own") || summary.contains("empty")), "{summary}");
    live.ok("clipboard_write", serde_json::json!({"text": "x"}));
    let (report, _) = doctor(live.deskhand());
    assert_eq!(check(&report, "clipboard")["status"], "pass", "{report:#}");
    let after = check(&report, "clipboard")["summary"].as_str().unwrap_or_default().to_lowercase();
    assert_ne!(summary, after);
}

#[test]
fn without_a_display_and_without_a_host_it_still_tells() {
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(program("deskhand"));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("DBUS_SESSION_BUS_ADDRESS");
    command.env("DESKHAND_HOME", home.path().join("h"));
    let (report, code) = doctor(command);
    assert_eq!(check(&report, "host")["status"], "fail");
    assert_eq!(check(&report, "host")["code"], "DESKTOP_HOST_NOT_RUNNING");
    assert_eq!(check(&report, "display")["status"], "fail", "{report:#}");
    assert_eq!(check(&report, "display")["code"], "DESKTOP_DISPLAY_UNAVAILABLE");
    assert_eq!(report["overall"], "fail");
    assert_eq!(code, 1);
}
