use std::time::{Duration, Instant};

use deskhand_protocol::{Effect, ErrorCode, Layer};
use deskhand_tools::Watch;
use expect_test::expect;
use serde_json::json;

use crate::desk::{Desk, middle, titled};

const FORM: &str = r#"
window "Login" pid=7 app="login" at=100,100 size=400x300 focused
  edit #user "User" value="" at=120,140 size=200x24
  button #ok "OK" at=120,180 size=80x24 -> set #user "done"
  button #off "Off" at=220,180 size=80x24 disabled
window "Other" pid=9 app="other" at=700,100 size=300x300
  button #there "There" at=720,140 size=80x24 -> rename #there "Pressed"
"#;

#[test]
fn a_left_click_moves_presses_and_lets_go() {
    let desk = Desk::new(FORM);
    let (value, report) = desk.watched("left_click", json!({"x": 160, "y": 192}));
    assert_eq!(value, json!({"success": true, "position": {"x": 160, "y": 192}}));
    assert_eq!(desk.fake.value("user").as_deref(), Some("done"));
    assert_eq!((report.layer, report.fallback), (Some(Layer::Coordinates), false));
    assert_eq!(report.hit.as_deref(), Some("button \"OK\""));
    assert_eq!(*desk.notes.before.borrow(), 1);
    expect![[r#"
        move 160,192
        button Left down
        button Left up
    "#]]
    .assert_eq(&desk.fake.log_text());
}

#[test]
fn without_verify_it_asks_nothing_and_still_clicks() {
    let mut desk = Desk::new(FORM);
    desk.verify = false;
    let (_, report) = desk.watched("left_click", json!({"x": 160, "y": 192}));
    assert_eq!(report.hit, None);
    assert_eq!(desk.fake.value("user").as_deref(), Some("done"));
}

#[test]
fn modifiers_are_held_around_and_buttons_counted() {
    let desk = Desk::new(FORM);
    desk.ok("left_click", json!({"x": 160, "y": 192, "modifiers": ["ctrl", "shift"]}));
    desk.ok("right_click", json!({"x": 160, "y": 192}));
    desk.ok("double_click", json!({"x": 160, "y": 192}));
    expect![[r#"
        move 160,192
        key ctrl down
        key shift down
        button Left down
        button Left up
        key shift up
        key ctrl up
        move 160,192
        button Right down
        button Right up
        move 160,192
        button Left down
        button Left up
        button Left down
        button Left up
    "#]]
    .assert_eq(&desk.fake.log_text());
}

#[test]
fn bad_arguments_name_the_field_and_send_nothing() {
    let desk = Desk::new(FORM);
    let cases = [
        ("left_click", json!({"x": 5000, "y": 10}), ErrorCode::OutOfRange, "x=5000"),
        ("left_click", json!({"x": -1, "y": 10}), ErrorCode::OutOfRange, "x=-1"),
        ("left_click", json!({"x": 1}), ErrorCode::InvalidInput, "y"),
        ("left_click", json!({"x": "a", "y": 1}), ErrorCode::InvalidInput, "`x`"),
        (
            "left_click",
            json!({"x": 1, "y": 1, "modifiers": ["hyper"]}),
            ErrorCode::InvalidInput,
            "modifiers[0]",
        ),
        ("left_click", json!({"x": 1, "y": 1, "z": 1}), ErrorCode::InvalidInput, "z"),
        (
            "left_click",
            json!({"x": 1, "y": 1, "screenshotId": "shot-none"}),
            ErrorCode::StaleSnapshot,
            "shot-none",
        ),
        ("right_click", json!({"x": 1920, "y": 1}), ErrorCode::OutOfRange, "outside the desktop"),
        ("double_click", json!({"x": 1, "y": 1080}), ErrorCode::OutOfRange, "outside the desktop"),
        ("mouse_move", json!({"x": 1, "y": 1, "duration": -5}), ErrorCode::InvalidInput, "duration"),
        (
            "mouse_drag",
            json!({"from_x": 1, "from_y": 1, "to_x": 9999, "to_y": 1}),
            ErrorCode::OutOfRange,
            "to_x",
        ),
        ("mouse_drag", json!({"from_x": 1, "from_y": 1, "to_x": 2}), ErrorCode::InvalidInput, "to_y"),
        ("scroll", json!({"x": 1, "y": 1, "direction": "sideways"}), ErrorCode::InvalidInput, "direction"),
        (
            "scroll",
            json!({"x": 1, "y": 1, "direction": "up", "amount": 0}),
            ErrorCode::InvalidInput,
            "amount",
        ),
        ("scroll", json!({"direction": "up"}), ErrorCode::InvalidInput, "x is missing"),
        (
            "scroll",
            json!({"direction": "up", "x": 1, "y": 1, "target": titled("OK")}),
            ErrorCode::InvalidInput,
            "target",
        ),
        ("click", json!({"target": titled("OK"), "count": 4}), ErrorCode::InvalidInput, "count"),
        ("click", json!({"target": titled("Nope")}), ErrorCode::ElementNotFound, "Nope"),
        ("click", json!({"target": titled("Off")}), ErrorCode::NotActionable, "disabled"),
    ];
    for (tool, args, code, says) in cases {
        let e = desk.err(tool, args.clone());
        assert_eq!(e.code, code, "{tool} {args}: {e}");
        assert!(e.message.contains(says), "{tool} {args}: {e}");
        assert!(!e.hint.is_empty());
    }
    assert_eq!(desk.fake.log_text(), "");
}

#[test]
fn nothing_is_sent_when_the_evidence_cannot_be_kept() {
    let mut desk = Desk::new(FORM);
    desk.notes.full_disk = true;
    let calls = [
        ("left_click", json!({"x": 160, "y": 192})),
        ("mouse_move", json!({"x": 160, "y": 192})),
        ("mouse_drag", json!({"from_x": 160, "from_y": 192, "to_x": 1, "to_y": 1})),
        ("scroll", json!({"x": 160, "y": 192, "direction": "up"})),
        ("click", json!({"target": titled("OK")})),
        ("type_text", json!({"text": "x"})),
        ("key_press", json!({"keys": ["a"]})),
    ];
    for (tool, args) in calls {
        assert_eq!(desk.err(tool, args).code, ErrorCode::EvidenceFailed, "{tool}");
    }
    assert_eq!(desk.fake.log_text(), "");
}

#[test]
fn a_move_is_confirmed_by_the_pointer_and_takes_its_time() {
    let desk = Desk::new(FORM);
    let started = Instant::now();
    let value = desk.effect("mouse_move", json!({"x": 300.7, "y": 20}), Effect::Confirmed);
    assert_eq!(value["position"], json!({"x": 300, "y": 20}));
    assert!(started.elapsed() >= Duration::from_millis(50), "it jumped");
    assert!(desk.fake.log().len() > 3, "a smooth move has steps");
    desk.fake.clear_log();
    desk.effect("mouse_move", json!({"x": 10, "y": 20, "smooth": false}), Effect::Confirmed);
    assert_eq!(desk.fake.log_text(), "move 10,20\n");
}

#[test]
fn a_drag_holds_the_button_from_start_to_end() {
    let desk = Desk::new(FORM);
    let (value, _) = desk.watched(
        "mouse_drag",
        json!({"from_x": 150, "from_y": 110, "to_x": 600, "to_y": 500, "duration": 40}),
    );
    assert_eq!(value, json!({"success": true, "from": {"x": 150, "y": 110}, "to": {"x": 600, "y": 500}}));
    let log = desk.fake.log_text();
    let lines: Vec<&str> = log.lines().collect();
    assert_eq!(lines[..2], ["move 150,110", "button Left down"]);
    assert_eq!(lines[lines.len() - 2..], ["move 600,500", "button Left up"]);
    assert!(lines.len() >= 6, "{log}");
}

#[test]
fn a_drag_that_is_aborted_lets_go_at_once() {
    let desk = Desk::new(FORM);
    let cancel = desk.cancel.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(150));
        cancel.cancel();
    });
    let e = desk.err(
        "mouse_drag",
        json!({"from_x": 150, "from_y": 110, "to_x": 900, "to_y": 500, "duration": 20000}),
    );
    assert_eq!(e.code, ErrorCode::Aborted);
    assert!(desk.fake.log_text().ends_with("button Left up\n"));
}

#[test]
fn scrolling_by_place_and_by_target() {
    let desk = Desk::new(
        r#"
window "List" pid=7 at=0,0 size=400x300 focused
  scroll #pane "Rows" at=20,40 size=300x100
    button #a "A" at=24,44 size=100x24
    button #b "B" at=24,244 size=100x24
"#,
    );
    let (value, _) = desk.watched("scroll", json!({"x": 100, "y": 80, "direction": "down"}));
    assert_eq!(value["scrolled"], 360);
    let (value, report) = desk.watched(
        "scroll",
        json!({"target": {"selector": {"byTitle": {"equals": "Rows"}}}, "direction": "up", "amount": 100}),
    );
    assert_eq!(value["scrolled"], 120);
    assert!(report.at.is_some());
    expect![[r#"
        move 100,80
        wheel 0,360
        move 170,90
        wheel 0,-120
    "#]]
    .assert_eq(&desk.fake.log_text());
}

#[test]
fn a_modal_dialog_blocks_clicks_behind_it() {
    let desk = Desk::new(
        r#"
window "Main" pid=7 at=0,0 size=800x600
  button #b "Behind" at=20,40 size=80x24
window "Really?" pid=7 modal for="Main" at=200,200 size=200x100 focused
  button "Yes" at=220,240 size=80x24 -> close
"#,
    );
    let e = desk.err("left_click", json!({"x": 40, "y": 50}));
    assert_eq!(e.code, ErrorCode::ModalBlocking, "{e}");
    assert_eq!(e.details["modal"]["title"], "Really?");
    assert_eq!(desk.err("click", json!({"target": titled("Behind")})).code, ErrorCode::ModalBlocking);
    assert_eq!(desk.fake.log_text(), "");
    desk.ok("click", json!({"target": titled("Yes")}));
    desk.ok("left_click", json!({"x": 40, "y": 50}));
}

#[test]
fn a_routed_click_must_lie_in_its_window() {
    let desk = Desk::new(FORM);
    let login = json!({"window": {"titlePattern": "^Login$"}});
    let e = desk.routed("left_click", json!({"x": 760, "y": 152}), &login).unwrap_err();
    assert_eq!(e.code, ErrorCode::OutOfRange, "{e}");
    assert_eq!(e.details["valid"], json!({"x": 100, "y": 100, "width": 400, "height": 300}));
    // Brought to the front first, then clicked.
    let other = json!({"app": {"pid": 9}});
    desk.routed("left_click", json!({"x": 760, "y": 152}), &other).unwrap();
    assert_eq!(desk.fake.element("there").unwrap().name, "Pressed");
    // It has the focus now; the other one must not get a click.
    let strict = json!({"window": {"titlePattern": "Login"}, "focusPolicy": "failIfNotFocused"});
    let e = desk.routed("left_click", json!({"x": 160, "y": 192}), &strict).unwrap_err();
    assert_eq!(e.code, ErrorCode::FocusLost);
    assert_eq!(e.details["frontmost"]["title"], "Other");
}

#[test]
fn a_window_in_front_of_the_routed_point_is_not_clicked() {
    let desk = Desk::new(
        r#"
window "Top" pid=9 at=50,50 size=200x200
window "Below" pid=7 at=0,0 size=800x600 focused
  button #b "B" at=100,100 size=80x24
"#,
    );
    // The focused window lies on top in the fake; put the other one there without the focus changing back.
    desk.fake.run("activate \"Top\"");
    let route = json!({"window": {"titlePattern": "Below"}, "focusPolicy": "requireFocused"});
    let e = desk.routed("left_click", json!({"x": 120, "y": 110}), &route).unwrap_err();
    assert_eq!(e.code, ErrorCode::FocusLost, "{e}");
    assert_eq!(desk.fake.log_text(), "");
}

const TWO: &str = r#"
display 0 1000x800 primary
display 1 1280x1024 at=1000,0 scale=2
window "Left" pid=7 at=100,100 size=300x200 focused
  button #l "L" at=120,140 size=80x24 -> rename #l "hit"
window "Right" pid=9 at=1100,100 size=300x200
  button #r "R" at=1120,140 size=80x24 -> rename #r "hit"
"#;

#[test]
fn with_two_displays_the_display_must_be_named() {
    let desk = Desk::new(TWO);
    let e = desk.err("left_click", json!({"x": 140, "y": 150}));
    assert_eq!(e.code, ErrorCode::DisplayRequired);
    assert_eq!(e.details["displays"].as_array().unwrap().len(), 2);
    assert_eq!(desk.fake.log_text(), "");
    let on = |id: u32| json!({"display": {"displayId": id}});
    let e = desk.routed("left_click", json!({"x": 140, "y": 150}), &on(1)).unwrap_err();
    assert_eq!(e.code, ErrorCode::OutOfRange);
    desk.routed("left_click", json!({"x": 1140, "y": 150}), &on(1)).unwrap();
    assert_eq!(desk.fake.element("r").unwrap().name, "hit");
    // A screenshot of one display names it, and its pixels map back.
    let shot = desk.routed("screenshot", json!({"mode": "fullscreen"}), &on(1)).unwrap().0;
    assert_eq!(shot["scale"], 2.0);
    let scale = 1280.0 / shot["width"].as_f64().unwrap();
    let (x, y) = ((1140.5 - 1000.0) / scale, 150.5 / scale);
    let value = desk.ok("left_click", json!({"x": x, "y": y, "screenshotId": shot["screenshotId"]}));
    assert_eq!(value["position"], json!({"x": 1140, "y": 150}));
}

#[test]
fn click_points_at_the_element_and_presses_what_is_out_of_sight() {
    let desk = Desk::new(
        r#"
window "Main" pid=7 at=0,0 size=800x600 focused
  button #ok "OK" at=20,40 size=80x24 -> set #note "pressed"
  edit #user "User" value="" at=20,80 size=200x24
  label #note "note" at=20,120 size=200x24
  image #pic "Picture" at=20,160 size=50x50
  list "Fruit" at=300,40 size=200x100
    option #apple "Apple" at=304,44 size=180x24
  check #box "Box" at=300,200 size=100x24
  button #far "Far" at=20,2000 size=80x24 -> set #note "far"
"#,
    );
    let (value, report) = desk.watched("click", json!({"target": titled("OK")}));
    assert_eq!((value["layer"].as_str(), &value["position"]), (Some("element"), &json!({"x": 60, "y": 52})));
    assert_eq!(report.hit.as_deref(), Some("button \"OK\""));
    assert_eq!(desk.fake.value("note").as_deref(), Some("pressed"));
    // Every event at a place keeps the picture before it.
    assert_eq!(*desk.notes.before.borrow(), 1);

    let (_, report) = desk.own("click", json!({"target": titled("User")}));
    assert_eq!(report.effect, Effect::Confirmed, "{}", report.why);
    assert!(desk.fake.element("user").unwrap().states.focused);
    desk.ok("click", json!({"target": titled("Apple")}));
    assert!(desk.fake.element("apple").unwrap().states.selected);
    desk.ok("click", json!({"target": titled("Box")}));
    assert!(desk.fake.element("box").unwrap().states.checked);

    desk.fake.clear_log();
    let (value, _) = desk.watched("click", json!({"target": titled("Picture")}));
    assert_eq!(value["position"], json!({"x": 45, "y": 185}));
    desk.watched("click", json!({"target": titled("OK"), "button": "right"}));
    assert!(desk.fake.log_text().contains("button Right down"));

    // Known from an earlier reading, then scrolled out of sight: its own action is left.
    desk.fake.clear_log();
    let far = desk.ok("find", json!({"selector": {"byTitle": {"equals": "Far"}}, "visibleOnly": false}));
    let (value, report) = desk.watched("click", json!({"target": {"elementRef": far["chosen"]}}));
    assert_eq!((value.get("position"), report.layer), (None, Some(Layer::Element)), "{report:?}");
    assert_eq!(desk.fake.value("note").as_deref(), Some("far"));
    assert!(!desk.fake.log_text().contains("move"), "{}", desk.fake.log_text());
    // Kept for the evidence: why each element was chosen.
    assert!(desk.notes.candidates.borrow().iter().all(|c| c[0].chosen && !c[0].reasons.is_empty()));
}

#[test]
fn a_click_that_is_swallowed_is_left_to_the_host_to_judge() {
    let desk = Desk::new("window \"W\" pid=7 focused\n  button #b \"Dead\" noop");
    for (tool, args) in [("click", json!({"target": titled("Dead")})), {
        let (x, y) = middle(&desk, "b");
        ("left_click", json!({"x": x, "y": y}))
    }] {
        let (_, watch) = desk.call(tool, args).unwrap();
        let Watch::Changes { pid, within, .. } = watch else { panic!("{tool}: {watch:?}") };
        assert_eq!(pid, Some(7));
        assert!(within.is_some());
    }
}

#[test]
fn click_refuses_stale_references_and_other_windows() {
    let desk = Desk::new(FORM);
    let found = desk.ok("find", json!({"selector": {"byTitle": {"equals": "OK"}}}));
    let target = json!({"target": {"elementRef": found["chosen"]}});
    desk.ok("click", target.clone());
    // The same reference again: still good. Routed elsewhere: refused.
    let other = json!({"window": {"titlePattern": "Other"}});
    let e = desk.routed("click", target.clone(), &other).unwrap_err();
    assert_eq!(e.code, ErrorCode::NotActionable, "{e}");
    desk.fake.run("rename #ok \"Cancel\"");
    assert_eq!(desk.err("click", target.clone()).code, ErrorCode::StaleSnapshot);
    desk.fake.run("remove #ok");
    assert_eq!(desk.err("click", target).code, ErrorCode::StaleSnapshot);
    let forged = json!({"target": {"elementRef": {"elementId": "e999", "snapshotId": found["snapshotId"], "fingerprint": "x", "rect": {"x":0,"y":0,"width":1,"height":1}}}});
    assert_eq!(desk.err("click", forged).code, ErrorCode::StaleSnapshot);
}

#[test]
fn a_covered_element_is_not_clicked_through_what_covers_it() {
    let desk = Desk::new(
        r#"
window "Main" pid=7 at=0,0 size=800x600 focused
  image #pic "Picture" at=100,100 size=50x50
window "Cover" pid=9 at=50,50 size=200x200 above
"#,
    );
    let found = desk.ok("find", json!({"selector": {"byTitle": {"equals": "Picture"}}}));
    desk.fake.run("activate \"Cover\"");
    let e = desk.err("click", json!({"target": {"elementRef": found["chosen"]}}));
    assert_eq!(e.code, ErrorCode::NotActionable, "{e}");
    assert!(e.details["reason"].as_str().unwrap().contains("Cover"), "{e}");
    assert_eq!(desk.fake.log_text(), "");
}
