use deskhand_protocol::{ErrorCode, Layer, Risk};
use expect_test::expect;
use serde_json::json;

use crate::desk::Desk;

const EDITOR: &str = r#"
window "Editor" pid=7 app="editor" focused
  text #t "Text" value="hello" focused
  button #save "Save" key=ctrl+s -> set #t "saved"
"#;

#[test]
fn chords_are_pressed_in_order_and_released_in_reverse() {
    let desk = Desk::new(EDITOR);
    let (value, report) = desk.watched("key_press", json!({"keys": ["ctrl", "s"]}));
    assert_eq!(value, json!({"success": true, "keys": ["ctrl", "s"]}));
    assert_eq!(report.layer, Some(Layer::Semantic));
    assert_eq!(report.hit.as_deref(), Some("window \"Editor\""));
    assert_eq!(desk.fake.value("t").as_deref(), Some("saved"));
    desk.watched("hotkey", json!({"keys": ["Alt", "Tab"], "reason": "go to the other window"}));
    expect![[r#"
        key ctrl down
        key s down
        key s up
        key ctrl up
        key alt down
        key Tab down
        key Tab up
        key alt up
    "#]]
    .assert_eq(&desk.fake.log_text());
    assert_eq!(*desk.notes.lines.borrow(), ["reason: go to the other window"]);
}

#[test]
fn wrong_keys_and_missing_reasons_are_refused() {
    let desk = Desk::new(EDITOR);
    let cases = [
        ("key_press", json!({"keys": []}), "keys"),
        ("key_press", json!({"keys": ["ctrl", "sss"]}), "keys[1]"),
        ("key_press", json!({"keys": "ctrl"}), "keys"),
        ("hotkey", json!({"keys": ["alt", "tab"]}), "reason"),
        ("hotkey", json!({"keys": ["alt", "tab"], "reason": "  "}), "reason"),
        ("hotkey", json!({"keys": ["nope"], "reason": "x"}), "keys[0]"),
    ];
    for (tool, args, says) in cases {
        let e = desk.err(tool, args.clone());
        assert_eq!(e.code, ErrorCode::InvalidInput, "{tool} {args}: {e}");
        assert!(e.message.contains(says), "{tool} {args}: {e}");
    }
    assert_eq!(desk.fake.log_text(), "");
}

#[test]
fn arguments_raise_the_risk() {
    let cases = [
        ("key_press", json!({"keys": ["ctrl", "c"]}), None),
        ("key_press", json!({"keys": ["alt", "f4"]}), Some(Risk::High)),
        ("app_close", json!({"name": "x"}), None),
        ("app_close", json!({"name": "x", "force": true}), Some(Risk::High)),
        ("app_launch", json!({"name": "bash", "args": ["-c", "id"]}), Some(Risk::High)),
        ("app_launch", json!({"name": "pkexec"}), Some(Risk::Critical)),
    ];
    for (tool, args, want) in cases {
        let parsed = deskhand_tools::find(tool).unwrap().parse(args.clone()).unwrap();
        assert_eq!(parsed.assess().raise_to, want, "{tool} {args}");
    }
    let force =
        deskhand_tools::find("app_close").unwrap().parse(json!({"name": "x", "force": true})).unwrap();
    assert!(force.assess().why[0].contains("L4"));
}

#[test]
fn keys_go_only_to_the_routed_window() {
    let desk = Desk::new(
        "window \"A\" pid=7 focused\n  text #a \"\" value=\"\" focused\nwindow \"B\" pid=9\n  text #b \"\" value=\"\" focused",
    );
    let b = |policy: &str| json!({"window": {"titlePattern": "B"}, "focusPolicy": policy});
    let e = desk.routed("key_press", json!({"keys": ["x"]}), &b("failIfNotFocused")).unwrap_err();
    assert_eq!(e.code, ErrorCode::FocusLost);
    let e = desk.routed("key_press", json!({"keys": ["x"]}), &b("requireFocused")).unwrap_err();
    assert_eq!(e.code, ErrorCode::FocusLost);
    assert_eq!(desk.fake.log_text(), "");
    desk.routed("key_press", json!({"keys": ["x"]}), &b("focusIfNeeded")).unwrap();
    assert_eq!((desk.fake.value("a").unwrap(), desk.fake.value("b").unwrap()), (String::new(), "x".into()));
}
