use deskhand_protocol::{Effect, ErrorCode};
use serde_json::json;

use crate::desk::Desk;

#[test]
fn the_clipboard_is_read_and_written() {
    let desk = Desk::new("clipboard \"first\"");
    let value = desk.ok("clipboard_read", json!({}));
    assert_eq!(value["text"], "first");
    assert!(!value["formats"].as_array().unwrap().is_empty());
    assert_eq!(value.as_object().unwrap().len(), 2, "exactly text and formats");
    desk.effect("clipboard_write", json!({"text": "第二 😀"}), Effect::Confirmed);
    assert_eq!(desk.ok("clipboard_read", json!({}))["text"], "第二 😀");
    let empty = Desk::new("");
    assert_eq!(empty.ok("clipboard_read", json!({})), json!({"text": "", "formats": []}));
    assert_eq!(desk.err("clipboard_write", json!({})).code, ErrorCode::InvalidInput);
    assert_eq!(
        desk.err("clipboard_write", json!({"text": "x".repeat(1_000_001)})).code,
        ErrorCode::InvalidInput
    );
    let broken = Desk::new("broken clipboard");
    assert_eq!(broken.err("clipboard_read", json!({})).code, ErrorCode::Unsupported);
}

#[test]
fn notifications_are_shown() {
    let desk = Desk::new("");
    desk.effect(
        "notification_send",
        json!({"title": "Done", "body": "All tests pass", "urgency": "low"}),
        Effect::Confirmed,
    );
    assert_eq!(desk.fake.notifications(), [("Done".to_owned(), "All tests pass".to_owned())]);
    for args in [
        json!({"title": "x"}),
        json!({"title": " ", "body": ""}),
        json!({"title": "x", "body": "", "urgency": "mad"}),
    ] {
        assert_eq!(desk.err("notification_send", args).code, ErrorCode::InvalidInput);
    }
    let broken = Desk::new("broken notifications");
    assert_eq!(
        broken.err("notification_send", json!({"title": "x", "body": ""})).code,
        ErrorCode::Unsupported
    );
}

#[test]
fn system_info_has_the_fields_of_the_seed() {
    let desk = Desk::new("display 0 800x600 primary\ndisplay 3 1280x1024 at=800,0 scale=2");
    let value = desk.ok("system_info", json!({}));
    for field in ["os", "arch", "cpus", "memory_total", "memory_free", "displays", "session_type"] {
        assert!(!value[field].is_null(), "{field}");
    }
    assert_eq!(value["displays"][1], json!({"id": 3, "width": 1280, "height": 1024, "scale": 2.0}));
    assert_eq!(desk.err("system_info", json!({"x": 1})).code, ErrorCode::InvalidInput);
    let blind = Desk::new("broken display");
    assert_eq!(blind.ok("system_info", json!({}))["displays"], json!([]));
}
