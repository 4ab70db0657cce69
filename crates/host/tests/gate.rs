//! The way of a call on a fake desktop.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

mod common;

use std::time::{Duration, Instant};

use common::{SCENE, Stage, call, code};
use deskhand_protocol::{Call, CallOptions, Effect, ErrorCode, EvidenceLevel};
use serde_json::json;

fn find(stage: &Stage, title: &str) -> serde_json::Value {
    let found = stage.call("find", json!({"selector": {"byTitle": {"equals": title}}}));
    found.result.unwrap_or_else(|| panic!("{:?}", found.error))["candidates"][0]["element"].clone()
}

#[test]
fn wrong_calls_name_the_field_the_value_and_the_fix() {
    let stage = Stage::new(SCENE);
    let cases = [
        ("left_klick", json!({}), ErrorCode::UnknownTool, "left_klick"),
        ("left_click", json!({"x": "a", "y": 1}), ErrorCode::InvalidInput, "`x` is \"a\""),
        ("left_click", json!({"x": 1}), ErrorCode::InvalidInput, "missing field `y`"),
        ("left_click", json!({"x": 1, "y": 1, "z": 1}), ErrorCode::InvalidInput, "unknown field `z`"),
        ("left_click", json!({"x": 1000, "y": 1}), ErrorCode::OutOfRange, "x=1000"),
        ("left_click", json!({"x": -1, "y": 1}), ErrorCode::OutOfRange, "x=-1"),
        ("screenshot", json!({"mode": "window", "window_title": "Nope"}), ErrorCode::WindowNotFound, "Nope"),
        ("find", json!({"selector": {"byTitle": {"equals": "Nope"}}}), ErrorCode::ElementNotFound, "Nope"),
        ("find", json!({"selector": {}}), ErrorCode::InvalidInput, "selector"),
        ("app_switch", json!({"name": "nothing"}), ErrorCode::AppNotFound, "nothing"),
    ];
    for (tool, args, want, part) in cases {
        let outcome = stage.call(tool, args.clone());
        let error = outcome.error.unwrap_or_else(|| panic!("{tool} {args} went through"));
        assert_eq!(error.code, want, "{tool} {args}: {error}");
        assert!(error.message.contains(part), "{tool} {args}: {error}");
        assert!(!error.hint.is_empty(), "{tool} {args}");
        assert_eq!(error.retryable, want.retryable(), "{tool}");
    }
    assert!(stage.fake.log().is_empty(), "{}", stage.fake.log_text());
}

#[test]
fn a_look_runs_at_once_and_an_action_only_with_its_phrase() {
    let stage = Stage::new(SCENE);
    assert!(stage.raw(call("system_info", json!({}))).result.is_some());
    let click = call("left_click", json!({"x": 160, "y": 212}));
    let first = stage.raw(click.clone());
    assert_eq!(code(&first), ErrorCode::ConfirmRequired);
    assert_eq!(first.effect.unwrap().effect, Effect::Refused);
    assert!(stage.fake.log().is_empty());
    let phrase = first.error.unwrap().details["phrase"].as_str().unwrap().to_owned();
    let elsewhere = Call { args: json!({"x": 1, "y": 1}), confirm: Some(phrase.clone()), ..click.clone() };
    assert_eq!(code(&stage.raw(elsewhere)), ErrorCode::ConfirmRequired);
    let second = stage.raw(Call { confirm: Some(phrase.clone()), ..click.clone() });
    assert_eq!(second.effect.as_ref().unwrap().effect, Effect::Confirmed, "{second:?}");
    assert_eq!(stage.fake.value("user").as_deref(), Some("done"));
    let again = stage.raw(Call { confirm: Some(phrase), ..click });
    assert_eq!(code(&again), ErrorCode::ConfirmRequired);
}

