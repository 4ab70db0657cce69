//! Thunar: menus whose levels must be opened one by one, folders that open by a double click.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use deskhand_e2e::apps::{AppDesk, middle, rect};
use deskhand_protocol::{ErrorCode, Layer};
use serde_json::json;

#[test]
fn menus_and_folders() {
    let desk = AppDesk::with(&["thunar"]);
    let place = desk.files().join("things");
    std::fs::create_dir_all(place.join("inner folder")).unwrap();
    std::fs::write(place.join("inner folder/deep.txt"), "x").unwrap();
    std::fs::write(place.join("note.txt"), "x").unwrap();
    let app = desk.launch("thunar", &[place.to_str().unwrap()], "things");

    // Down two levels: the sorting is a radio entry of a submenu.
    let picked = app.confirmed("menu_pick", json!({"path": ["View", "Arrange Items", "By Size"]}));
    assert_eq!(picked.effect.unwrap().layer, Some(Layer::Semantic));
    let none = app.refused("menu_pick", json!({"path": ["View", "Arrange Items", "By Smell"]}));
    assert_eq!(none.code, ErrorCode::ElementNotFound, "{none}");
    // No menu stays open: the window takes clicks and keys again. (Only the list tells of its files.)
    app.confirmed("menu_pick", json!({"path": ["View", "List View"]}));
    let folder = app.best(json!({"byTitle": {"equals": "inner folder"}}));
    let (x, y) = middle(rect(&folder["element"]["rect"]));
    app.confirmed("double_click", json!({"x": x, "y": y}));
    desk.window("inner folder");
    app.find(json!({"byTitle": {"equals": "deep.txt"}}));

    // A dialog by the menu.
    app.confirmed("menu_pick", json!({"path": ["File", "Create Folder..."]}));
    let dialog = desk.app("New Folder");
    dialog.ready();
    dialog.done("key_press", json!({"keys": ["ctrl", "a"]}));
    dialog.confirmed(
        "type_text",
        json!({"text": "新文件夹 😀", "target": {"selector": {"byRole": "AXTextField"}}}),
    );
    dialog.click(json!({"byRole": "button", "byTitle": {"regex": "Create|OK"}}));
    desk.until("the new folder", || place.join("inner folder/新文件夹 😀").is_dir().then_some(()));

    // A context menu lies outside the window; the click in it is found all the same.
    let file = app.best(json!({"byTitle": {"equals": "deep.txt"}}));
    let (x, y) = middle(rect(&file["element"]["rect"]));
    app.confirmed("right_click", json!({"x": x, "y": y}));
    app.find(json!({"byRole": "menu_item", "byTitle": {"contains": "Properties"}}));
    app.click(json!({"byRole": "menu_item", "byTitle": {"contains": "Properties"}}));
    desk.window("deep.txt");
}
