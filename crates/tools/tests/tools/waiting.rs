use std::time::{Duration, Instant};

use deskhand_protocol::ErrorCode;
use serde_json::json;

use crate::desk::{Desk, titled};

const SCENE: &str = r#"
window "Main" pid=7 at=0,0 size=800x600 focused
  label #l "Loading" at=20,40 size=200x24
  button #later "Later" at=20,80 size=80x24 hidden
  edit #t "Field" value="" at=20,120 size=200x24
  password #pw "Password" value="x" at=20,320 size=200x24
  button #a "Show" at=20,160 size=80x24 -> after 150 show #later
  button #b "Gone" at=20,200 size=80x24 -> after 150 hide #l
  button #c "Open" at=20,240 size=80x24 -> after 150 open "Result 42"
  button #d "Fill" at=20,280 size=80x24 -> after 150 set #t "all done now"
hidden window "Result 42" pid=7
"#;

#[test]
fn conditions_are_met_when_they_come_true() {
    let cases = [
        ("Show", json!({"elementExists": {"byTitle": {"equals": "Later"}}})),
        ("Gone", json!({"elementGone": {"byTitle": {"equals": "Loading"}}})),
        ("Open", json!({"windowTitle": {"regex": "^Result \\d+$"}})),
        ("Fill", json!({"textContains": {"selector": {"byTitle": {"equals": "Field"}}, "text": "done"}})),
    ];
    for (button, condition) in cases {
        let desk = Desk::new(SCENE);
        let e = desk.err("wait_until", json!({"condition": condition, "timeoutMs": 30}));
        assert_eq!(e.code, ErrorCode::Timeout, "{button}: {e}");
        assert!(e.details.contains_key("state") && e.details["frontmost"]["title"] == "Main");
        desk.ok("click", json!({"target": titled(button)}));
        let value = desk.ok("wait_until", json!({"condition": condition, "timeoutMs": 20000}));
        assert_eq!(value["met"], true);
        let waited = value["waitedMs"].as_u64().unwrap();
        assert!(waited < 15_000, "{button}: {value}");
        // It holds already: one look.
        let again = desk.ok("wait_until", json!({"condition": condition, "timeoutMs": 0}));
        assert_eq!(again["checks"], 1);
        if button == "Show" {
            desk.ok("highlight", json!({"target": {"elementRef": again["element"]}}));
        }
    }
}

#[test]
fn a_still_screen_is_told_from_a_moving_one() {
    let desk = Desk::new("window \"W\" pid=7 focused\n  label #l \"\" value=\"\"");
    let value = desk.ok("wait_until", json!({"condition": {"screenStable": 40}}));
    assert!(value["waitedMs"].as_u64().unwrap() >= 40);
    let fake = desk.fake.clone();
    let moving = std::thread::spawn(move || {
        let until = Instant::now() + Duration::from_millis(600);
        while Instant::now() < until {
            fake.run("set #l \"x\"");
            std::thread::sleep(Duration::from_millis(5));
        }
    });
    let e = desk.err("wait_until", json!({"condition": {"screenStable": 250}, "timeoutMs": 300}));
    assert_eq!(e.code, ErrorCode::Timeout);
    assert!(e.details["state"]["changed"].is_array());
    moving.join().unwrap();
}

#[test]
fn wrong_conditions_fail_at_once() {
    let desk = Desk::new(SCENE);
    let cases = [
        (json!({"condition": {}}), ErrorCode::InvalidInput),
        (json!({"condition": {"windowTitle": {"regex": "("}}}), ErrorCode::InvalidInput),
        (json!({"condition": {"elementExists": {}}}), ErrorCode::InvalidInput),
        (json!({"condition": {"screenStable": 0}}), ErrorCode::InvalidInput),
        (json!({"condition": {"screenStable": 5}, "timeoutMs": 9_000_000}), ErrorCode::InvalidInput),
        (json!({"condition": {"moonIsFull": true}}), ErrorCode::InvalidInput),
        (
            json!({"condition": {"textContains": {"selector": {"byTitle": {"equals": "Field"}}, "text": ""}}}),
            ErrorCode::InvalidInput,
        ),
        (
            json!({"condition": {"textContains": {"selector": {"byTitle": {"equals": "Password"}}, "text": "x"}}}),
            ErrorCode::SecureField,
        ),
    ];
    for (args, code) in cases {
        let started = Instant::now();
        assert_eq!(desk.err("wait_until", args.clone()).code, code, "{args}");
        assert!(started.elapsed() < Duration::from_secs(8), "{args} waited");
    }
}

#[test]
fn an_application_that_is_silent_is_not_taken_for_gone() {
    let desk = Desk::new("window \"W\" pid=7 focused frozen\n  button \"B\"");
    let e = desk.err(
        "wait_until",
        json!({"condition": {"elementGone": {"byTitle": {"equals": "B"}}}, "timeoutMs": 100}),
    );
    assert_eq!(e.code, ErrorCode::Timeout, "{e}");
    assert_eq!(e.details["state"]["error"]["code"], "DESKTOP_APP_UNRESPONSIVE");
    let desk = Desk::new("broken ax\nwindow \"W\" pid=7 focused");
    let e = desk.err(
        "wait_until",
        json!({"condition": {"elementGone": {"byTitle": {"equals": "B"}}}, "timeoutMs": 100}),
    );
    assert_eq!(e.code, ErrorCode::Timeout, "{e}");
}

#[test]
fn an_abort_ends_the_wait() {
    let desk = Desk::new(SCENE);
    let cancel = desk.cancel.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(60));
        cancel.cancel();
    });
    let e = desk.err(
        "wait_until",
        json!({"condition": {"elementExists": {"byTitle": {"equals": "Never"}}}, "timeoutMs": 60000}),
    );
    assert_eq!(e.code, ErrorCode::Aborted);
}
