//! Mousepad (GTK 3): every selector strategy, typing in every way, menus, saving, mouse.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use deskhand_e2e::apps::{App, AppDesk, inside, middle, mixed, rect, same_text};
use deskhand_protocol::{Effect, ErrorCode, Layer};
use serde_json::{Value, json};

fn editor(desk: &AppDesk) -> App<'_> {
    desk.launch("mousepad", &["--disable-server"], "Mousepad")
}

fn area() -> Value {
    json!({"byRole": "text_area"})
}

/// Empties the editor, as a person does.
fn clear(app: &App<'_>) {
    app.done("key_press", json!({"keys": ["ctrl", "a"]}));
    app.done("key_press", json!({"keys": ["delete"]}));
    app.desk().until("an empty editor", || app.text(area()).is_empty().then_some(()));
}

#[test]
fn observed_and_found_by_every_strategy() {
    let desk = AppDesk::with(&["mousepad"]);
    let app = editor(&desk);
    app.confirmed("type_text", json!({"text": "value to find", "target": {"selector": area()}}));

    let seen = app.done("observe", json!({})).result.unwrap();
    assert!(seen["skewMs"].as_f64().unwrap() < 10_000.0, "{}", seen["skewMs"]);
    assert!(seen["focusedWindow"]["title"].as_str().unwrap().contains("Mousepad"));
    assert!(seen["frontmostApp"]["name"].as_str().unwrap().to_lowercase().contains("mousepad"));
    assert!(seen["axSnapshot"]["count"].as_u64().unwrap() > 10);
    assert!(seen["screenshot"]["image"].as_str().unwrap().len() > 1000);
    // Text is private: it is in no node, unless asked for.
    assert!(!seen["axSnapshot"].to_string().contains("value to find"));
    let told = app.done("dump_ax_tree", json!({"includeText": true})).result.unwrap();
    assert!(told.to_string().contains("value to find"));

    let bounds = app.bounds();
    let text = app.best(area());
    let place = rect(&text["element"]["rect"]);
    assert!(inside(place, bounds), "{place:?} lies in {bounds:?}");
    assert_eq!(text["role"], "text_area");

    // Each strategy alone must lead to the element it describes, and say why.
    let file = json!({"byTitle": {"equals": "File"}});
    let anchor = rect(&app.best(file.clone())["element"]["rect"]);
    let around = |r: [i64; 4]| json!({"x": r[0] - 1, "y": r[1] - 1, "width": r[2] + 2, "height": r[3] + 2});
    let cases = [
        (json!({"byRole": "AXTextArea"}), "text_area", "role"),
        (json!({"byRole": "text area"}), "text_area", "role"),
        (json!({"byTitle": {"equals": "Edit"}}), "menu", "title equals"),
        (json!({"byTitle": {"contains": "DOCUM"}}), "menu", "title contains"),
        (json!({"byTitle": {"regex": "^V.*w$"}}), "menu", "title matches"),
        (json!({"byLabel": {"equals": "Search"}}), "menu", "label equals"),
        (json!({"byValue": {"contains": "value to find"}}), "text_area", "value contains"),
        (
            json!({"byValue": {"equals": "value to find"}, "byRole": "AXTextArea"}),
            "text_area",
            "value equals",
        ),
        (json!({"byRect": around(anchor), "byRole": "menu"}), "menu", "rectangle"),
        (json!({"byRole": "menu", "near": {"anchor": file, "maxDistance": 60}}), "menu", "anchor"),
    ];
    for (selector, role, reason) in cases {
        let found = app.find(selector.clone());
        let best = &found["candidates"][0];
        let got = best["role"].as_str().unwrap();
        assert!(got == role || (role == "menu" && got == "menu_item"), "{selector}: {found:#}");
        let reasons = best["reasons"].to_string();
        assert!(reasons.contains(reason), "{selector}: {reasons}");
        assert_eq!(best["chosen"], true);
        assert!(best["score"].as_f64().unwrap() > 0.4, "{best}");
        assert!(found["reason"].as_str().unwrap().contains("score"));
    }

    // The path of an element leads back to it.
    let tree = app.done("dump_ax_tree", json!({"root": "window", "visibleOnly": false})).result.unwrap();
    let nodes = tree["nodes"].as_array().unwrap();
    let node = |id: &Value| nodes.iter().find(|n| n["elementId"] == *id).unwrap();
    let mut at = nodes.iter().find(|n| n["role"] == "text_area").unwrap();
    let mut path = Vec::new();
    while !at["parent"].is_null() {
        let place = nodes
            .iter()
            .filter(|n| n["parent"] == at["parent"])
            .position(|n| n["elementId"] == at["elementId"]);
        path.push(place.unwrap());
        at = node(&at["parent"]);
    }
    path.reverse();
    let found = app.done("find", json!({"selector": {"byPath": path}, "visibleOnly": false})).result.unwrap();
    assert_eq!(found["candidates"][0]["role"], "text_area", "{path:?} {found}");

    let missing = app.refused("find", json!({"selector": {"byTitle": {"equals": "Fill"}}}));
    assert_eq!(missing.code, ErrorCode::ElementNotFound);

    // What was found can be acted on, and is kept as evidence.
    let outcome = app.click(json!({"byTitle": {"equals": "Edit"}, "byRole": "menu"}));
    let folder = std::path::PathBuf::from(outcome.evidence.expect("evidence").path);
    for part in ["request.json", "response.json", "env.json", "summary.md", "selectors", "screenshots"] {
        assert!(folder.join(part).exists(), "{part} is missing in {}", folder.display());
    }
    app.done("key_press", json!({"keys": ["escape"]}));
}

