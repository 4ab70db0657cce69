//! Applications and windows as wholes: listing, switching, moving, closing; pictures; the clipboard;
//! notifications; the pointer's way; the machine.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use std::time::Duration;

use deskhand_e2e::apps::{AppDesk, decode, effect, rect};
use deskhand_protocol::{Effect, ErrorCode, Layer};
use serde_json::{Value, json};

fn manage(desk: &AppDesk, action: &str, bounds: Value) -> Value {
    let mut args = json!({"window_title": "Mousepad", "action": action});
    if !bounds.is_null() {
        args["bounds"] = bounds;
    }
    let outcome = desk.confirmed("window_manage", args, &Value::Null);
    let report = outcome.effect.clone().unwrap();
    assert_eq!(report.layer, Some(Layer::Semantic));
    assert!(report.hit.unwrap().contains("Mousepad"));
    outcome.result.unwrap()
}

#[test]
fn applications_are_listed_switched_managed_and_closed() {
    let desk = AppDesk::with(&["mousepad", "xterm"]);
    let editor = desk.launch("mousepad", &["--disable-server"], "Mousepad");
    let outcome =
        desk.confirmed("app_launch", json!({"name": "xterm", "args": ["-T", "second one"]}), &Value::Null);
    let xterm = outcome.result.unwrap();
    desk.window("second one");

    // Names in any case, with windows only when asked for.
    let plain = desk.ok("app_list", json!({}));
    let apps = plain["apps"].as_array().unwrap();
    assert!(apps.iter().all(|a| a["windows"] == json!([])), "{plain}");
    assert!(apps.iter().any(|a| a["pid"] == xterm["pid"]), "{plain}");
    let full = desk.ok("app_list", json!({"include_windows": true}));
    let of = |name: &str| {
        full["apps"]
            .as_array()
            .unwrap()
            .iter()
            .find(|a| a["name"].as_str().unwrap().to_lowercase().contains(name))
            .cloned()
    };
    let mousepad = of("mousepad").expect("mousepad is listed");
    assert!(mousepad["windows"][0]["title"].as_str().unwrap().contains("Mousepad"));
    assert!(rect(&mousepad["windows"][0]["bounds"])[2] > 100);

    // Switching there and back.
    let switched = desk.confirmed("app_switch", json!({"name": "Mousepad"}), &Value::Null);
    assert!(switched.effect.unwrap().why.contains("focus"));
    assert_eq!(editor.facts().unwrap()["focused"], true);
    desk.confirmed("app_switch", json!({"name": "second one"}), &Value::Null);
    assert_eq!(editor.facts().unwrap()["focused"], false);
    let none = desk.call("app_switch", json!({"name": "no such application"})).error.unwrap();
    assert_eq!(none.code, ErrorCode::AppNotFound);
    assert!(!none.details["running"].as_array().unwrap().is_empty(), "{none:?}");

    // Every action on a window.
    let moved = manage(&desk, "move", json!({"x": 77, "y": 55}));
    assert_eq!(rect(&moved["window"]["bounds"])[..2], [77, 55]);
    let sized = manage(&desk, "resize", json!({"width": 701, "height": 503}));
    assert_eq!(rect(&sized["window"]["bounds"]), [77, 55, 701, 503]);
    let max = manage(&desk, "maximize", Value::Null);
    assert_eq!(max["maximized"], true);
    assert!(rect(&max["window"]["bounds"])[2] >= 1270, "{max}");
    let back = manage(&desk, "restore", Value::Null);
    assert_eq!(rect(&back["window"]["bounds"]), [77, 55, 701, 503]);
    let min = manage(&desk, "minimize", Value::Null);
    assert_eq!(min["window"]["minimized"], true);
    let hidden =
        desk.call("screenshot", json!({"mode": "window", "window_title": "Mousepad"})).error.unwrap();
    assert_eq!(hidden.code, ErrorCode::NotActionable, "{hidden}");
    manage(&desk, "restore", Value::Null);
    for (args, code) in [
        (json!({"window_title": "Mousepad", "action": "move"}), ErrorCode::InvalidInput),
        (json!({"window_title": "Mousepad", "action": "shake"}), ErrorCode::InvalidInput),
        (json!({"window_title": "no such window", "action": "maximize"}), ErrorCode::WindowNotFound),
    ] {
        assert_eq!(desk.call("window_manage", args.clone()).error.unwrap().code, code, "{args}");
    }

    // A picture of a window has the window's size.
    let shot = desk.ok("screenshot", json!({"mode": "window", "window_title": "Mousepad", "format": "png"}));
    assert_eq!(
        (shot["width"].as_i64(), shot["height"].as_i64()),
        (Some(701), Some(503)),
        "{}",
        shot["region"]
    );
    assert_eq!(rect(&shot["region"]), [77, 55, 701, 503]);
    assert_eq!(&decode(shot["image"].as_str().unwrap())[1..4], b"PNG");

    // Closing: politely, then by force.
    let closed = desk.confirmed("app_close", json!({"name": "mousepad"}), &Value::Null);
    assert_eq!(closed.result.unwrap()["success"], true);
    assert!(editor.facts().is_none());
    let killed =
        desk.confirmed("app_close", json!({"name": xterm["pid"].to_string(), "force": true}), &Value::Null);
    assert_eq!(killed.result.unwrap()["closed"], json!([xterm["pid"]]));
    assert_eq!(
        desk.call("app_close", json!({"name": "mousepad"})).error.unwrap().code,
        ErrorCode::AppNotFound
    );
    let absent = desk.call("app_launch", json!({"name": "no-such-program-here"})).error.unwrap();
    assert_eq!(absent.code, ErrorCode::AppNotFound, "{absent}");
}