#[test]
fn a_click_that_does_nothing_is_not_called_a_success() {
    let stage = Stage::new(SCENE);
    let outcome = stage.call("left_click", json!({"x": 450, "y": 380}));
    let effect = outcome.effect.unwrap();
    assert_eq!(effect.effect, Effect::SuspectedNoop, "{effect:?}");
    assert_eq!(outcome.result.unwrap()["success"], json!(false));
}

#[test]
fn verification_can_be_left_out() {
    let stage = Stage::new(SCENE);
    let options = CallOptions { verify: Some(false), evidence: None };
    let outcome = stage.confirmed(Call { options, ..call("left_click", json!({"x": 160, "y": 212})) });
    assert_eq!(outcome.effect.unwrap().effect, Effect::Unverifiable);
}

#[test]
fn a_reference_to_something_that_changed_is_never_acted_on() {
    let stage = Stage::new(SCENE);
    let target = find(&stage, "Dead");
    assert!(stage.call("click", json!({"target": {"elementRef": target}})).error.is_none());
    stage.fake.run("hide #dead");
    stage.fake.clear_log();
    assert_eq!(
        code(&stage.call("click", json!({"target": {"elementRef": target}}))),
        ErrorCode::StaleSnapshot
    );
    let mut forged = find(&stage, "OK");
    forged["fingerprint"] = json!("00000000.00000000");
    assert_eq!(
        code(&stage.call("click", json!({"target": {"elementRef": forged}}))),
        ErrorCode::StaleSnapshot
    );
    forged["snapshotId"] = json!("snap-unknown");
    assert_eq!(
        code(&stage.call("click", json!({"target": {"elementRef": forged}}))),
        ErrorCode::StaleSnapshot
    );
    assert!(stage.fake.log().is_empty(), "{}", stage.fake.log_text());
}

#[test]
fn a_modal_dialog_in_the_way_is_named() {
    let stage = Stage::new(SCENE);
    let ok = find(&stage, "OK");
    stage.fake.run("open \"Really?\"");
    stage.fake.clear_log();
    let outcome = stage.call("click", json!({"target": {"elementRef": ok}}));
    let error = outcome.error.unwrap();
    assert_eq!(error.code, ErrorCode::ModalBlocking, "{error}");
    assert_eq!(error.details["modal"]["title"], json!("Really?"));
    assert!(stage.fake.log().is_empty(), "{}", stage.fake.log_text());
}

#[test]
fn wrong_focus_is_an_error_and_never_a_click_elsewhere() {
    let stage = Stage::new(SCENE);
    let route = json!({"window": {"titlePattern": "Other"}, "focusPolicy": "failIfNotFocused"});
    let outcome = stage.routed("left_click", json!({"x": 630, "y": 150}), route);
    let error = outcome.error.unwrap();
    assert_eq!(error.code, ErrorCode::FocusLost, "{error}");
    assert_eq!(error.details["frontmost"]["title"], json!("Login"));
    assert!(stage.fake.log().is_empty());
    let route = json!({"window": {"titlePattern": "Other"}});
    let outcome = stage.routed("left_click", json!({"x": 630, "y": 150}), route.clone());
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    let outcome = stage.routed("left_click", json!({"x": 10, "y": 10}), route);
    assert!(outcome.error.is_some(), "a point outside the routed window must not be clicked");
    let outcome =
        stage.routed("left_click", json!({"x": 630, "y": 150}), json!({"window": {"titlePattern": "Gone"}}));
    assert_eq!(code(&outcome), ErrorCode::WindowNotFound);
    let outcome = stage.routed("left_click", json!({"x": 630, "y": 150}), json!({"app": {"pid": 99}}));
    assert_eq!(code(&outcome), ErrorCode::AppNotFound);
}

