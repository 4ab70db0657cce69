//! Nothing goes to a window or field that was not meant, and nothing is told of what must not be.

use deskhand_protocol::{Effect, ErrorCode};
use serde_json::{Value, json};

use crate::desk::{Desk, titled};

/// Two windows of one program, one over the other.
const TWIN: &str = r#"
window "A" pid=7 app="editor" at=100,100 size=400x300 focused
  image #a "Picture A" at=200,200 size=80x80
  button #ab "Save A" at=200,300 size=80x24 -> rename #ab "saved"
window "B" pid=7 app="editor" at=100,100 size=400x300
  button #b "Delete" at=200,200 size=80x124 -> rename #b "deleted"
"#;

fn reference(desk: &Desk, title: &str, window: &str) -> Value {
    let route = json!({"window": {"titlePattern": window}});
    let args = json!({"selector": {"byTitle": {"equals": title}}});
    let found = desk.routed("find", args, &route).unwrap().0;
    json!({"elementRef": found["chosen"]})
}

#[test]
fn another_window_of_the_same_program_is_not_clicked() {
    for (title, button) in [("Picture A", "left"), ("Save A", "left"), ("Save A", "right")] {
        let desk = Desk::new(TWIN);
        let target = reference(&desk, title, "^A$");
        desk.fake.run("activate \"B\"");
        desk.ok("click", json!({"target": target, "button": button}));
        assert_eq!(desk.fake.element("b").unwrap().name, "Delete", "{title} {button}");
        let front = desk.fake.desktop().windows.active().unwrap().unwrap();
        assert_eq!(front.title, "A", "the window of the element comes to the front");
    }
    // One that stays on top: told, and nothing is pressed.
    let desk = Desk::new(&TWIN.replace("window \"B\" pid=7", "window \"B\" above pid=7"));
    let target = reference(&desk, "Picture A", "^A$");
    desk.fake.run("activate \"B\"");
    let e = desk.err("click", json!({"target": target}));
    assert_eq!(e.code, ErrorCode::NotActionable, "{e}");
    assert_eq!(e.details["reason"], "covered by \"B\" (editor)");
    let e = desk.err("scroll", json!({"target": target, "direction": "down"}));
    assert_eq!(e.code, ErrorCode::NotActionable, "{e}");
    assert_eq!(desk.fake.log_text(), "");
}

#[test]
fn a_caller_who_wants_the_focus_left_alone_gets_no_other_window_raised() {
    let desk = Desk::new(
        r#"
window "Main" pid=7 at=0,0 size=800x600 focused
  image #pic "Picture" at=100,100 size=50x50
window "Over" pid=7 at=50,50 size=200x200 above
"#,
    );
    let strict = json!({"window": {"titlePattern": "Main"}, "focusPolicy": "failIfNotFocused"});
    let e = desk.routed("click", json!({"target": titled("Picture")}), &strict).unwrap_err();
    assert_eq!(e.code, ErrorCode::NotActionable, "{e}");
    assert_eq!(desk.fake.log_text(), "");
}

#[test]
fn a_menu_of_the_same_program_is_no_stranger() {
    let desk = Desk::new(
        r#"
window "Main" pid=7 app="m" at=0,0 size=800x600 focused
  button #go "Go" at=100,100 size=80x24 -> rename #go "gone"
window "" pid=7 app="m" at=50,50 size=200x200 above
"#,
    );
    desk.ok("click", json!({"target": titled("Go")}));
    let strange = Desk::new(
        r#"
window "Main" pid=7 app="m" at=0,0 size=800x600 focused
  image #pic "Picture" at=100,100 size=80x24
window "" pid=9 app="x" at=50,50 size=200x200 above
"#,
    );
    let e = strange.err("click", json!({"target": titled("Picture")}));
    assert_eq!(e.code, ErrorCode::NotActionable, "{e}");
}

/// A window that comes up under the pointer.
fn trap(pid: u32) -> Desk {
    Desk::new(&format!(
        r#"
window "Main" pid=7 app="m" at=0,0 size=800x600 focused
  image #pic "Picture" at=100,100 size=80x80 hover -> open "Trap"
hidden window "Trap" pid={pid} app="t" at=50,50 size=300x300
  button #no "Delete all" at=60,80 size=280x260 -> rename #no "deleted"
"#
    ))
}

