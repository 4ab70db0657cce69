use deskhand_protocol::{Effect, ErrorCode};
use serde_json::json;

use crate::desk::Desk;

const SCENE: &str = r#"
app "Text Editor" launches window "Document" program="gedit" id="org.gnome.gedit" names="文本编辑器"
app "Daemon"
window "Main" pid=7 app="editor" at=100,100 size=400x300 focused
window "Tool" pid=9 app="tool" at=600,100 size=300x200
window "Stubborn" pid=11 app="mule" stubborn
window "Hidden" pid=13 app="ghost" minimized
hidden window "Document" app="gedit"
"#;

#[test]
fn the_list_has_exactly_the_fields_of_the_seed() {
    let desk = Desk::new(SCENE);
    let value = desk.ok("app_list", json!({}));
    assert_eq!(value["apps"][0], json!({"name": "editor", "pid": 7, "windows": []}));
    let value = desk.ok("app_list", json!({"include_windows": true}));
    let window = &value["apps"][0]["windows"][0];
    assert_eq!(window["title"], "Main");
    assert_eq!(window["bounds"], json!({"x": 100, "y": 100, "width": 400, "height": 300}));
    assert_eq!(window["focused"], true);
    assert_eq!(window["windowId"].as_u64(), desk.fake.window("Main").map(|w| w.0));
    assert_eq!(desk.err("app_list", json!({"windows": true})).code, ErrorCode::InvalidInput);
}

#[test]
fn launching_waits_for_the_window() {
    for name in ["Text Editor", "gedit", "org.gnome.gedit", "文本编辑器"] {
        let desk = Desk::new(SCENE);
        let value = desk.effect("app_launch", json!({"name": name}), Effect::Confirmed);
        assert_eq!(value["name"], "Text Editor");
        assert_eq!(value["window"]["title"], "Document");
        assert!(value["pid"].as_u64().unwrap() > 0);
    }
    let desk = Desk::new(SCENE);
    let value = desk.effect("app_launch", json!({"name": "Daemon", "args": ["-x"]}), Effect::Partial);
    assert!(value.get("window").is_none());
    let e = desk.err("app_launch", json!({"name": "nosuch"}));
    assert_eq!(e.code, ErrorCode::AppNotFound);
    assert_eq!(desk.err("app_launch", json!({"name": " "})).code, ErrorCode::InvalidInput);
    assert_eq!(
        desk.err("app_launch", json!({"name": "gedit", "args": ["a\u{0}b"]})).code,
        ErrorCode::InvalidInput
    );
    assert_eq!(
        desk.err("app_launch", json!({"name": "gedit", "args": vec!["a"; 65]})).code,
        ErrorCode::InvalidInput
    );
}

#[test]
fn switching_gives_the_focus() {
    let desk = Desk::new(SCENE);
    for (name, title) in [("tool", "Tool"), ("7", "Main"), ("GHOST", "Hidden"), ("Stubb", "Stubborn")] {
        let value = desk.effect("app_switch", json!({"name": name}), Effect::Confirmed);
        assert_eq!(value["window"]["title"], title, "{name}");
        assert_eq!(value["window"]["focused"], true);
    }
    let e = desk.err("app_switch", json!({"name": "nobody"}));
    assert_eq!(e.code, ErrorCode::AppNotFound);
    assert!(e.details["running"].as_array().unwrap().len() >= 4);
    // A program without a window.
    desk.ok("app_launch", json!({"name": "Daemon"}));
    assert_eq!(desk.err("app_switch", json!({"name": "Daemon"})).code, ErrorCode::WindowNotFound);
}

#[test]
fn switching_to_a_blocked_window_shows_its_dialog() {
    let desk = Desk::new(
        "window \"A\" pid=7 app=\"a\"\nwindow \"Ask\" pid=7 modal for=\"A\"\nwindow \"B\" pid=9 app=\"b\" focused",
    );
    let value = desk.effect("app_switch", json!({"name": "a"}), Effect::Confirmed);
    assert_eq!(value["window"]["title"], "Ask");
}

#[test]
fn closing_says_what_is_gone() {
    let desk = Desk::new(SCENE);
    let value = desk.effect("app_close", json!({"name": "tool"}), Effect::Confirmed);
    assert_eq!((&value["closed"], &value["open"]), (&json!([9]), &json!([])));
    assert!(desk.fake.window("Tool").is_none());
    let value = desk.effect("app_close", json!({"name": "mule"}), Effect::SuspectedNoop);
    assert_eq!((value["success"].as_bool(), &value["open"]), (Some(false), &json!([11])));
    desk.effect("app_close", json!({"name": "11", "force": true}), Effect::Confirmed);
    assert_eq!(desk.err("app_close", json!({"name": "11"})).code, ErrorCode::AppNotFound);
    let asking =
        Desk::new("window \"A\" pid=7 app=\"a\" stubborn focused\nwindow \"Save?\" pid=7 modal for=\"A\"");
    let value = asking.effect("app_close", json!({"name": "a"}), Effect::Partial);
    assert_eq!(value["dialog"]["title"], "Save?");
}

#[test]
fn windows_are_changed_and_looked_at() {
    let desk = Desk::new(SCENE);
    let call = |args| desk.effect("window_manage", args, Effect::Confirmed);
    assert_eq!(call(json!({"window_title": "Main", "action": "maximize"}))["maximized"], true);
    let value = call(json!({"window_title": "main", "action": "restore"}));
    assert_eq!(value["window"]["bounds"]["width"], 400);
    assert_eq!(call(json!({"window_title": "Main", "action": "minimize"}))["window"]["minimized"], true);
    call(json!({"window_title": "Main", "action": "restore"}));
    let value = call(json!({"window_title": "Main", "action": "move", "bounds": {"x": 5, "y": 7.4}}));
    assert_eq!(value["window"]["bounds"], json!({"x": 5, "y": 7, "width": 400, "height": 300}));
    let value =
        call(json!({"window_title": "Main", "action": "resize", "bounds": {"width": 500, "height": 350}}));
    assert_eq!(value["window"]["bounds"], json!({"x": 5, "y": 7, "width": 500, "height": 350}));
    let cases = [
        (json!({"window_title": "Nope", "action": "maximize"}), ErrorCode::WindowNotFound, "Nope"),
        (json!({"window_title": "", "action": "maximize"}), ErrorCode::InvalidInput, "window_title"),
        (json!({"window_title": "Main", "action": "close"}), ErrorCode::InvalidInput, "action"),
        (json!({"window_title": "Main", "action": "move"}), ErrorCode::InvalidInput, "bounds"),
        (
            json!({"window_title": "Main", "action": "move", "bounds": {"width": 5}}),
            ErrorCode::InvalidInput,
            "x nor y",
        ),
        (
            json!({"window_title": "Main", "action": "resize", "bounds": {"width": 0}}),
            ErrorCode::InvalidInput,
            "bounds.width",
        ),
        (
            json!({"window_title": "Main", "action": "maximize", "bounds": {"width": 5}}),
            ErrorCode::InvalidInput,
            "bounds",
        ),
    ];
    for (args, code, says) in cases {
        let e = desk.err("window_manage", args);
        assert_eq!(e.code, code, "{e}");
        assert!(e.message.contains(says), "{e}");
    }
}