#[test]
fn abort_in_the_midst_of_typing_stops_it_and_leaves_no_key_down() {
    let stage = Stage::new(SCENE);
    let text = "x".repeat(5000);
    std::thread::scope(|s| {
        let typing = s.spawn(|| stage.call("type_text", json!({"text": text, "delay": 2, "method": "keys"})));
        let until = Instant::now() + Duration::from_secs(20);
        while stage.fake.log().len() < 40 {
            assert!(Instant::now() < until, "typing never began");
            std::thread::sleep(Duration::from_millis(2));
        }
        let id = stage.host.executions(None)[0].request_id.0.clone();
        let done = stage.host.abort(Some(&id)).unwrap();
        assert_eq!(done["ended"], json!(true), "{done}");
        let acknowledged = Instant::now();
        let outcome = typing.join().unwrap();
        assert_eq!(code(&outcome), ErrorCode::Aborted);
        assert_eq!(outcome.effect.unwrap().effect, Effect::Partial);
        std::thread::sleep(Duration::from_millis(100));
        let late = stage.fake.log().iter().filter(|e| e.at > acknowledged).count();
        assert_eq!(late, 0, "events after the abort was acknowledged");
        let summary =
            std::fs::read_to_string(std::path::Path::new(&outcome.evidence.unwrap().path).join("summary.md"))
                .unwrap();
        assert!(summary.contains("DESKTOP_ABORTED") && summary.contains("aborted"), "{summary}");
    });
    assert!(stage.fake.desktop().input.held().is_empty());
}

#[test]
fn stop_holds_until_the_owner_resumes_and_looking_goes_on() {
    let stage = Stage::new(SCENE);
    stage.host.stop().unwrap();
    assert_eq!(code(&stage.call("left_click", json!({"x": 160, "y": 212}))), ErrorCode::Stopped);
    assert!(stage.call("system_info", json!({})).error.is_none());
    stage.host.resume();
    assert!(stage.call("left_click", json!({"x": 160, "y": 212})).error.is_none());
}

#[test]
fn actions_never_overlap() {
    let stage = Stage::new(SCENE);
    std::thread::scope(|s| {
        for letter in ["a", "b", "c", "d"] {
            let stage = &stage;
            s.spawn(move || {
                let text = letter.repeat(30);
                let outcome = stage.call("type_text", json!({"text": text, "delay": 1, "method": "keys"}));
                assert!(outcome.error.is_none(), "{:?}", outcome.error);
            });
        }
    });
    let typed = stage.fake.value("user").unwrap();
    let mut runs: Vec<char> = typed.chars().collect();
    runs.dedup();
    assert_eq!((typed.len(), runs.len()), (120, 4), "texts were mixed: {typed}");
}

#[test]
fn an_action_that_cannot_be_recorded_does_not_run() {
    let stage = Stage::new(SCENE);
    let artifacts = stage.dir.path().join("home/artifacts");
    std::fs::write(&artifacts, "a file where the folder should be").unwrap();
    let outcome = stage.call("left_click", json!({"x": 160, "y": 212}));
    assert_eq!(code(&outcome), ErrorCode::EvidenceFailed);
    assert!(stage.fake.log().is_empty(), "{}", stage.fake.log_text());
    std::fs::remove_file(&artifacts).unwrap();
    assert!(stage.call("left_click", json!({"x": 160, "y": 212})).error.is_none());
}

#[test]
fn the_evidence_of_a_click_is_whole_when_the_answer_comes() {
    let stage = Stage::new(SCENE);
    let outcome = stage.call("left_click", json!({"x": 160, "y": 212}));
    let evidence = outcome.evidence.unwrap();
    assert_eq!(evidence.incomplete, None);
    let dir = std::path::Path::new(&evidence.path);
    for file in [
        "env.json",
        "request.json",
        "response.json",
        "summary.md",
        "screenshots/001_before.png",
        "screenshots/002_after.png",
    ] {
        assert!(dir.join(file).metadata().is_ok_and(|m| m.len() > 0), "{file}");
    }
    let before = std::fs::read(dir.join("screenshots/001_before.png")).unwrap();
    let after = std::fs::read(dir.join("screenshots/002_after.png")).unwrap();
    assert_ne!(before, after, "the pictures must show the change");
}

