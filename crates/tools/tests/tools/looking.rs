use deskhand_protocol::{Effect, ErrorCode};
use serde_json::{Value, json};

use crate::desk::{Desk, titled};

const SCENE: &str = r#"
window "Login" pid=7 app="login" at=100,100 size=400x300 focused
  edit #user "User" value="ann@example.org" at=120,140 size=200x24
  password #pw "Password" value="hunter2" at=120,170 size=200x24
  button #ok "OK" at=120,200 size=80x24 -> rename #ok "Done"
  label #note "a note that is really rather long, so long that nobody would want it whole in a tree of elements" at=120,240 size=200x24
  text #long "Log" value="" at=120,270 size=200x24
  button #hid "Hidden" hidden
window "Other" pid=9 app="other" at=700,100 size=300x300
  button #there "There"
"#;

fn picture(value: &Value, kind: &[u8]) {
    let image = value["image"].as_str().unwrap();
    let head = &image[..8];
    let want = deskhand_vision::to_base64(kind);
    assert!(head.starts_with(want.trim_end_matches('=').get(..3).unwrap()), "{head}");
}

#[test]
fn screenshots_have_the_fields_of_the_seed() {
    let desk = Desk::new(SCENE);
    let value = desk.ok("screenshot", json!({"mode": "fullscreen"}));
    assert_eq!((value["width"].as_u64(), value["height"].as_u64()), (Some(1568), Some(882)));
    assert!(value["timestamp"].as_u64().unwrap() > 1_600_000_000_000);
    picture(&value, &[0xff, 0xd8, 0xff]);
    let value = desk.ok("screenshot", json!({"mode": "window", "window_title": "other", "format": "png"}));
    assert_eq!(value["region"], json!({"x": 700, "y": 100, "width": 300, "height": 300}));
    picture(&value, b"\x89PN");
    let value =
        desk.ok("screenshot", json!({"mode": "region", "region": {"x": 5, "y": 6, "width": 7, "height": 8}}));
    assert_eq!((value["width"].as_u64(), value["height"].as_u64()), (Some(7), Some(8)));
    let value = desk.ok("capture_screen", json!({"window": {"titlePattern": "^Oth"}}));
    assert_eq!(value["region"]["x"], 700);
    assert_eq!(desk.ok("capture_screen", json!({"display": 0}))["width"], 1568);
    let routed = desk.routed("capture_screen", json!({}), &json!({"app": {"pid": 9}})).unwrap().0;
    assert_eq!(routed["region"]["x"], 700);
    assert_eq!(desk.fake.log_text(), "");
}

#[test]
fn wrong_pictures_are_refused() {
    let desk = Desk::new("window \"W\" pid=7 minimized");
    let cases = [
        ("screenshot", json!({}), ErrorCode::InvalidInput, "mode"),
        ("screenshot", json!({"mode": "region"}), ErrorCode::InvalidInput, "region"),
        (
            "screenshot",
            json!({"mode": "region", "region": {"x": 0, "y": 0, "width": 0, "height": 5}}),
            ErrorCode::InvalidInput,
            "region",
        ),
        (
            "screenshot",
            json!({"mode": "region", "region": {"x": 9000, "y": 0, "width": 5, "height": 5}}),
            ErrorCode::OutOfRange,
            "region",
        ),
        ("screenshot", json!({"mode": "window", "window_title": "none"}), ErrorCode::WindowNotFound, "none"),
        ("screenshot", json!({"mode": "window", "window_title": "W"}), ErrorCode::NotActionable, "minimised"),
        ("screenshot", json!({"mode": "fullscreen", "quality": 101}), ErrorCode::InvalidInput, "quality"),
        ("screenshot", json!({"mode": "fullscreen", "format": "gif"}), ErrorCode::InvalidInput, "format"),
        ("capture_screen", json!({"display": 5}), ErrorCode::InvalidInput, "display"),
        (
            "capture_screen",
            json!({"display": 0, "region": {"x": 0, "y": 0, "width": 1, "height": 1}}),
            ErrorCode::InvalidInput,
            "one of them",
        ),
        ("capture_screen", json!({"window": {}}), ErrorCode::InvalidInput, "window"),
        ("capture_screen", json!({"window": {"titlePattern": "("}}), ErrorCode::InvalidInput, "titlePattern"),
        ("capture_screen", json!({"window": {"windowId": 1}}), ErrorCode::WindowNotFound, "windowId"),
    ];
    for (tool, args, code, says) in cases {
        let e = desk.err(tool, args.clone());
        assert_eq!(e.code, code, "{tool} {args}: {e}");
        assert!(e.message.contains(says), "{tool} {args}: {e}");
    }
    let broken = Desk::new("broken screen_capture");
    assert_eq!(broken.err("screenshot", json!({"mode": "fullscreen"})).code, ErrorCode::PermissionMissing);
}

