//! GTK 4: its places are told relative to the window, and must come out right on the screen.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use deskhand_e2e::apps::{AppDesk, effect, inside, middle, rect};
use deskhand_protocol::{Effect, Layer};
use serde_json::{Value, json};

#[test]
fn places_are_right_and_clicks_land() {
    let desk = AppDesk::with(&["gtk4-demo"]);
    let app = desk.launch("gtk4-demo", &[], "GTK Demo");
    desk.confirmed(
        "window_manage",
        json!({"window_title": "GTK Demo", "action": "move", "bounds": {"x": 61, "y": 43}}),
        &Value::Null,
    );
    let bounds = app.bounds();
    let tree = app.done("dump_ax_tree", json!({"maxNodes": 3000, "maxWallTimeMs": 30_000})).result.unwrap();
    let buttons: Vec<&Value> = tree["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|n| n["role"] == "button" && !n["rect"].is_null())
        .collect();
    assert!(buttons.len() >= 5, "{tree}");
    for node in &buttons {
        assert!(inside(rect(&node["rect"]), bounds), "{node} in {bounds:?}");
    }

    // By element: the search field comes.
    let search = json!({"byRole": "AXButton", "byTitle": {"equals": "Search"}});
    let field = json!({"byRole": "text_field"});
    let clicked = app.click(search.clone());
    assert!(clicked.effect.unwrap().hit.unwrap().contains("Search"));
    app.find(field);

    // Text goes into it and narrows the list.
    let typed = app.done("type_text", json!({"text": "Emblems"}));
    assert!(matches!(effect(&typed), Some(Effect::Confirmed)), "{:?}", typed.effect);
    app.find(json!({"byTitle": {"contains": "Emblems"}}));
    app.done(
        "wait_until",
        json!({"condition": {"elementGone": {"byTitle": {"equals": "Assistant"}}}, "timeoutMs": 60_000}),
    );

    // By the coordinates the element gives: the field goes.
    let (x, y) = middle(rect(&app.best(search)["element"]["rect"]));
    let by_hand = app.confirmed("left_click", json!({"x": x, "y": y}));
    let report = by_hand.effect.unwrap();
    assert_eq!(report.layer, Some(Layer::Coordinates));
    assert_eq!(report.at.map(|p| (i64::from(p.x), i64::from(p.y))), Some((x, y)));
    desk.until("the whole list again", || {
        let again = json!({"selector": {"byTitle": {"equals": "Assistant"}}});
        desk.try_call("find", again, &app.route()).result.map(drop)
    });

    // A click by hand in the list picks the entry that is drawn there.
    let (x, y) = middle(rect(
        &app.best(json!({"byRole": "label", "byTitle": {"equals": "Assistant"}}))["element"]["rect"],
    ));
    app.confirmed("left_click", json!({"x": x, "y": y}));
    desk.window("Assistant");
    let run = app.best(json!({"byRole": "button", "byTitle": {"equals": "Run"}}));
    assert!(run["score"].as_f64().unwrap() > 0.95, "it can be pressed now: {run}");
}
