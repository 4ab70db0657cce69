//! GTK 4: its places are told relative to the window, and must come out right on the screen.

use deskhand_e2e::apps::{AppDesk, PATIENCE, inside, middle, rect};
use deskhand_e2e::wait_for;
use deskhand_protocol::Layer;
use serde_json::{Value, json};

#[test]
fn places_are_right_and_clicks_land() {
    let desk = AppDesk::with(&["gtk4-widget-factory"]);
    let app = desk.launch("gtk4-widget-factory", &[], "Widget Factory");
    desk.confirmed("window_manage", json!({"window_title": "Widget Factory", "action": "move", "bounds": {"x": 61, "y": 43}}), &Value::Null);
    let bounds = app.bounds();
    let tree = app.done("dump_ax_tree", json!({"maxNodes": 3000, "maxWallTimeMs": 30_000})).result.unwrap();
    let shown: Vec<&Value> = tree["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|n| n["role"] == "check_box" || n["role"] == "radio_button")
        .filter(|n| !n["rect"].is_null())
        .collect();
    assert!(shown.len() >= 4, "{tree}");
    for node in &shown {
        assert!(inside(rect(&node["rect"]), bounds), "{node} in {bounds:?}");
    }

    // By element, then by the coordinates it gives: the box is ticked and unticked.
    let selector = json!({"byRole": "check_box", "byTitle": {"equals": "checkbutton"}});
    let ticked = || {
        let tree = app.done("dump_ax_tree", json!({"maxNodes": 3000, "maxWallTimeMs": 30_000})).result.unwrap();
        let nodes = tree["nodes"].as_array().unwrap().clone();
        let first = nodes.into_iter().find(|n| n["role"] == "check_box" && n["label"] == "checkbutton").expect("the box");
        first["states"].as_array().unwrap().contains(&json!("checked"))
    };
    let before = ticked();
    let clicked = app.click(selector.clone());
    assert!(clicked.effect.unwrap().hit.unwrap().contains("checkbutton"));
    wait_for("the other state", PATIENCE, || (ticked() != before).then_some(()));
    let place = rect(&app.best(selector)["element"]["rect"]);
    let (x, y) = middle(place);
    let by_hand = app.confirmed("left_click", json!({"x": x, "y": y}));
    assert_eq!(by_hand.effect.unwrap().layer, Some(Layer::Coordinates));
    wait_for("the first state", PATIENCE, || (ticked() == before).then_some(()));

    // Text into an entry.
    let entry = app.best(json!({"byRole": "text_field"}));
    let target = json!({"elementRef": entry["element"]});
    app.done("key_press", json!({"keys": ["escape"]}));
    let typed = app.done("type_text", json!({"text": "中文 😀", "target": target}));
    assert_eq!(typed.result.unwrap()["characters"], 4);
    let tree = app.done("dump_ax_tree", json!({"includeText": true, "maxNodes": 3000, "maxWallTimeMs": 30_000})).result.unwrap();
    assert!(tree.to_string().contains("中文 😀"), "the entry has the text");
}