#[test]
fn what_comes_up_under_the_pointer_is_not_pressed() {
    let main = json!({"window": {"titlePattern": "Main"}});
    let calls = [
        ("left_click", json!({"x": 120, "y": 120}), Value::Null, true),
        ("left_click", json!({"x": 120, "y": 120, "smooth": true}), Value::Null, true),
        ("right_click", json!({"x": 120, "y": 120}), Value::Null, true),
        ("mouse_drag", json!({"from_x": 120, "from_y": 120, "to_x": 500, "to_y": 500}), Value::Null, true),
        ("scroll", json!({"x": 120, "y": 120, "direction": "down"}), Value::Null, true),
        ("click", json!({"target": titled("Picture")}), Value::Null, true),
        // A target or a route is checked whether or not anybody looks at the effect.
        ("click", json!({"target": titled("Picture")}), Value::Null, false),
        ("left_click", json!({"x": 120, "y": 120}), main, false),
    ];
    for pid in [7, 9] {
        for (tool, args, route, verify) in &calls {
            let mut desk = trap(pid);
            desk.verify = *verify;
            let e = desk.routed(tool, args.clone(), route).unwrap_err();
            let log = desk.fake.log_text();
            assert!(!log.contains("button") && !log.contains("wheel"), "{tool} {args}: {log}");
            // With a route the lost focus is seen first.
            assert!(matches!(e.code, ErrorCode::NotActionable | ErrorCode::FocusLost), "{tool} {args}: {e}");
            if e.code == ErrorCode::NotActionable {
                assert_eq!(e.details["reason"], "covered by \"Trap\" (t)", "{tool} {args}");
            }
            assert!(!e.details.contains_key("sent"), "{tool}: nothing was pressed");
            assert_eq!(desk.fake.element("no").unwrap().name, "Delete all");
        }
    }
}

#[test]
fn without_anybody_looking_a_plain_click_stays_fast() {
    let mut desk = trap(7);
    desk.verify = false;
    desk.ok("left_click", json!({"x": 120, "y": 120}));
    assert!(desk.fake.log_text().contains("button Left down"));
}

/// One window types, another takes the focus.
const THIEF: &str = r#"
window "A" pid=7 focused
  text #a "" value="" focused
window "B" pid=9
  text #b "" value="" focused
"#;

