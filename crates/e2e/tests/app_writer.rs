//! LibreOffice Writer: text of any script typed into a document, exactly.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use deskhand_e2e::apps::{AppDesk, mixed, same_text};
use deskhand_protocol::Effect;
use serde_json::json;

#[test]
fn two_thousand_characters_arrive() {
    let desk = AppDesk::with(&["libreoffice"]);
    let profile = format!("-env:UserInstallation=file://{}", desk.files().join("office").display());
    let app =
        desk.launch("libreoffice", &[&profile, "--writer", "--norestore", "--nologo"], "LibreOffice Writer");
    app.find(json!({"byRole": "paragraph"}));
    let long = mixed(2000, 75);
    let typed = app.done("type_text", json!({"text": long}));
    let report = typed.effect.unwrap();
    assert_eq!(report.effect, Effect::Confirmed, "{report:?}");

    // Saved as plain text, the file has exactly what was typed.
    app.done("key_press", json!({"keys": ["ctrl", "a"]}));
    app.done("key_press", json!({"keys": ["ctrl", "c"]}));
    let copied = desk.until("the copied text", || {
        let text = desk.ok("clipboard_read", json!({}))["text"].as_str().unwrap().to_owned();
        (text.chars().count() > 1900).then_some(text)
    });
    same_text(copied.replace("\r\n", "\n").trim_end_matches('\n'), &long);

    let picked = app.confirmed("menu_pick", json!({"path": ["Format", "Align Text", "Centered"]}));
    assert!(picked.error.is_none());
    desk.confirmed("menu_pick", json!({"path": ["File", "Save As..."]}), &app.route());
    let dialog = desk.app("Save");
    dialog.ready();
    dialog.done("key_press", json!({"keys": ["escape"]}));
    desk.until("the dialog to close", || dialog.facts().is_none().then_some(()));
}