#[test]
fn candidates_and_trees_are_kept() {
    let stage = Stage::new(SCENE);
    let full = CallOptions { verify: None, evidence: Some(EvidenceLevel::Full) };
    let outcome =
        stage.confirmed(Call { options: full, ..call("find", json!({"selector": {"byRole": "AXButton"}})) });
    let dir = std::path::PathBuf::from(outcome.evidence.unwrap().path);
    assert!(dir.join("selectors/001_candidates.json").exists());
    let outcome = stage.call("dump_ax_tree", json!({}));
    let dir = std::path::PathBuf::from(outcome.evidence.unwrap().path);
    assert!(dir.join("ax/001_dump_ax_tree.json").exists());
}

#[test]
fn what_is_typed_into_a_password_field_is_found_nowhere() {
    let stage = Stage::new(SCENE);
    let secret = "correct-horse-battery";
    let target = json!({"selector": {"byTitle": {"equals": "Password"}}});
    let outcome = stage.call("type_text", json!({"text": secret, "target": target}));
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(stage.fake.value("pw").as_deref(), Some("hunter2correct-horse-battery"));
    let read = stage.call("read_text", json!({"selector": {"byTitle": {"equals": "Password"}}}));
    assert_eq!(code(&read), ErrorCode::SecureField);
    let mut files = vec![stage.dir.path().to_path_buf()];
    let mut seen = 0;
    while let Some(path) = files.pop() {
        if path.is_dir() {
            files.extend(std::fs::read_dir(path).unwrap().map(|e| e.unwrap().path()));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            for word in [secret, "hunter2"] {
                assert!(
                    !bytes.windows(word.len()).any(|w| w == word.as_bytes()),
                    "{} holds it",
                    path.display()
                );
            }
            seen += 1;
        }
    }
    assert!(seen > 3);
}

#[test]
fn two_displays_need_a_name_for_coordinates() {
    let scene = SCENE
        .replace("display 0 1000x800 primary", "display 0 1000x800 primary\ndisplay 1 800x600 at=1000,0");
    let stage = Stage::new(&scene);
    let outcome = stage.call("left_click", json!({"x": 160, "y": 212}));
    assert_eq!(code(&outcome), ErrorCode::DisplayRequired);
    assert!(stage.fake.log().is_empty());
    let outcome =
        stage.routed("left_click", json!({"x": 160, "y": 212}), json!({"display": {"displayId": 1}}));
    assert_eq!(code(&outcome), ErrorCode::OutOfRange);
    let outcome =
        stage.routed("left_click", json!({"x": 160, "y": 212}), json!({"display": {"displayId": 0}}));
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
    assert_eq!(stage.fake.value("user").as_deref(), Some("done"));
}

#[test]
fn a_request_id_cannot_leave_the_evidence_folder() {
    let stage = Stage::new(SCENE);
    for id in ["../../x", "a/b", ".hidden", "", "x y", &"a".repeat(200)] {
        let outcome = stage
            .raw(Call { request_id: id.into(), ..call("find", json!({"selector": {"byRole": "button"}})) });
        assert_eq!(code(&outcome), ErrorCode::InvalidInput, "{id:?}");
    }
}

#[test]
fn every_decision_and_outcome_is_in_the_audit_log() {
    let stage = Stage::new(SCENE);
    stage.call("left_click", json!({"x": 160, "y": 212}));
    stage.call("nope", json!({}));
    let log = std::fs::read_to_string(stage.dir.path().join("home/audit.jsonl")).unwrap();
    for word in ["left_click", "DESKTOP_CONFIRM_REQUIRED", "confirmed", "DESKTOP_UNKNOWN_TOOL"] {
        assert!(log.contains(word), "{word} is missing in {log}");
    }
}

/// request.json of an outcome's evidence.
fn request(outcome: &deskhand_protocol::Outcome) -> String {
    let dir = std::path::PathBuf::from(&outcome.evidence.as_ref().unwrap().path);
    std::fs::read_to_string(dir.join("request.json")).unwrap()
}