#[test]
fn keys_stop_when_the_focus_goes_even_without_a_route() {
    for args in
        [json!({"text": "y".repeat(400), "delay": 5}), json!({"text": "y".repeat(50_000), "delay": 0})]
    {
        let desk = Desk::new(THIEF);
        let fake = desk.fake.clone();
        let thief = std::thread::spawn(move || {
            for _ in 0..10_000 {
                if fake.value("a").is_none_or(|v| v.len() >= 10) {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            fake.run("activate \"B\"");
        });
        let e = desk.err("type_text", args);
        thief.join().unwrap();
        assert_eq!(e.code, ErrorCode::FocusLost, "{e}");
        assert_eq!(
            (&e.details["wanted"]["title"], &e.details["frontmost"]["title"]),
            (&json!("A"), &json!("B"))
        );
        assert!(e.details["typed"].as_u64().unwrap() >= 10 && e.details["sent"] == true, "{:?}", e.details);
        // At most what lies between two looks at the focus.
        assert!(desk.fake.value("b").unwrap().len() <= 40, "{:?}", desk.fake.value("b"));
    }
}

#[test]
fn keys_go_to_the_window_that_was_in_front_when_the_call_began() {
    for (tool, args) in [
        ("key_press", json!({"keys": ["x"]})),
        ("hotkey", json!({"keys": ["x"], "reason": "test"})),
        ("type_text", json!({"text": "x", "method": "keys"})),
        ("type_text", json!({"text": "x", "method": "paste"})),
    ] {
        for verify in [true, false] {
            let mut desk = Desk::new(THIEF);
            desk.verify = verify;
            desk.meanwhile("activate \"B\"");
            let e = desk.err(tool, args.clone());
            assert_eq!(e.code, ErrorCode::FocusLost, "{tool} {args}: {e}");
            assert_eq!(desk.fake.value("b").as_deref(), Some(""), "{tool} {args}");
            assert!(!e.details.contains_key("sent"), "{tool}: {:?}", e.details);
            assert_eq!(desk.fake.log_text(), "");
        }
    }
}

#[test]
fn what_was_typed_into_is_told_as_it_was_before() {
    // Typing closes the window: what is in front afterwards was not typed into.
    let desk = Desk::new(
        "window \"A\" pid=7 focused no-ax\n  edit #a \"\" value=\"\" focused -> close\nwindow \"B\" pid=9\n  text #b \"\" value=\"\" focused",
    );
    let (_, watch) = desk.call("type_text", json!({"text": "x\n"})).unwrap();
    let deskhand_tools::Watch::Changes { report, pid, .. } = watch else { panic!("{watch:?}") };
    assert!(desk.fake.window("A").is_none());
    assert_eq!((report.hit.as_deref(), pid), (Some("window \"A\""), Some(7)));
}

#[test]
fn a_dialog_of_the_routed_window_does_not_get_its_keys() {
    let scene = r#"
window "MAIN" pid=7 at=0,0 size=400x300
  text #main "Text" value="" focused at=20,40 size=300x100
window "DLG" pid=7 dialog for="MAIN" at=500,0 size=200x100 focused
  edit #dlg "Find" value="" focused at=520,40 size=150x24
"#;
    let route = |policy: &str| json!({"window": {"titlePattern": "^MAIN$"}, "focusPolicy": policy});
    let calls = [
        ("type_text", json!({"text": "x"})),
        ("type_text", json!({"text": "x", "method": "keys"})),
        ("type_text", json!({"text": "x", "target": titled("Text")})),
        ("key_press", json!({"keys": ["x"]})),
        ("hotkey", json!({"keys": ["x"], "reason": "test"})),
    ];
    for (tool, args) in &calls {
        for policy in ["failIfNotFocused", "requireFocused"] {
            let desk = Desk::new(scene);
            let e = desk.routed(tool, args.clone(), &route(policy)).unwrap_err();
            assert_eq!(e.code, ErrorCode::FocusLost, "{tool} {args} {policy}: {e}");
            assert_eq!(e.details["frontmost"]["title"], "DLG");
            assert_eq!(desk.fake.value("dlg").as_deref(), Some(""));
            assert_eq!(desk.fake.desktop().windows.active().unwrap().unwrap().title, "DLG", "{policy}");
        }
        let desk = Desk::new(scene);
        desk.routed(tool, args.clone(), &route("focusIfNeeded")).unwrap();
        assert_eq!(desk.fake.value("dlg").as_deref(), Some(""), "{tool} {args}");
        assert_eq!(desk.fake.value("main").as_deref(), Some("x"), "{tool} {args}");
    }
    // A field of the dialog that is named may be typed into, and the pointer may go there.
    let desk = Desk::new(scene);
    desk.routed("click", json!({"target": titled("Find")}), &route("failIfNotFocused")).unwrap();
    desk.routed("left_click", json!({"x": 560, "y": 50}), &route("failIfNotFocused")).unwrap();
    let find = json!({"text": "y", "target": titled("Find")});
    desk.routed("type_text", find, &route("focusIfNeeded")).unwrap();
    assert_eq!(desk.fake.value("dlg").as_deref(), Some("y"));
    // A modal one is named as what is in the way.
    let desk = Desk::new(&scene.replace("dialog for", "modal for"));
    for (tool, args) in calls {
        let e = desk.routed(tool, args.clone(), &route("focusIfNeeded")).unwrap_err();
        assert_eq!(e.code, ErrorCode::ModalBlocking, "{tool} {args}: {e}");
    }
}

#[test]
fn arguments_have_names_and_secrets_are_not_repeated() {
    let desk = Desk::new(THIEF);
    let cases = [
        ("mouse_move", json!([9, 9]), "list of 2"),
        ("type_text", json!(["hunter2"]), "list of 1"),
        ("type_text", json!("hunter2"), "text of 7"),
        ("type_text", json!({"text": ["hunter2"]}), "`text` is a list of 1"),
        ("type_text", json!({"text": "a", "target": "hunter2"}), "target"),
        ("app_launch", json!({"name": "x", "args": "--password=hunter2"}), "`args` is a text of 18"),
        ("app_launch", json!({"name": "x", "args": ["a", ["hunter2"]]}), "args[1]"),
        ("clipboard_write", json!({"text": {"a": "hunter2"}}), "object of 1"),
        ("notification_send", json!({"title": "t", "body": ["hunter2"]}), "body"),
        ("left_click", json!({"x": [{"password": "hunter2"}], "y": 1}), "`x` is a list of 1"),
    ];
    for (tool, args, says) in cases {
        let e = desk.err(tool, args.clone());
        assert_eq!(e.code, ErrorCode::InvalidInput, "{tool} {args}: {e}");
        assert!(e.message.contains(says), "{tool} {args}: {e}");
        if says != "target" {
            let all = serde_json::to_string(&e).unwrap();
            assert!(!all.contains("hunter2"), "{tool} {args}: {all}");
        }
    }
    // What is no secret is still told, with what would be right.
    let e = desk.err("left_click", json!({"x": "abc", "y": 1}));
    assert!(e.message.contains("`x` is \"abc\"") && e.message.contains("f64"), "{e}");
    assert!(desk.call("app_list", Value::Null).is_ok());
}

#[test]
fn text_is_kept_only_when_its_field_is_known_and_no_secret() {
    let scene = r#"
window "W" pid=7 focused
  edit #t "Name" value="" focused
  password #pw "Password" value=""
  terminal #term "Shell" value=""
  edit #ro "Fixed" value="x" readonly
"#;
    let cases = [
        (json!({"text": "x"}), true),
        (json!({"text": "x", "target": titled("Name")}), true),
        (json!({"text": "x", "target": titled("Password")}), false),
        (json!({"text": "x", "target": titled("Shell")}), false),
        (json!({"text": "x", "target": titled("Fixed")}), false),
        (json!({"text": "x", "target": titled("Nobody")}), false),
    ];
    for (args, plain) in cases {
        let desk = Desk::new(scene);
        let _ = desk.call("type_text", args.clone());
        assert_eq!(*desk.notes.plain.borrow(), plain, "{args}");
    }
    let dark = Desk::new("window \"W\" pid=7 focused no-ax\n  edit #t \"\" value=\"\" focused");
    dark.ok("type_text", json!({"text": "x"}));
    assert!(!*dark.notes.plain.borrow());
}

#[test]
fn an_error_after_the_first_event_says_so() {
    let scene = "window \"W\" pid=7 at=0,0 size=800x600 focused\n  button #b \"B\" at=100,100 size=80x24 -> break input\n  text #t \"\" value=\"\" focused";
    let desk = Desk::new(scene);
    // The second click of two fails.
    let e = desk.err("double_click", json!({"x": 120, "y": 110}));
    assert_eq!(e.details["sent"], true, "{e}");
    desk.fake.run("mend input");
    let e = desk.err("left_click", json!({"x": 5000, "y": 110}));
    assert!(!e.details.contains_key("sent"), "{e}");
    let cancel = desk.cancel.clone();
    std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        cancel.cancel();
    });
    let e =
        desk.err("mouse_drag", json!({"from_x": 1, "from_y": 1, "to_x": 500, "to_y": 5, "duration": 20000}));
    assert_eq!((e.code, &e.details["sent"]), (ErrorCode::Aborted, &json!(true)));
}