#[test]
fn an_application_that_asks_before_it_closes_is_not_called_closed() {
    let desk = AppDesk::with(&["mousepad"]);
    let editor = desk.launch("mousepad", &["--disable-server"], "Mousepad");
    editor.confirmed("type_text", json!({"text": "unsaved"}));
    let asked = desk.done("app_close", json!({"name": "mousepad"}), &Value::Null);
    assert_eq!(effect(&asked), Some(Effect::Partial), "{:?}", asked.effect);
    let answer = asked.result.unwrap();
    assert_eq!(answer["success"], false);
    assert!(answer["dialog"]["windowId"].is_u64(), "{answer}");
    let forced = desk.confirmed("app_close", json!({"name": "mousepad", "force": true}), &Value::Null);
    assert_eq!(forced.result.unwrap()["success"], true);
}

#[test]
fn clipboard_notifications_pointer_and_machine() {
    let desk = AppDesk::with(&["dunst"]);
    for text in ["plain", "中文 😀 Ωμέγα\nsecond line\ttab", "", &"x".repeat(300_000)] {
        let written = desk.confirmed("clipboard_write", json!({"text": text}), &Value::Null);
        assert_eq!(written.result.unwrap()["success"], true);
        let read = desk.ok("clipboard_read", json!({}));
        assert_eq!(read["text"].as_str(), Some(text));
        assert!(!read["formats"].as_array().unwrap().is_empty());
    }

    let before = desk.ok("screenshot", json!({"mode": "fullscreen", "format": "png"}))["image"].clone();
    let sent = desk.confirmed(
        "notification_send",
        json!({"title": "Deskhand", "body": "你好 😀", "urgency": "critical"}),
        &Value::Null,
    );
    assert!(sent.result.unwrap()["id"].as_u64().unwrap() > 0);
    desk.until("the notification on the screen", || {
        (desk.ok("screenshot", json!({"mode": "fullscreen", "format": "png"}))["image"] != before)
            .then_some(())
    });

    let cursor = || {
        let seen = desk.ok("observe", json!({"screenshot": false}));
        (seen["cursor"]["x"].as_i64().unwrap(), seen["cursor"]["y"].as_i64().unwrap())
    };
    desk.ok("mouse_move", json!({"x": 10, "y": 20, "smooth": false}));
    assert_eq!(cursor(), (10, 20));
    let started = std::time::Instant::now();
    let moved = desk.done("mouse_move", json!({"x": 900, "y": 700, "duration": 300}), &Value::Null);
    assert!(started.elapsed() >= Duration::from_millis(250), "a smooth way takes its time");
    assert_eq!(effect(&moved), Some(Effect::Confirmed), "{:?}", moved.effect);
    assert_eq!(cursor(), (900, 700));

    let info = desk.ok("system_info", json!({}));
    assert_eq!(info["session_type"], "x11");
    assert_eq!((&info["displays"][0]["width"], &info["displays"][0]["height"]), (&json!(1280), &json!(900)));
    assert!(info["os"].as_str().unwrap().len() > 3 && info["cpus"].as_u64().unwrap() > 0);
    assert!(info["memory_total"].as_u64().unwrap() > info["memory_free"].as_u64().unwrap());
}