#[test]
fn typed_in_every_way_and_read_back_exactly() {
    let desk = AppDesk::with(&["mousepad"]);
    let app = editor(&desk);
    let text = "Hello 世界，你好！\n😀🚀 Ωμέγα\nlast line";
    for (method, layer) in [
        ("auto", Layer::Element),
        ("insert", Layer::Element),
        ("paste", Layer::Semantic),
        ("keys", Layer::Semantic),
    ] {
        desk.ok("clipboard_write", json!({"text": "kept"}));
        let mut args = json!({"text": text, "method": method, "target": {"selector": area()}});
        if method == "keys" {
            args["delay"] = json!(0);
        }
        let outcome = app.confirmed("type_text", args);
        let report = outcome.effect.unwrap();
        assert_eq!(report.layer, Some(layer), "{method}: {report:?}");
        assert!(report.why.contains("read back"), "{}", report.why);
        same_text(&app.text(area()), text);
        assert_eq!(
            desk.ok("clipboard_read", json!({}))["text"],
            "kept",
            "{method} leaves the clipboard alone"
        );
        clear(&app);
    }
    let long = mixed(2000, 71);
    assert_eq!(long.chars().count(), 2000);
    for method in ["auto", "paste", "keys"] {
        let mut args = json!({"text": long, "method": method});
        if method == "keys" {
            args["delay"] = json!(0);
        }
        let outcome = app.confirmed("type_text", args);
        assert_eq!(outcome.result.unwrap()["characters"], 2000);
        same_text(&app.text(area()), &long);
        clear(&app);
    }
}

#[test]
fn menu_down_to_save_as_writes_the_file() {
    let desk = AppDesk::with(&["mousepad"]);
    let app = editor(&desk);
    let text = "第一行 😀\nsecond line\nΤέλος";
    app.confirmed("type_text", json!({"text": text}));
    let picked = app.confirmed("menu_pick", json!({"path": ["File", "Save As…"]}));
    assert_eq!(picked.effect.unwrap().layer, Some(Layer::Semantic));
    let waited = desk.done(
        "wait_until",
        json!({"condition": {"windowTitle": {"contains": "Save As"}}, "timeoutMs": 60_000}),
        &Value::Null,
    );
    assert_eq!(waited.result.unwrap()["met"], true);
    let dialog = desk.app("Save As");
    // The editor behind the dialog takes no clicks now.
    let blocked = app.refused("left_click", json!({"x": app.bounds()[0] + 5, "y": app.bounds()[1] + 60}));
    assert_eq!(blocked.code, ErrorCode::ModalBlocking, "{blocked}");

    let file = desk.files().join("saved 文件.txt");
    dialog.done("key_press", json!({"keys": ["ctrl", "a"]}));
    dialog.confirmed("type_text", json!({"text": file.to_str().unwrap()}));
    dialog.enter_until_gone();
    let saved =
        desk.until("the file", || std::fs::read_to_string(&file).ok().filter(|t| t.len() >= text.len()));
    same_text(saved.trim_end_matches('\n'), text);
    desk.done(
        "wait_until",
        json!({"condition": {"windowTitle": {"contains": "saved"}}, "timeoutMs": 60_000}),
        &Value::Null,
    );
    let none = app.refused("menu_pick", json!({"path": ["File", "Make Coffee"]}));
    assert_eq!(none.code, ErrorCode::ElementNotFound, "{none}");
}

#[test]
fn keys_clipboard_drag_and_scroll() {
    let desk = AppDesk::with(&["mousepad"]);
    let app = editor(&desk);
    let text = "first line 中文\nsecond 😀";
    app.confirmed("type_text", json!({"text": text}));
    app.confirmed("key_press", json!({"keys": ["ctrl", "a"]}));
    app.done("key_press", json!({"keys": ["ctrl", "c"]}));
    desk.until("the copied text", || (desk.ok("clipboard_read", json!({}))["text"] == text).then_some(()));

    // A drag over the first line selects some of it, from its start.
    let place = rect(&app.best(area())["element"]["rect"]);
    let (x, y) = (place[0] + 8, place[1] + 10);
    app.confirmed("left_click", json!({"x": place[0] + place[2] / 2, "y": place[1] + place[3] - 20}));
    desk.ok("clipboard_write", json!({"text": "-"}));
    app.confirmed("mouse_drag", json!({"from_x": x - 6, "from_y": y, "to_x": x + 400, "to_y": y}));
    app.done("key_press", json!({"keys": ["ctrl", "c"]}));
    desk.until("the first line on the clipboard", || {
        let got = desk.ok("clipboard_read", json!({}))["text"].clone();
        (got == "first line 中文").then_some(())
    });

    // Many lines: the wheel moves them.
    clear(&app);
    let lines: Vec<String> = (1..=200).map(|n| format!("line number {n}")).collect();
    app.confirmed("type_text", json!({"text": lines.join("\n")}));
    app.done("key_press", json!({"keys": ["ctrl", "home"]}));
    let (x, y) = middle(place);
    let scrolled = app.confirmed("scroll", json!({"x": x, "y": y, "direction": "down", "amount": 600}));
    assert!(scrolled.result.unwrap()["scrolled"].as_i64().unwrap() >= 300);
    assert!(!scrolled.effect.unwrap().changed.is_empty());
    let up =
        app.confirmed("scroll", json!({"target": {"selector": area()}, "direction": "up", "amount": 600}));
    assert!(up.error.is_none());
    // At the top there is nothing left to scroll.
    desk.until("the top", || {
        let more = app.done("scroll", json!({"x": x, "y": y, "direction": "up", "amount": 2000}));
        (more.effect.unwrap().effect == Effect::SuspectedNoop).then_some(())
    });
    let highlighted = app.confirmed("highlight", json!({"target": {"selector": area()}, "duration": 3000}));
    assert_eq!(highlighted.result.unwrap()["success"], true);
}
