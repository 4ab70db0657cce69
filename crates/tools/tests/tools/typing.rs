use std::time::{Duration, Instant};

use deskhand_protocol::{Effect, ErrorCode, Layer};
use deskhand_testkit::InputEvent;
use deskhand_tools::Watch;
use serde_json::json;

use crate::desk::{Desk, titled};

const MIXED: &str = "Grüße, 世界! 😀 Ωmega\nzweite Zeile";

const SCENE: &str = r#"
clipboard "precious"
window "Editor" pid=7 app="editor" focused
  text #t "Text" value="" focused
  edit #name "Name" value="Ann "
  password #pw "Password" value=""
  terminal #term "Shell" value=""
  edit #lossy "Lossy" value="" drop-text=3
  edit #fixed "Fixed" value="x" readonly
  button #ok "OK" default -> set #name "entered"
"#;

#[test]
fn each_way_is_exact_and_leaves_the_clipboard_alone() {
    for (method, layer) in [
        ("auto", Layer::Element),
        ("insert", Layer::Element),
        ("paste", Layer::Semantic),
        ("keys", Layer::Semantic),
    ] {
        let desk = Desk::new(SCENE);
        let mut args = json!({"text": MIXED, "method": method});
        if method == "keys" {
            args["delay"] = json!(0);
        }
        let (value, report) = desk.own("type_text", args);
        assert_eq!(report.effect, Effect::Confirmed, "{method}: {}", report.why);
        assert_eq!(report.layer, Some(layer));
        assert_eq!(value["characters"], MIXED.chars().count());
        assert_eq!(value["method"], if method == "auto" { "insert" } else { method });
        assert_eq!(desk.fake.value("t").as_deref(), Some(MIXED), "{method}");
        assert_eq!(desk.ok("clipboard_read", json!({}))["text"], "precious", "{method}");
    }
}

#[test]
fn a_target_gets_the_focus_and_the_text_goes_in_at_its_end() {
    let desk = Desk::new(SCENE);
    let (_, report) = desk.own("type_text", json!({"text": "Lee", "target": titled("Name")}));
    assert_eq!(report.effect, Effect::Confirmed, "{}", report.why);
    assert_eq!(desk.fake.value("name").as_deref(), Some("Ann Lee"));
    assert!(desk.fake.element("name").unwrap().states.focused);
}

#[test]
fn what_was_lost_is_told() {
    let desk = Desk::new(SCENE);
    let (value, report) = desk.own("type_text", json!({"text": "0123456789", "target": titled("Lossy")}));
    assert_eq!(report.effect, Effect::Partial, "{}", report.why);
    assert!(report.why.contains("7 of 10"), "{}", report.why);
    assert_eq!(value["success"], false);
}

#[test]
fn a_way_that_does_nothing_is_followed_by_the_next_and_nothing_is_typed_twice() {
    let desk = Desk::new(SCENE);
    // All three characters are lost: InsertText says done and nothing is there.
    let (value, report) = desk.own("type_text", json!({"text": "abc", "target": titled("Lossy")}));
    assert_eq!(report.effect, Effect::Confirmed, "{}", report.why);
    assert_eq!(value["method"], "paste");
    assert!(report.why.contains("insert"), "{}", report.why);
    assert_eq!(desk.fake.value("lossy").as_deref(), Some("abc"));
    assert_eq!(desk.ok("clipboard_read", json!({}))["text"], "precious");
}

#[test]
fn passwords_are_typed_by_keys_and_never_read_or_noted() {
    let desk = Desk::new(SCENE);
    let (value, report) = desk.own("type_text", json!({"text": "hunter2", "target": titled("Password")}));
    assert_eq!((report.effect, value["method"].as_str()), (Effect::Unverifiable, Some("keys")));
    assert_eq!(desk.fake.value("pw").as_deref(), Some("hunter2"));
    assert!(!format!("{report:?}{value}{:?}", desk.notes.lines.borrow()).contains("hunter2"));
    let e =
        desk.err("type_text", json!({"text": "hunter2", "target": titled("Password"), "method": "paste"}));
    assert_eq!(e.code, ErrorCode::InvalidInput);
    assert!(!e.to_string().contains("hunter2"));
}

#[test]
fn a_line_break_in_a_single_line_field_is_enter() {
    let desk = Desk::new(SCENE);
    let (value, watch) = desk.call("type_text", json!({"text": "Lee\n", "target": titled("Name")})).unwrap();
    assert_eq!(value["method"], "keys");
    assert!(matches!(watch, Watch::Changes { pid: Some(7), .. }), "{watch:?}");
    assert_eq!(desk.fake.value("name").as_deref(), Some("entered"));
}

