//! One process cannot keep out the others, nor fill the log.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod common;

use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::Duration;

use common::{Desk, HANG, Raw, call_line, until};
use deskhand_bridge::{CallRequest, Check, Client, Limits};
use deskhand_protocol::{Error, ErrorCode, method};
use serde_json::{Value, json};

/// Runs in a child only: asks on one connection and says what came.
#[test]
fn child_asks() {
    let Some(socket) = std::env::var_os("BRIDGE_TEST_SOCKET") else { return };
    let client = Client::connect(socket.as_ref(), "child", "0").unwrap();
    let word = |result: Result<Value, Error>| match result {
        Ok(_) => "ok".to_owned(),
        Err(error) => format!("{} {}", error.code, error.details.get("limit").unwrap_or(&Value::Null)),
    };
    let call = word(client.call(CallRequest::new("echo", json!(1)), HANG));
    let doctor = word(client.request(method::DOCTOR, &Value::Null, HANG));
    let status = word(client.request(method::STATUS, &Value::Null, HANG));
    let stop = word(client.request(method::STOP, &Value::Null, HANG));
    println!("\nsaid: {call}, {doctor}, {status}, {stop}");
}

fn another_process(desk: &Desk) -> String {
    let out = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_asks", "--nocapture"])
        .env("BRIDGE_TEST_SOCKET", desk.socket())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(out.stdout).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("said: "));
    line.unwrap_or_else(|| panic!("{text} {}", String::from_utf8_lossy(&out.stderr))).to_owned()
}

fn turned_away(desk: &Desk) -> (Value, Value) {
    let error = desk.client().request(method::STATUS, &Value::Null, HANG).unwrap_err();
    assert_eq!(error.code, ErrorCode::Busy, "{error}");
    (error.details["cap"].clone(), error.details["limit"].clone())
}

#[test]
fn one_process_holds_so_many_connections_and_no_more() {
    let desk = Desk::new(Limits::default());
    let held: Vec<_> = (0..120).map(|_| Raw::greeted(&desk.socket())).collect();
    for _ in 0..3 {
        assert_eq!(turned_away(&desk), (json!("connections_per_process"), json!(120)));
    }
    // Told once, not for each.
    let told = desk.host.notices.lock().unwrap().iter().filter(|text| text.contains("turned away")).count();
    assert_eq!(told, 1);
    assert_eq!(another_process(&desk), "ok, DESKTOP_BAD_REQUEST null, ok, ok", "there is room for others");
    drop(held);
    until("room again", || desk.clients() == 0);
    assert!(desk.client().request(method::STATUS, &Value::Null, HANG).is_ok());
}

#[test]
fn a_stop_gets_in_when_one_process_holds_all_the_rest() {
    let limits = Limits { connections: 12, reserved: 2, ..Limits::default() };
    let desk = Desk::new(limits);
    let mut held: Vec<_> = (0..10).map(|_| Raw::greeted(&desk.socket())).collect();
    held[0].line(&call_line(1, "block", &Value::Null));
    until("it blocks", || desk.host.blocked.load(Ordering::SeqCst) == 1);
    assert_eq!(turned_away(&desk), (json!("reserved"), json!(10)), "it has connections to stop things with");
    assert_eq!(another_process(&desk), "DESKTOP_BUSY 2, DESKTOP_BUSY 2, ok, ok");
    assert_eq!(held[0].answer().unwrap()["result"], "released");
}

#[test]
fn a_place_of_the_reserve_is_not_kept_by_who_says_nothing() {
    let limits =
        Limits { connections: 1, reserved: 1, hello: Duration::from_millis(200), ..Limits::default() };
    let desk = Desk::new(limits);
    let mut idle = Raw::greeted(&desk.socket());
    // Half a request is not said, either.
    idle.send(b"{");
    let answer = idle.answer().unwrap();
    assert_eq!(answer["error"]["data"]["code"], "DESKTOP_BUSY", "{answer}");
    assert_eq!(idle.answer(), None);
    until("room again", || desk.clients() == 0);
    // An ordinary connection may be idle.
    let desk = Desk::new(Limits { hello: Duration::from_millis(50), ..Limits::default() });
    let client = desk.client();
    client.hello().unwrap();
    std::thread::sleep(Duration::from_millis(200));
    assert!(client.request(method::STATUS, &Value::Null, HANG).is_ok());
}

#[test]
fn calls_of_one_process_are_counted_over_its_connections() {
    let desk = Desk::new(Limits { calls_per_process: 40, ..Limits::default() });
    let (mut one, mut two) = (Raw::greeted(&desk.socket()), Raw::greeted(&desk.socket()));
    for id in 0..30 {
        one.line(&call_line(id, "block", &Value::Null));
    }
    until("thirty run", || desk.host.blocked.load(Ordering::SeqCst) == 30);
    for id in 0..11 {
        two.line(&call_line(id, "block", &Value::Null));
    }
    let answer = two.answer().unwrap();
    assert_eq!((&answer["id"], &answer["error"]["data"]["details"]["limit"]), (&json!(10), &json!(40)));
    assert!(answer["error"]["message"].as_str().unwrap().contains("for this process"), "{answer}");
    assert_eq!(another_process(&desk), "ok, DESKTOP_BAD_REQUEST null, ok, ok");
    // All was given back, on each level.
    for _ in 0..30 {
        assert_eq!(one.answer().unwrap()["result"], "released");
    }
    for _ in 0..10 {
        assert_eq!(two.answer().unwrap()["result"], "released");
    }
    for id in 0..100 {
        one.line(&call_line(id, "echo", &json!(id)));
        assert_eq!(one.answer().unwrap()["result"], id);
    }
}

#[test]
fn the_same_refusal_is_told_once_in_a_while_with_the_number_of_the_others() {
    let every = Duration::from_secs(2);
    let desk = Desk::strict(Limits { refusal_every: every, ..Limits::default() });
    let knock = || {
        let error = desk.client().request(method::STATUS, &Value::Null, HANG).unwrap_err();
        assert_eq!(error.code, ErrorCode::CallerRefused);
        assert!(!error.message.contains("not told"), "{error}");
    };
    let begin = std::time::Instant::now();
    for _ in 0..20 {
        knock();
    }
    // A machine so slow that the time is up meanwhile shows nothing.
    if begin.elapsed() < every {
        assert_eq!(desk.host.checks(), [Check::Path]);
    }
    std::thread::sleep(every);
    knock();
    let refusals = desk.host.refusals.lock().unwrap();
    assert!(refusals.len() >= 2 && refusals.len() < 20, "{}", refusals.len());
    assert!(refusals.last().unwrap().why.contains("before this one were not told"), "{refusals:?}");
    if begin.elapsed() < 2 * every {
        assert!(refusals.last().unwrap().why.contains("(19 refusals"), "{refusals:?}");
    }
}
