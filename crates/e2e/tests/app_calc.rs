//! LibreOffice Calc: a table of millions of cells, of which only what shows is read.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use deskhand_e2e::apps::{App, AppDesk};
use deskhand_protocol::Effect;
use serde_json::json;

fn calc(desk: &AppDesk) -> App<'_> {
    let profile = format!("-env:UserInstallation=file://{}", desk.files().join("office").display());
    let app =
        desk.launch("libreoffice", &[&profile, "--calc", "--norestore", "--nologo"], "LibreOffice Calc");
    app.find(json!({"byRole": "table"}));
    app
}

/// What a cell shows.
fn cell(app: &App<'_>, name: &str) -> Option<String> {
    let selector = json!({"byRole": "cell", "byTitle": {"equals": name}});
    let outcome = app.desk().try_call("read_text", json!({"target": {"selector": selector}}), &app.route());
    outcome.result?["text"].as_str().map(str::to_owned)
}

#[test]
fn cells_are_typed_and_read_back() {
    let desk = AppDesk::with(&["libreoffice"]);
    let app = calc(&desk);
    let tree = app
        .done("dump_ax_tree", json!({"maxNodes": 6000, "maxWallTimeMs": 30_000, "maxDepth": 40}))
        .result
        .unwrap();
    let count = tree["count"].as_u64().unwrap();
    assert!((100..6000).contains(&count), "{count} elements: {}", tree["truncated"]);

    // A1 has the cursor: rows end with Enter, columns with Tab.
    app.confirmed("key_press", json!({"keys": ["ctrl", "home"]}));
    let typed = app.done("type_text", json!({"text": "12\t30\t=A1+B1\n苹果\t😀 ok\t\n"}));
    assert_eq!(typed.effect.unwrap().effect, Effect::Confirmed);
    for (name, want) in [("A1", "12"), ("B1", "30"), ("C1", "42"), ("A2", "苹果"), ("B2", "😀 ok")] {
        desk.until(&format!("{want} in {name}"), || (cell(&app, name)? == want).then_some(()));
    }

    // A click on a cell moves the cursor there.
    app.click(json!({"byRole": "cell", "byTitle": {"equals": "B3"}}));
    // Without Enter the text is in an editor over the cell: that is no reason to call it lost.
    app.confirmed("type_text", json!({"text": "h中e"}));
    app.confirmed("type_text", json!({"text": "re"}));
    app.confirmed("key_press", json!({"keys": ["enter"]}));
    desk.until("the text in B3", || (cell(&app, "B3")? == "h中ere").then_some(()));

    let picked = app.done("menu_pick", json!({"path": ["File", "Save As..."]}));
    assert_eq!(picked.effect.unwrap().effect, Effect::Confirmed);
    let dialog = desk.app("Save");
    dialog.ready();
    let file = desk.files().join("sheet.ods");
    dialog.done("key_press", json!({"keys": ["ctrl", "a"]}));
    dialog.done("type_text", json!({"text": file.to_str().unwrap()}));
    dialog.enter_until_gone();
    desk.until("the saved sheet", || std::fs::metadata(&file).ok().filter(|m| m.len() > 1000));
}