#[test]
fn observe_gives_everything_of_one_moment() {
    let desk = Desk::new(SCENE);
    let value = desk.ok("observe", json!({}));
    assert_eq!(value["focusedWindow"]["title"], "Login");
    assert_eq!(value["frontmostApp"], json!({"name": "login", "pid": 7}));
    assert_eq!(value["cursor"], json!({"x": 960, "y": 540}));
    assert_eq!((value["attempts"].as_u64(), value["changedDuring"].as_bool()), (Some(1), Some(false)));
    assert!(value["skewMs"].as_f64().unwrap() >= 0.0);
    assert_eq!(value["screenshot"]["width"], 1568);
    assert_eq!(value["snapshotId"], value["axSnapshot"]["snapshotId"]);
    assert_eq!(desk.notes.trees.borrow().len(), 1);
    assert_eq!(desk.notes.pictures.borrow()[0].0, "observe.jpg");
    // Its references can be acted on, and its picture clicked in.
    let ok = value["axSnapshot"]["nodes"].as_array().unwrap().iter().find(|n| n["label"] == "OK").unwrap();
    let target = json!({"elementRef": {"elementId": ok["elementId"], "snapshotId": value["snapshotId"], "fingerprint": ok["fingerprint"], "rect": ok["rect"]}});
    desk.ok("click", json!({"target": target}));
    assert_eq!(desk.fake.element("ok").unwrap().name, "Done");
    let bare = desk.ok("observe", json!({"screenshot": false}));
    assert!(bare.get("screenshot").is_none());
}

#[test]
fn observe_looks_again_when_the_screen_changes() {
    // Every look takes longer than the time between two changes.
    let mut scene =
        String::from("slow 30\nwindow \"W\" pid=7 focused\n  label #l \"\" value=\"\"\n  button #go \"Go\"");
    scene.push_str(" -> nothing");
    for ms in (0..120).map(|i| i * 10) {
        scene.push_str(&format!(" ; after {ms} set #l \"{ms}\""));
    }
    let desk = Desk::new(&scene);
    desk.fake.run("nothing");
    desk.ok("click", json!({"target": titled("Go")}));
    let value = desk.ok("observe", json!({"screenshot": true}));
    assert_eq!(
        (value["attempts"].as_u64(), value["changedDuring"].as_bool()),
        (Some(3), Some(true)),
        "{}",
        value["skewMs"]
    );
}

#[test]
fn observe_still_sees_without_a_tree() {
    let desk = Desk::new("broken ax\nwindow \"W\" pid=7 focused");
    let value = desk.ok("observe", json!({}));
    assert_eq!(value["axError"]["code"], "DESKTOP_AX_UNAVAILABLE");
    assert_eq!((&value["axSnapshot"], &value["snapshotId"]), (&Value::Null, &Value::Null));
    assert_eq!(value["screenshot"]["width"], 1568);
    let blind = Desk::new("broken display");
    assert_eq!(blind.err("observe", json!({})).code, ErrorCode::DisplayUnavailable);
}

#[test]
fn a_dump_is_private_and_bounded() {
    let desk = Desk::new(SCENE);
    let value = desk.ok("dump_ax_tree", json!({}));
    let nodes = value["nodes"].as_array().unwrap();
    assert_eq!(value["count"].as_u64(), Some(nodes.len() as u64));
    assert!(value.get("truncated").is_none());
    assert!(nodes.iter().all(|n| n.get("value").is_none()), "text without includeText");
    assert!(nodes.iter().all(|n| n["label"].as_str().unwrap().chars().count() <= 80));
    assert!(!nodes.iter().any(|n| n["label"] == "Hidden"));
    assert!(!value.to_string().contains("hunter2") && !value.to_string().contains("ann@example.org"));
    let ok = nodes.iter().find(|n| n["label"] == "OK").unwrap();
    assert_eq!(ok["role"], "button");
    assert_eq!(ok["rect"], json!({"x": 120, "y": 200, "width": 80, "height": 24}));
    assert!(ok["states"].as_array().unwrap().contains(&json!("enabled")));
    assert_eq!(ok["actions"], json!(["click"]));
    assert!(nodes.iter().any(|n| n["elementId"] == ok["parent"]));

    let value = desk.ok("dump_ax_tree", json!({"includeText": true, "visibleOnly": false, "root": "window"}));
    let text = value.to_string();
    assert!(text.contains("ann@example.org") && text.contains("Hidden") && !text.contains("hunter2"));
    assert_eq!(value["nodes"][0]["role"], "window");
    assert!(desk.ok("dump_ax_tree", json!({"root": "desktop"})).to_string().contains("There"));
    let routed = desk.routed("dump_ax_tree", json!({}), &json!({"app": {"pid": 9}})).unwrap().0;
    assert!(routed.to_string().contains("There") && !routed.to_string().contains("\"OK\""));
}