#[test]
fn a_highlight_is_clipped_to_the_desktop() {
    let desk = Desk::new(THIEF);
    let rect = |x: i32, y: i32, width: i32, height: i32| json!({"rect": {"x": x, "y": y, "width": width, "height": height}, "duration": 2000});
    for args in [rect(0, 0, i32::MAX, 5), rect(-10, -10, i32::MAX, i32::MAX), rect(0, 0, 70_000, 70_000)] {
        let (value, report) = desk.own("highlight", args.clone());
        assert_eq!(report.effect, Effect::Confirmed, "{args}: {}", report.why);
        assert_eq!((value["rect"]["x"].as_i64(), value["rect"]["width"].as_i64()), (Some(0), Some(1920)));
    }
    for args in [
        rect(i32::MIN, 0, i32::MAX, i32::MAX),
        rect(i32::MAX, i32::MAX, i32::MAX, i32::MAX),
        rect(1920, 0, 5, 5),
        rect(-5, 0, 5, 5),
    ] {
        let e = desk.err("highlight", args.clone());
        assert_eq!(e.code, ErrorCode::OutOfRange, "{args}: {e}");
        assert_eq!(e.details["valid"], json!({"x": 0, "y": 0, "width": 1920, "height": 1080}));
    }
}

#[test]
fn arguments_are_checked_before_anything_else() {
    let cases = [
        ("key_press", json!({"keys": []}), "keys"),
        ("key_press", json!({"keys": ["nosuchkey"]}), "keys[0]"),
        ("key_press", json!({"keys": vec!["a"; 5000]}), "5000"),
        ("hotkey", json!({"keys": ["ctrl"], "reason": " "}), "reason"),
        ("hotkey", json!({"keys": ["nope"], "reason": "r"}), "keys[0]"),
        ("type_text", json!({"text": ""}), "text"),
        ("type_text", json!({"text": "x".repeat(100_001)}), "100001"),
        ("type_text", json!({"text": "x", "delay": -1}), "delay"),
        ("type_text", json!({"text": "x", "target": {"selector": {}}}), "selector"),
        ("scroll", json!({"direction": "down"}), "x is missing"),
        ("scroll", json!({"x": 1, "y": 1, "direction": "down", "amount": 1e15}), "amount"),
        ("mouse_drag", json!({"from_x": 1, "from_y": 1, "to_x": 2, "to_y": 2, "duration": 1e9}), "duration"),
        ("mouse_move", json!({"x": 1, "y": 1, "duration": -1}), "duration"),
        ("click", json!({"target": {"selector": {}}}), "selector"),
        ("click", json!({"target": {"selector": {"byTitle": {"regex": "("}}}}), "regex"),
        ("click", json!({"target": titled("x"), "count": 9}), "count"),
        ("find", json!({"selector": {"near": {"anchor": {}}}}), "selector"),
        ("menu_pick", json!({"path": []}), "path"),
        ("app_launch", json!({"name": ""}), "name"),
    ];
    for (tool, args, says) in cases {
        let Err(e) = deskhand_tools::find(tool).unwrap().parse(args.clone()) else {
            panic!("{tool} {args} went through");
        };
        assert_eq!(e.code, ErrorCode::InvalidInput, "{tool}: {e}");
        assert!(e.message.contains(says), "{tool}: {e}");
    }
}

