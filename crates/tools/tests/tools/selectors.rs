use deskhand_protocol::ErrorCode;
use serde_json::{Value, json};

use crate::desk::Desk;

const SCENE: &str = r#"
window "Form" pid=7 at=0,0 size=800x600 focused
  label #l1 "Name" at=20,40 size=80x24
  edit #name "" label="Name" value="Ann" at=120,40 size=200x24
  label #l2 "City" at=20,80 size=80x24
  edit #city "" label="City" value="Ulm" at=120,80 size=200x24
  button #save "Save As…" at=20,120 size=80x24 description="writes the file"
  button #save2 "Save" at=120,120 size=80x24
  button #ok1 "OK" at=20,200 size=80x24
  button #ok2 "OK" at=20,400 size=80x24
  button #off "Go" at=20,440 size=80x24 disabled
  button #on "Go" at=120,440 size=80x24
  tabs "Pages" at=400,40 size=300x60
    tab #one "One"
    tab #two "Two"
"#;

#[test]
fn every_strategy_finds_its_element() {
    let desk = Desk::new(SCENE);
    let cases: &[(Value, &str)] = &[
        (json!({"byTitle": {"equals": "Save"}}), "save2"),
        (json!({"byTitle": {"equals": "Save As..."}}), "save"),
        (json!({"byTitle": {"contains": "save a"}}), "save"),
        (json!({"byTitle": {"regex": "^Save$"}}), "save2"),
        (json!({"byLabel": {"equals": "City"}, "byRole": "edit"}), "city"),
        (json!({"byLabel": {"contains": "writes"}}), "save"),
        (json!({"byValue": {"equals": "Ulm"}}), "city"),
        (json!({"byIdentifier": "ok2"}), "ok2"),
        (json!({"byRole": "AXTab"}), "one"),
        (json!({"byRole": "tab", "byTitle": {"equals": "Two"}}), "two"),
        (json!({"byPath": [3]}), "city"),
        (json!({"byPath": [10, 1]}), "two"),
        (json!({"byTitle": {"equals": "OK"}}), "ok1"),
        (
            json!({"byTitle": {"equals": "OK"}, "byRect": {"x": 0, "y": 380, "width": 300, "height": 60}}),
            "ok2",
        ),
        (
            json!({"byRole": "button", "near": {"anchor": {"byIdentifier": "city"}, "maxDistance": 60}}),
            "save2",
        ),
        (json!({"byTitle": {"equals": "Go"}}), "on"),
    ];
    for (selector, id) in cases {
        let value = desk.ok("find", json!({"selector": selector}));
        let want = desk.fake.element(id).unwrap().rect.unwrap();
        assert_eq!(value["chosen"]["rect"], json!(want), "{selector}: {}", value["reason"]);
        let best = &value["candidates"][0];
        assert_eq!((best["chosen"].as_bool(), &best["element"]), (Some(true), &value["chosen"]));
        assert!(!value["reason"].as_str().unwrap().is_empty());
    }
}

#[test]
fn candidates_are_scored_limited_and_counted() {
    let desk = Desk::new(SCENE);
    let value = desk.ok("find", json!({"selector": {"byRole": "button"}, "limit": 2}));
    assert_eq!((value["found"].as_u64(), value["candidates"].as_array().map(Vec::len)), (Some(6), Some(2)));
    let score = |i: usize| value["candidates"][i]["score"].as_f64().unwrap();
    assert!(score(0) >= score(1));
    let value = desk.ok("find", json!({"selector": {"byTitle": {"equals": "OK"}}}));
    assert!(value["reason"].as_str().unwrap().contains("first of 2 equal"), "{}", value["reason"]);
}

#[test]
fn nothing_found_names_near_misses() {
    let desk = Desk::new(SCENE);
    let e = desk.err("find", json!({"selector": {"byTitle": {"equals": "Save"}, "byRole": "check_box"}}));
    assert_eq!(e.code, ErrorCode::ElementNotFound);
    assert_eq!(e.details["candidates"][0]["label"], "Save");
    assert_eq!(e.details["frontmost"]["title"], "Form");
    assert!(e.retryable);
}

#[test]
fn wrong_selectors_name_the_field() {
    let desk = Desk::new(SCENE);
    let cases = [
        (json!({"selector": {}}), "selector"),
        (json!({}), "selector"),
        (json!({"selector": {"byTitle": {"regex": "("}}}), "byTitle.regex"),
        (json!({"selector": {"byTitle": {"contains": " "}}}), "byTitle.contains"),
        (json!({"selector": {"byTitle": "OK"}}), "byTitle"),
        (json!({"selector": {"byName": {"equals": "x"}}}), "byName"),
        (json!({"selector": {"byRole": ""}}), "byRole"),
        (json!({"selector": {"byRole": "button"}, "limit": 0}), "limit"),
    ];
    for (args, says) in cases {
        let e = desk.err("find", args.clone());
        assert_eq!(e.code, ErrorCode::InvalidInput, "{args}: {e}");
        assert!(e.message.contains(says), "{args}: {e}");
    }
}

#[test]
fn a_reference_is_good_until_its_element_changes() {
    let desk = Desk::new(SCENE);
    let find = || desk.ok("find", json!({"selector": {"byIdentifier": "ok1"}}))["chosen"].clone();
    let read = |r: &Value| desk.call("read_text", json!({"target": {"elementRef": r}}));
    let reference = find();
    assert!(read(&reference).is_ok());
    for effect in ["rename #ok1 \"Yes\"", "remove #ok1"] {
        let reference = find();
        desk.fake.run(effect);
        assert_eq!(read(&reference).unwrap_err().code, ErrorCode::StaleSnapshot, "{effect}");
    }
    let mut forged = desk.ok("find", json!({"selector": {"byIdentifier": "ok2"}}))["chosen"].clone();
    forged["fingerprint"] = json!("00000000.00000000");
    assert_eq!(read(&forged).unwrap_err().code, ErrorCode::StaleSnapshot);
    forged["snapshotId"] = json!("snap-unknown");
    assert_eq!(read(&forged).unwrap_err().code, ErrorCode::StaleSnapshot);
}

#[test]
fn a_dialog_of_the_routed_window_is_searched_too() {
    let desk = Desk::new(
        "window \"Main\" pid=7 focused\n  button \"A\"\nwindow \"Ask\" pid=7 dialog for=\"Main\"\n  button \"Yes\"\nwindow \"Second\" pid=7\n  button \"No\"",
    );
    let route = json!({"window": {"titlePattern": "Main"}});
    assert!(desk.routed("find", json!({"selector": {"byTitle": {"equals": "Yes"}}}), &route).is_ok());
    let e = desk.routed("find", json!({"selector": {"byTitle": {"equals": "No"}}}), &route).unwrap_err();
    assert_eq!(e.code, ErrorCode::ElementNotFound);
}