#[test]
fn a_bound_that_is_hit_is_told_beside_the_partial_tree() {
    let desk = Desk::new(SCENE);
    for (args, limit) in [(json!({"maxNodes": 3}), "maxNodes"), (json!({"maxDepth": 1}), "maxDepth")] {
        let value = desk.ok("dump_ax_tree", args);
        assert!(value["count"].as_u64().unwrap() >= 2);
        assert_eq!(value["truncated"]["limit"], limit);
        assert_eq!(value["truncated"]["code"], "DESKTOP_AX_TRAVERSAL_LIMIT");
    }
    let slow = Desk::new(&format!("slow 50\n{SCENE}"));
    let value = slow.ok("dump_ax_tree", json!({"maxWallTimeMs": 5}));
    assert_eq!(value["truncated"]["limit"], "maxWallTimeMs");
    for args in [
        json!({"maxNodes": 0}),
        json!({"maxDepth": 5000}),
        json!({"maxWallTimeMs": 0}),
        json!({"root": "screen"}),
    ] {
        assert_eq!(desk.err("dump_ax_tree", args).code, ErrorCode::InvalidInput);
    }
    let frozen = Desk::new("window \"W\" pid=7 focused frozen");
    assert_eq!(frozen.err("dump_ax_tree", json!({})).code, ErrorCode::AppUnresponsive);
    let value = frozen.ok("dump_ax_tree", json!({"root": "desktop"}));
    assert_eq!(value["unresponsive"].as_array().unwrap().len(), 1);
}

#[test]
fn text_is_read_only_by_read_text() {
    let desk = Desk::new(SCENE);
    let by = |title: &str| json!({"byTitle": {"equals": title}});
    let value = desk.ok("read_text", json!({"selector": by("User")}));
    assert_eq!(
        value,
        json!({"text": "ann@example.org", "truncated": false, "totalBytes": 15, "redacted": 0, "role": "text_field", "label": "User"})
    );
    let value = desk.ok("read_text", json!({"selector": by("User"), "redactionMode": "mask"}));
    assert_eq!((value["text"].as_str(), value["redacted"].as_u64()), (Some("[REDACTED]"), Some(1)));
    let value = desk.ok("read_text", json!({"target": titled("User"), "limitBytes": 3}));
    assert_eq!((value["text"].as_str(), value["truncated"].as_bool()), (Some("ann"), Some(true)));
    desk.fake.run("set #long \"世界 password: hunter2 4111 1111 1111 1111\"");
    let value = desk.ok("read_text", json!({"target": titled("Log"), "limitBytes": 4}));
    assert_eq!(value["text"], "世", "cut at a character");
    let value = desk.ok("read_text", json!({"target": titled("Log")}));
    assert_eq!(value["text"], "世界 [REDACTED] [REDACTED]");
    let value = desk.ok("read_text", json!({"target": titled("Log"), "redactionMode": "none"}));
    assert!(value["text"].as_str().unwrap().contains("4111"));
    assert_eq!(desk.ok("read_text", json!({"target": titled("OK")}))["text"], "OK");

    let e = desk.err("read_text", json!({"selector": by("Password")}));
    assert_eq!(e.code, ErrorCode::SecureField);
    assert_eq!(desk.err("read_text", json!({})).code, ErrorCode::InvalidInput);
    assert_eq!(
        desk.err("read_text", json!({"selector": by("User"), "target": titled("User")})).code,
        ErrorCode::InvalidInput
    );
    assert_eq!(
        desk.err("read_text", json!({"selector": by("User"), "limitBytes": 0})).code,
        ErrorCode::InvalidInput
    );
    assert_eq!(desk.err("read_text", json!({"selector": by("Nobody")})).code, ErrorCode::ElementNotFound);
}

#[test]
fn a_highlight_is_seen_on_the_screen() {
    let desk = Desk::new(SCENE);
    let (value, report) = desk.own("highlight", json!({"target": titled("OK"), "duration": 3000}));
    assert_eq!(report.effect, Effect::Confirmed, "{}", report.why);
    assert_eq!(value["rect"]["x"], 120);
    desk.effect(
        "highlight",
        json!({"rect": {"x": 5, "y": 5, "width": 50, "height": 50}, "color": "#00ff00"}),
        Effect::Confirmed,
    );
    let cases = [
        (json!({}), "target"),
        (json!({"rect": {"x": 0, "y": 0, "width": 0, "height": 1}}), "rect"),
        (json!({"rect": {"x": 0, "y": 0, "width": 1, "height": 1}, "color": "red"}), "color"),
        (json!({"rect": {"x": 0, "y": 0, "width": 1, "height": 1}, "color": "#+fffff"}), "color"),
        (json!({"rect": {"x": 0, "y": 0, "width": 1, "height": 1}, "duration": 1e9}), "duration"),
        (json!({"rect": {"x": 0, "y": 0, "width": 1, "height": 1}, "target": titled("OK")}), "rect"),
    ];
    for (args, says) in cases {
        let e = desk.err("highlight", args);
        assert_eq!(e.code, ErrorCode::InvalidInput);
        assert!(e.message.contains(says), "{e}");
    }
}
