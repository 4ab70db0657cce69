use deskhand_protocol::{Effect, ErrorCode, Layer};
use deskhand_tools::Watch;
use serde_json::json;

use crate::desk::Desk;

fn scene(flags: &str) -> String {
    format!(
        r#"
window "Notes - Editor" pid=7 app="editor" at=0,0 size=800x600 focused
  menu_bar "" at=0,20 size=800x24
    menu "_File" {flags}
      item #new "New" -> set #t ""
      item #saveas "Save As…" -> open "Save As"
      item #grey "Revert" disabled
      menu "Export" {flags}
        item #pdf "As PDF..." -> set #t "pdf"
    menu "Edit" {flags}
      item #dead "Nothing" noop
  text #t "Text" value="x" at=20,200 size=300x100
hidden window "Save As" pid=7 modal for="Notes - Editor" at=100,100 size=200x100
  button "Cancel" -> close
"#
    )
}

#[test]
fn entries_are_picked_whatever_way_they_are_written() {
    for path in [
        json!(["File", "Save As…"]),
        json!(["file", "save as..."]),
        json!("File > Save As"),
        json!("Editor > File > Save As..."),
    ] {
        let desk = Desk::new(&scene(""));
        let (value, report) = desk.own("menu_pick", json!({"path": path}));
        assert_eq!(report.effect, Effect::Confirmed, "{path}: {}", report.why);
        assert!(report.why.contains("Save As"), "{}", report.why);
        assert_eq!((report.layer, value["opened"].as_bool()), (Some(Layer::Semantic), Some(true)));
        assert_eq!(value["path"], json!(["_File", "Save As…"]));
        assert!(desk.fake.window("Save As").is_some());
        // The dialog is modal: the next pick is refused by name.
        let e = desk.err("menu_pick", json!({"path": ["File", "New"]}));
        assert_eq!(e.code, ErrorCode::ModalBlocking, "{e}");
    }
}

#[test]
fn a_menu_that_answers_only_while_open_is_opened() {
    let desk = Desk::new(&scene("strict"));
    let (value, report) = desk.own("menu_pick", json!({"path": ["File", "Export", "As PDF…"]}));
    assert_eq!(report.effect, Effect::Confirmed, "{}", report.why);
    assert_eq!(value["opened"], true);
    assert_eq!(desk.fake.value("t").as_deref(), Some("pdf"));
}

#[test]
fn missing_and_disabled_entries_are_refused() {
    let desk = Desk::new(&scene(""));
    let e = desk.err("menu_pick", json!({"path": ["File", "Print"]}));
    assert_eq!(e.code, ErrorCode::ElementNotFound);
    assert_eq!(e.details["entries"], json!(["New", "Save As…", "Revert", "Export"]));
    let e = desk.err("menu_pick", json!({"path": ["Tools", "X"]}));
    assert_eq!(e.details["entries"], json!(["_File", "Edit"]));
    let e = desk.err("menu_pick", json!({"path": ["File", "Revert"]}));
    assert_eq!((e.code, e.details["reason"].as_str()), (ErrorCode::NotActionable, Some("disabled")));
    // Nothing stays open behind a refusal.
    assert!(!desk.fake.element("new").unwrap().states.showing);
    for path in [json!([]), json!(""), json!(["File", ""]), json!(5)] {
        assert_eq!(desk.err("menu_pick", json!({"path": path})).code, ErrorCode::InvalidInput, "{path}");
    }
    let bare = Desk::new("window \"W\" pid=7 focused\n  button \"B\"");
    let e = bare.err("menu_pick", json!({"path": ["File"]}));
    assert_eq!(e.code, ErrorCode::ElementNotFound);
    assert!(e.message.contains("no menu bar"), "{e}");
}

#[test]
fn a_pick_that_changes_nothing_is_not_called_done() {
    let desk = Desk::new(&scene(""));
    let (value, watch) = desk.call("menu_pick", json!({"path": ["Edit", "Nothing"]})).unwrap();
    let Watch::Own(report) = watch else { panic!("{watch:?}") };
    assert!(matches!(report.effect, Effect::SuspectedNoop | Effect::Unverifiable), "{report:?} {value}");
}