#[test]
fn terminals_and_windows_without_a_tree_get_keys() {
    let desk = Desk::new(SCENE);
    let value = desk.ok("type_text", json!({"text": "ls\n", "target": titled("Shell")}));
    assert_eq!(value["method"], "keys");
    assert_eq!(desk.fake.value("term").as_deref(), Some("ls\n"));
    let dark = Desk::new("window \"xterm\" pid=7 focused no-ax\n  terminal #t \"\" value=\"\" focused");
    let (value, watch) = dark.call("type_text", json!({"text": "ls"})).unwrap();
    assert_eq!(value["method"], "keys");
    assert!(matches!(watch, Watch::Changes { .. }), "{watch:?}");
    assert_eq!(dark.fake.value("t").as_deref(), Some("ls"));
    let broken = Desk::new("broken ax\nwindow \"W\" pid=7 focused\n  text #t \"\" value=\"\" focused");
    broken.ok("type_text", json!({"text": "hi"}));
    assert_eq!(broken.fake.value("t").as_deref(), Some("hi"));
}

#[test]
fn a_broken_clipboard_only_costs_the_paste() {
    let desk = Desk::new(
        "broken clipboard\nwindow \"W\" pid=7 focused\n  edit #t \"T\" value=\"\" drop-text=9 focused",
    );
    let value = desk.ok("type_text", json!({"text": "abc"}));
    assert_eq!(value["method"], "keys");
    assert_eq!(desk.fake.value("t").as_deref(), Some("abc"));
    assert_eq!(desk.err("type_text", json!({"text": "abc", "method": "paste"})).code, ErrorCode::Unsupported);
}

#[test]
fn wrong_texts_and_places_are_refused_before_anything_is_sent() {
    let desk = Desk::new(SCENE);
    let long = "x".repeat(100_001);
    let cases = [
        (json!({"text": ""}), ErrorCode::InvalidInput, "empty"),
        (json!({"text": "a\u{1b}b"}), ErrorCode::InvalidInput, "position 1"),
        (json!({"text": long}), ErrorCode::InvalidInput, "100001"),
        (json!({"text": "a", "delay": 90000}), ErrorCode::InvalidInput, "delay"),
        (json!({"text": "a", "delay": 5, "method": "paste"}), ErrorCode::InvalidInput, "delay"),
        (json!({"text": "x".repeat(5000)}), ErrorCode::InvalidInput, "takes"),
        (json!({"text": "a", "method": "magic"}), ErrorCode::InvalidInput, "method"),
        (json!({"text": "a", "target": titled("Fixed")}), ErrorCode::NotActionable, "cannot be changed"),
        (json!({"text": "a", "target": titled("Gone")}), ErrorCode::ElementNotFound, "Gone"),
    ];
    for (mut args, code, says) in cases {
        if says == "takes" {
            args["method"] = json!("keys");
        }
        let e = desk.err("type_text", args);
        assert_eq!(e.code, code, "{says}: {e}");
        assert!(e.message.contains(says), "{e}");
    }
    assert!(!desk.fake.log().iter().any(|l| matches!(l.event, InputEvent::Key(..))));
}

#[test]
fn the_delay_lies_between_the_keys() {
    let desk = Desk::new(SCENE);
    let started = Instant::now();
    desk.effect("type_text", json!({"text": "abcde", "delay": 20}), Effect::Confirmed);
    assert!(started.elapsed() >= Duration::from_millis(80));
}

#[test]
fn an_abort_stops_typing_at_once() {
    let desk = Desk::new(SCENE);
    let cancel = desk.cancel.clone();
    let stopped = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        cancel.cancel();
        Instant::now()
    });
    let e = desk.err("type_text", json!({"text": "x".repeat(5000), "delay": 5}));
    let stopped = stopped.join().unwrap();
    assert_eq!(e.code, ErrorCode::Aborted);
    let typed = e.details["typed"].as_u64().unwrap();
    assert!(typed > 0 && typed < 5000, "{typed}");
    assert_eq!(desk.fake.value("t").map(|v| v.len() as u64), Some(typed));
    let last = desk.fake.log().last().unwrap().at;
    assert!(last < stopped + Duration::from_millis(50), "an event came {:?} after the abort", last - stopped);
}

#[test]
fn a_focus_that_is_lost_ends_the_typing() {
    let desk = Desk::new(
        "window \"A\" pid=7 focused\n  text #a \"\" value=\"\" focused\n  button #go \"Go\" -> after 150 activate \"B\"\nwindow \"B\" pid=9\n  text #b \"\" value=\"\" focused",
    );
    desk.ok("click", json!({"target": titled("Go")}));
    desk.fake.run("focus #a");
    let route = json!({"window": {"titlePattern": "A"}, "focusPolicy": "requireFocused"});
    let text = "y".repeat(400);
    let e = desk.routed("type_text", json!({"text": text, "delay": 10}), &route).unwrap_err();
    assert_eq!(e.code, ErrorCode::FocusLost, "{e}");
    assert_eq!(e.details["frontmost"]["title"], "B");
    assert!(e.details["typed"].as_u64().unwrap() < 200);
    // At most what lies between two looks at the focus went astray.
    assert!(desk.fake.value("b").unwrap().len() <= 21, "{:?}", desk.fake.value("b"));
}