#[test]
fn text_whose_field_nobody_knows_is_not_kept() {
    let stage = Stage::new(SCENE);
    let secret = "correct-horse-battery";
    let missing = json!({"selector": {"byTitle": {"equals": "Nobody"}}});
    let outcome = stage.call("type_text", json!({"text": secret, "target": missing}));
    assert_eq!(code(&outcome), ErrorCode::ElementNotFound);
    assert!(!request(&outcome).contains(secret), "{}", request(&outcome));
    let route = json!({"window": {"titlePattern": "Gone"}});
    let outcome = stage.routed("type_text", json!({"text": secret}), route);
    assert_eq!(code(&outcome), ErrorCode::WindowNotFound);
    assert!(!request(&outcome).contains(secret));
    let launch = json!({"name": "nosuch", "args": ["--password=correct-horse-battery", "--token", secret]});
    let outcome = stage.call("app_launch", launch);
    assert!(!request(&outcome).contains(secret));
    for args in [json!([secret]), json!({"text": [secret]}), json!({"text": {"a": secret}})] {
        assert_eq!(code(&stage.call("type_text", args)), ErrorCode::InvalidInput);
    }
    let log = std::fs::read_to_string(stage.dir.path().join("home/audit.jsonl")).unwrap();
    assert!(!log.contains(secret), "{log}");
    // A field that is known and no secret: the text may be read later.
    let outcome = stage.call("type_text", json!({"text": "plain words"}));
    assert!(request(&outcome).contains("plain words"), "{}", request(&outcome));
}

#[test]
fn an_action_that_was_half_done_is_not_called_refused() {
    let stage = Stage::new(SCENE);
    std::thread::scope(|s| {
        s.spawn(|| {
            for _ in 0..10_000 {
                if stage.fake.value("user").is_some_and(|v| v.len() >= 5) {
                    break;
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            stage.fake.run("activate \"Other\"");
        });
        let outcome = stage.call("type_text", json!({"text": "x".repeat(500), "delay": 5}));
        assert_eq!(code(&outcome), ErrorCode::FocusLost);
        assert_eq!(outcome.effect.unwrap().effect, Effect::Partial);
    });
    stage.fake.run("activate \"Login\"");
    let route = json!({"window": {"titlePattern": "Other"}, "focusPolicy": "failIfNotFocused"});
    let outcome = stage.routed("type_text", json!({"text": "x"}), route);
    assert_eq!(outcome.effect.unwrap().effect, Effect::Refused);
}

#[test]
fn wrong_arguments_are_told_before_a_confirmation_is_asked_for() {
    let stage = Stage::new(SCENE);
    let cases = [
        ("key_press", json!({"keys": ["nosuchkey"]})),
        ("hotkey", json!({"keys": ["ctrl"], "reason": ""})),
        ("type_text", json!({"text": ""})),
        ("scroll", json!({"direction": "down"})),
        ("click", json!({"target": {"selector": {}}})),
    ];
    for (tool, args) in cases {
        assert_eq!(code(&stage.raw(call(tool, args.clone()))), ErrorCode::InvalidInput, "{tool} {args}");
    }
}

#[test]
fn text_does_not_go_to_a_button_that_has_the_focus() {
    let scene = SCENE
        .replace("size=200x24 focused", "size=200x24")
        .replace("size=80x24 noop", "size=80x24 noop focused");
    let stage = Stage::new(&scene);
    let outcome = stage.call("type_text", json!({"text": "a b"}));
    let error = outcome.error.unwrap();
    assert_eq!(error.code, ErrorCode::NotActionable, "{error}");
    assert!(error.hint.contains("target"), "{}", error.hint);
    assert!(stage.fake.log().is_empty(), "{}", stage.fake.log_text());
    let anyway = stage.call("type_text", json!({"text": "a b", "method": "keys", "delay": 0}));
    assert_eq!(anyway.effect.unwrap().effect, Effect::Unverifiable, "sent is not arrived");
}