#[test]
fn hints_keep_their_word() {
    let empty = Desk::new("window \"W\" pid=7 minimized");
    let e = empty.err("screenshot", json!({"mode": "window"}));
    assert_eq!(e.code, ErrorCode::WindowNotFound);
    assert_eq!(e.details["windows"][0]["title"], "W", "{e:?}");
    let desk = Desk::new("app \"Text Editor\" program=\"gedit\"\nwindow \"W\" pid=7 focused");
    let e = desk.err("app_launch", json!({"name": "Text"}));
    assert_eq!(e.code, ErrorCode::AppNotFound);
    assert!(!e.hint.contains("app_list") && e.hint.contains("path"), "{}", e.hint);
    assert_eq!(e.details["near"], json!(["Text Editor"]));
}

#[test]
fn closed_menus_do_not_show_their_entries() {
    let desk = Desk::new(
        "window \"W\" pid=7 at=0,0 size=400x300 focused\n  menu_bar \"\" at=0,20 size=400x24\n    menu \"File\"\n      item \"New\"",
    );
    let new = json!({"byTitle": {"equals": "New"}});
    assert_eq!(desk.err("find", json!({"selector": new})).code, ErrorCode::ElementNotFound);
    assert_eq!(desk.ok("find", json!({"selector": new, "visibleOnly": false}))["found"], 1);
    desk.ok("click", json!({"target": titled("File")}));
    assert_eq!(desk.ok("find", json!({"selector": new}))["found"], 1);
}
