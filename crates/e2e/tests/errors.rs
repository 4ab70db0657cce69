//! Every error code of the host seed, provoked by a real situation.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use std::process::Command;
use std::time::Duration;

use deskhand_e2e::{LiveHost, LiveOptions, program, wait_for};
use deskhand_protocol::{Effect, ErrorCode};
use serde_json::{Value, json};

fn error(outcome: deskhand_protocol::Outcome) -> deskhand_protocol::Error {
    outcome.error.unwrap_or_else(|| panic!("no error but {:?} {:?}", outcome.result, outcome.effect))
}

#[test]
fn host_not_running() {
    let home = tempfile::tempdir().unwrap();
    let out = Command::new(program("deskhand"))
        .args(["call", "system_info", "--json"])
        .env("DESKHAND_HOME", home.path().join("h"))
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(answer["error"]["code"], "DESKTOP_HOST_NOT_RUNNING", "{answer}");
    assert!(answer["error"]["hint"].as_str().unwrap().contains("deskhand up"));
    assert_eq!(answer["error"]["retryable"], true);
    assert_eq!(out.status.code(), Some(1));
}

#[test]
fn permission_missing() {
    // The display server is there and does not let us in: the cookie is missing.
    let dir = tempfile::tempdir().unwrap();
    let empty = dir.path().join("xauthority");
    std::fs::write(&empty, "").unwrap();
    let env = vec![("XAUTHORITY".to_owned(), empty.display().to_string())];
    let live = LiveHost::with(&LiveOptions { env, ..LiveOptions::default() });
    let e = error(live.call("screenshot", json!({"mode": "fullscreen"})));
    assert_eq!(e.code, ErrorCode::PermissionMissing, "{e}");
    assert!(!e.hint.is_empty());
    assert!(live.call("system_info", json!({})).error.is_none(), "the host goes on");
}

#[test]
fn focus_lost_stale_not_found_timeout_limit_and_confirm() {
    let live = LiveHost::start();
    live.spawn("zenity", &["--info", "--title=First", "--text=one"]);
    live.window("First");
    live.spawn("zenity", &["--info", "--title=Second", "--text=two"]);
    live.window("Second");
    live.ok("app_switch", json!({"name": "zenity"}));
    let second = live.routed(
        "hotkey",
        json!({"keys": ["shift"], "reason": "test"}),
        json!({"window": {"titlePattern": "^Second$"}}),
    );
    assert!(second.error.is_none(), "{:?}", second.error);

    let route = json!({"window": {"titlePattern": "^First$"}, "focusPolicy": "failIfNotFocused"});
    let e = error(live.routed("key_press", json!({"keys": ["a"]}), route));
    assert_eq!(e.code, ErrorCode::FocusLost, "{e}");
    assert_eq!(e.details["frontmost"]["title"], "Second");
    let route = json!({"window": {"titlePattern": "^First$"}, "focusPolicy": "requireFocused"});
    assert_eq!(error(live.routed("key_press", json!({"keys": ["a"]}), route)).code, ErrorCode::FocusLost);

    let find = json!({"selector": {"byRole": "button"}});
    let found = live.routed("find", find, json!({"window": {"titlePattern": "^First$"}})).result.unwrap();
    let button = found["candidates"][0]["element"].clone();
    live.ok("window_manage", json!({"window_title": "First", "action": "move", "bounds": {"x": 3, "y": 40}}));
    let e = error(live.call("click", json!({"target": {"elementRef": button}})));
    assert_eq!(e.code, ErrorCode::StaleSnapshot, "{e}");

    let e = error(live.call("find", json!({"selector": {"byTitle": {"equals": "No such thing"}}})));
    assert_eq!(e.code, ErrorCode::ElementNotFound, "{e}");
    assert!(e.details.contains_key("frontmost"));

    let wait = json!({"condition": {"windowTitle": {"equals": "Never"}}, "timeoutMs": 300});
    let e = error(live.call("wait_until", wait));
    assert_eq!(e.code, ErrorCode::Timeout, "{e}");

    let dump = live.ok("dump_ax_tree", json!({"maxNodes": 3}));
    assert_eq!(dump["truncated"]["code"], "DESKTOP_AX_TRAVERSAL_LIMIT", "{dump}");
    assert!(dump["nodes"].as_array().unwrap().len() <= 3);

    let first = live.send(deskhand_bridge::CallRequest::new("key_press", json!({"keys": ["a"]})));
    let e = error(first);
    assert_eq!(e.code, ErrorCode::ConfirmRequired);
    assert!(e.details["phrase"].is_string());
}

#[test]
fn modal_blocking() {
    let live = LiveHost::start();
    live.spawn("mousepad", &["--disable-server"]);
    live.window("Mousepad");
    let text =
        live.ok("find", json!({"selector": {"byRole": "text_area"}}))["candidates"][0]["element"].clone();
    let opened = live.call("menu_pick", json!({"path": ["File", "Save As…"]}));
    assert!(opened.error.is_none(), "{:?}", opened.error);
    live.window("Save As");
    let e = error(live.call("click", json!({"target": {"elementRef": text}})));
    assert_eq!(e.code, ErrorCode::ModalBlocking, "{e}");
    assert!(e.details["modal"]["title"].as_str().unwrap().contains("Save As"), "{:?}", e.details);
    live.ok("key_press", json!({"keys": ["escape"]}));
    let gone = json!({"condition": {"elementGone": {"byTitle": {"equals": "Save As"}}}, "timeoutMs": 10000});
    live.ok("wait_until", gone);
    let again = wait_for("a click that goes through", Duration::from_secs(20), || {
        let target =
            live.ok("find", json!({"selector": {"byRole": "text_area"}}))["candidates"][0]["element"].clone();
        Some(live.call("click", json!({"target": {"elementRef": target}}))).filter(|o| o.error.is_none())
    });
    assert_ne!(again.effect.unwrap().effect, Effect::Refused);
}
