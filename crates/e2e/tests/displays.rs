//! Two monitors, odd sizes, exact places.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use deskhand_e2e::{LiveHost, LiveOptions};
use deskhand_protocol::{CallOptions, ErrorCode};
use serde_json::{Value, json};

fn cursor(live: &LiveHost) -> (i64, i64) {
    let seen = live.ok("observe", json!({"screenshot": false}));
    (seen["cursor"]["x"].as_i64().unwrap(), seen["cursor"]["y"].as_i64().unwrap())
}

#[test]
fn with_two_monitors_a_coordinate_needs_its_display() {
    let live = LiveHost::with(&LiveOptions {
        size: (1281, 801),
        second: Some((1023, 767)),
        ..LiveOptions::default()
    });
    let displays = live.ok("system_info", json!({}))["displays"].clone();
    assert_eq!(displays.as_array().unwrap().len(), 2, "{displays}");
    let refused = live.call("left_click", json!({"x": 1500, "y": 100}));
    let error = refused.error.expect("it must be refused");
    assert_eq!(error.code, ErrorCode::DisplayRequired, "{error}");
    assert_eq!(error.details["displays"].as_array().unwrap().len(), 2);
    let second = displays.as_array().unwrap().iter().find(|d| d["width"] == 1023).unwrap()["id"].clone();
    let first = displays.as_array().unwrap().iter().find(|d| d["width"] == 1281).unwrap()["id"].clone();
    let lands =
        live.routed("left_click", json!({"x": 1500, "y": 100}), json!({"display": {"displayId": second}}));
    assert!(lands.error.is_none(), "{:?}", lands.error);
    assert_eq!(cursor(&live), (1500, 100));
    let wrong =
        live.routed("left_click", json!({"x": 1500, "y": 100}), json!({"display": {"displayId": first}}));
    let error = wrong.error.unwrap();
    assert_eq!(error.code, ErrorCode::OutOfRange);
    assert_eq!(error.details["valid"]["width"], 1281);
    let nowhere = live.routed("left_click", json!({"x": 5, "y": 5}), json!({"display": {"displayId": 77}}));
    assert_eq!(nowhere.error.unwrap().code, ErrorCode::InvalidInput);
    // A picture of one display names it.
    let shot = live
        .routed("screenshot", json!({"mode": "fullscreen"}), json!({"display": {"displayId": second}}))
        .result
        .unwrap();
    assert_eq!((shot["width"].as_u64(), shot["height"].as_u64()), (Some(1023), Some(767)));
    let click = live.call("left_click", json!({"x": 10, "y": 20, "screenshotId": shot["screenshotId"]}));
    assert!(click.error.is_none(), "{:?}", click.error);
    assert_eq!(cursor(&live), (1281 + 10, 20));
}

#[test]
fn places_in_a_scaled_screenshot_map_back_exactly() {
    let (w, h) = (2561u32, 1441u32);
    let live = LiveHost::with(&LiveOptions { size: (w, h), ..LiveOptions::default() });
    let shot = live.ok("screenshot", json!({"mode": "fullscreen"}));
    let (iw, ih) = (shot["width"].as_u64().unwrap(), shot["height"].as_u64().unwrap());
    assert_eq!(iw, 1568);
    let back = |at: u64, image: u64, edge: u64| i64::try_from((at * 2 + 1) * edge / (image * 2)).unwrap();
    for (x, y) in [(0, 0), (1, 1), (783, 441), (iw - 1, ih - 1), (1003, 7), (17, 700)] {
        let args = json!({"x": x, "y": y, "screenshotId": shot["screenshotId"], "smooth": false});
        live.ok("mouse_move", args);
        assert_eq!(cursor(&live), (back(x, iw, u64::from(w)), back(y, ih, u64::from(h))), "{x},{y}");
    }
    for (x, y) in [(iw, 0), (0, ih)] {
        let args = json!({"x": x, "y": y, "screenshotId": shot["screenshotId"]});
        assert_eq!(live.call("mouse_move", args).error.unwrap().code, ErrorCode::OutOfRange);
    }
    let region = live.ok(
        "screenshot",
        json!({"mode": "region", "region": {"x": 101, "y": 203, "width": 333, "height": 77}}),
    );
    live.ok("mouse_move", json!({"x": 5, "y": 6, "screenshotId": region["screenshotId"], "smooth": false}));
    assert_eq!(cursor(&live), (106, 209));
    let unknown = live.call("mouse_move", json!({"x": 5, "y": 6, "screenshotId": "shot-none"}));
    assert_eq!(unknown.error.unwrap().code, ErrorCode::StaleSnapshot);
}

#[test]
fn coordinates_outside_are_refused_with_the_valid_range() {
    let live = LiveHost::start();
    for (x, y) in [(-1.0, 5.0), (1280.0, 5.0), (5.0, 900.0), (1e12, 0.0)] {
        let outcome = live.full("left_click", json!({"x": x, "y": y}), None, CallOptions::default(), None);
        let error = outcome.error.expect("refused");
        assert_eq!(error.code, ErrorCode::OutOfRange, "{x},{y}: {error}");
        assert_eq!(error.details["valid"], json!({"x": 0, "y": 0, "width": 1280, "height": 900}));
        assert!(error.hint.contains("1279") && error.hint.contains("899"), "{}", error.hint);
    }
    let edge: Value = live.ok("mouse_move", json!({"x": 1279, "y": 899, "smooth": false}));
    assert!(edge.is_object());
    assert_eq!(cursor(&live), (1279, 899));
}
