//! KCalc and FeatherPad (Qt 5): buttons pressed by name, a result read, a menu picked.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use deskhand_e2e::apps::{App, AppDesk, inside, mixed, rect, same_text};
use deskhand_protocol::{Effect, Layer};
use serde_json::json;

fn press(app: &App<'_>, label: &str) {
    app.click(json!({"byRole": "AXButton", "byTitle": {"equals": label}}));
}

/// What the calculator shows, wherever its tree keeps it.
fn shows(app: &App<'_>, number: &str) -> bool {
    let tree =
        app.done("dump_ax_tree", json!({"includeText": true, "maxWallTimeMs": 20_000})).result.unwrap();
    tree["nodes"].as_array().unwrap().iter().any(|n| {
        let plain = n["role"] != "button" && n["role"] != "toggle_button";
        plain && (n["value"] == number || n["label"] == number)
    })
}

#[test]
fn kcalc_adds() {
    let desk = AppDesk::with(&["kcalc"]);
    let app = desk.launch("kcalc", &[], "KCalc");
    let bounds = app.bounds();
    let one = app.best(json!({"byRole": "button", "byTitle": {"equals": "1"}}));
    assert!(inside(rect(&one["element"]["rect"]), bounds), "{one} in {bounds:?}");
    for key in ["1", "2", "+", "3"] {
        press(&app, key);
    }
    desk.until("3 on the display", || shows(&app, "3").then_some(()));
    let outcome = app.click(json!({"byRole": "button", "byTitle": {"equals": "="}}));
    let report = outcome.effect.unwrap();
    assert_eq!(report.layer, Some(Layer::Element), "{report:?}");
    assert!(report.hit.unwrap().contains('='));
    desk.until("15 on the display", || shows(&app, "15").then_some(()));

    // The same by coordinates: what was hit is told.
    let place = rect(&one["element"]["rect"]);
    let clicked =
        app.confirmed("left_click", json!({"x": place[0] + place[2] / 2, "y": place[1] + place[3] / 2}));
    let report = clicked.effect.unwrap();
    assert_eq!(report.layer, Some(Layer::Coordinates));
    // The button; a machine under load may only find the time to name the window.
    let hit = report.hit.as_deref().unwrap_or_default();
    assert!(hit == "button \"1\"" || hit.starts_with("window"), "{report:?}");
    desk.until("1 on the display", || shows(&app, "1").then_some(()));

    // A menu: science mode brings more buttons.
    let picked = app.done("menu_pick", json!({"path": ["Settings", "Science Mode"]})).effect.unwrap();
    assert!(matches!(picked.effect, Effect::Confirmed | Effect::Unverifiable), "{picked:?}");
    app.find(json!({"byRole": "button", "byTitle": {"regex": "^(?i:sin)"}}));
}

#[test]
fn featherpad_takes_any_text() {
    let desk = AppDesk::with(&["featherpad"]);
    let app = desk.launch("featherpad", &["--standalone"], "Untitled");
    let area = json!({"byRole": "text_area"});
    let text = "Qt 中文 😀\nΩμέγα";
    app.confirmed("type_text", json!({"text": text, "target": {"selector": area}}));
    same_text(&app.text(area.clone()), text);
    app.done("key_press", json!({"keys": ["ctrl", "a"]}));
    app.done("key_press", json!({"keys": ["delete"]}));
    let long = mixed(2000, 80);
    app.confirmed("type_text", json!({"text": long, "target": {"selector": area}}));
    same_text(&app.text(area), &long);
    let picked = app.confirmed("menu_pick", json!({"path": ["File", "Save As..."]}));
    assert_eq!(picked.effect.unwrap().layer, Some(Layer::Semantic));
    let dialog = desk.app("Save as");
    let file = desk.files().join("feather 羽.txt");
    dialog.ready();
    dialog.done("key_press", json!({"keys": ["ctrl", "a"]}));
    dialog.done("type_text", json!({"text": file.to_str().unwrap()}));
    dialog.enter_until_gone();
    let saved =
        desk.until("the file", || std::fs::read_to_string(&file).ok().filter(|t| t.len() >= long.len()));
    same_text(saved.trim_end_matches('\n'), &long);
}
