//! Zenity: small modal dialogs, and a password that is typed and never read.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use deskhand_e2e::apps::{AppDesk, effect, same_text};
use deskhand_protocol::{Effect, ErrorCode};
use serde_json::json;

/// Starts zenity with its answer in a file; the file and the dialog's title.
fn ask(desk: &AppDesk, name: &str, args: &str) -> std::path::PathBuf {
    let file = desk.files().join(name);
    let script =
        format!("zenity --title '{name}' {args} > '{}'; echo $? > '{}.code'", file.display(), file.display());
    desk.spawn("sh", &["-c", &script]);
    file
}

fn code(desk: &AppDesk, file: &std::path::Path) -> String {
    let code = file.with_extension("code");
    desk.until("zenity to end", || std::fs::read_to_string(&code).ok().filter(|t| !t.is_empty()))
        .trim()
        .to_owned()
}

#[test]
fn an_entry_and_a_question_are_answered() {
    let desk = AppDesk::with(&["zenity"]);
    let file = ask(&desk, "entry", "--entry --text 'Who are you?'");
    let dialog = desk.app("entry");
    dialog.ready();
    let text = "张三 😀 Ωmega";
    dialog.confirmed("type_text", json!({"text": text, "target": {"selector": {"byRole": "AXTextField"}}}));
    same_text(&dialog.text(json!({"byRole": "AXTextField"})), text);
    dialog.click(json!({"byRole": "button", "byTitle": {"equals": "OK"}}));
    assert_eq!(code(&desk, &file), "0");
    same_text(std::fs::read_to_string(&file).unwrap().trim_end(), text);

    let file = ask(&desk, "question", "--question --text 'Delete everything?'");
    let dialog = desk.app("question");
    dialog.ready();
    assert!(
        dialog.best(json!({"byRole": "label", "byLabel": {"contains": "everything"}}))["score"]
            .as_f64()
            .unwrap()
            > 0.5
    );
    // A reference found now is good for the click.
    let no = dialog.best(json!({"byRole": "AXButton", "byTitle": {"regex": "^No$"}}));
    dialog.confirmed("click", json!({"target": {"elementRef": no["element"]}}));
    assert_eq!(code(&desk, &file), "1");
    // And stale once the dialog is gone.
    let stale = desk.call("click", json!({"target": {"elementRef": no["element"]}})).error.unwrap();
    assert_eq!(stale.code, ErrorCode::StaleSnapshot, "{stale}");
}

#[test]
fn a_password_is_typed_and_never_read() {
    let desk = AppDesk::with(&["zenity"]);
    let file = ask(&desk, "secret", "--password");
    let dialog = desk.app("secret");
    dialog.ready();
    let field = json!({"byRole": "password_field"});
    let secret = "Geheim-密码-9!";
    let typed = dialog.done("type_text", json!({"text": secret, "target": {"selector": field}}));
    assert_eq!(effect(&typed), Some(Effect::Unverifiable), "{:?}", typed.effect);
    let refused = dialog.refused("read_text", json!({"target": {"selector": field}}));
    assert_eq!(refused.code, ErrorCode::SecureField, "{refused}");
    let tree = dialog.done("dump_ax_tree", json!({"includeText": true})).result.unwrap();
    assert!(!tree.to_string().contains("Geheim"));
    let pasted =
        dialog.refused("type_text", json!({"text": "x", "method": "paste", "target": {"selector": field}}));
    assert_eq!(pasted.code, ErrorCode::InvalidInput);
    dialog.done("key_press", json!({"keys": ["enter"]}));
    assert_eq!(code(&desk, &file), "0");
    same_text(std::fs::read_to_string(&file).unwrap().trim_end(), secret);

    // Nothing the host keeps has the secret in it.
    let mut folders = vec![desk.home.root().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if entry.file_type().is_ok_and(|t| t.is_dir()) {
                folders.push(path);
            } else if let Ok(bytes) = std::fs::read(&path) {
                let needle = "Geheim".as_bytes();
                assert!(
                    !bytes.windows(needle.len()).any(|w| w == needle),
                    "{} has the password",
                    path.display()
                );
            }
        }
    }
}
