//! Many clients, slow clients, clients that die.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod common;

use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use common::{Desk, HANG, Raw, call_line, until};
use deskhand_bridge::{CallRequest, Client, Endpoint, Limits, MAX_IN_FLIGHT, lock_holder};
use deskhand_protocol::{ErrorCode, method};
use serde_json::{Value, json};

#[test]
fn a_hundred_clients_at_once() {
    let limits = Limits { connections_per_process: 100, calls_per_process: 100, ..Limits::default() };
    let desk = Desk::new(limits);
    std::thread::scope(|scope| {
        for n in 0..100 {
            let desk = &desk;
            scope.spawn(move || {
                let client = desk.client();
                for i in 0..10 {
                    let args = json!({"client": n, "call": i});
                    assert_eq!(client.call(CallRequest::new("echo", args.clone()), HANG).unwrap(), args);
                }
            });
        }
    });
    assert_eq!(desk.host.calls.load(Ordering::SeqCst), 1000);
    until("all gone", || desk.clients() == 0);
}

#[test]
fn one_client_of_many_threads() {
    let desk = Desk::new(Limits::default());
    let client = desk.client();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let client = &client;
            scope.spawn(move || {
                for i in 0..50 {
                    let args = json!([n, i]);
                    assert_eq!(client.call(CallRequest::new("echo", args.clone()), HANG).unwrap(), args);
                }
            });
        }
    });
    assert_eq!(client.hello().unwrap().host_pid, std::process::id());
}

#[test]
fn a_batch_comes_back_in_any_order() {
    let desk = Desk::new(Limits::default());
    let client = desk.client();
    let blocked = client.send_call(CallRequest::new("block", Value::Null)).unwrap();
    let mut tickets: Vec<_> =
        (1..MAX_IN_FLIGHT).map(|n| client.send_call(CallRequest::new("echo", json!(n))).unwrap()).collect();
    assert_eq!(client.send_call(CallRequest::new("echo", json!(0))).unwrap_err().code, ErrorCode::Busy);
    for _ in 1..MAX_IN_FLIGHT {
        let answer = client.recv(HANG).unwrap();
        let at = tickets.iter().position(|ticket| *ticket == answer.ticket).unwrap();
        tickets.remove(at);
    }
    assert_eq!(client.recv(Duration::from_millis(20)).unwrap_err().code, ErrorCode::Timeout);
    desk.host.release();
    assert_eq!(client.recv(HANG).unwrap().ticket, blocked);
    assert_eq!(client.recv(HANG).unwrap_err().code, ErrorCode::NotFound);
}

#[test]
fn a_client_that_does_not_read_is_cut_off_and_others_do_not_notice() {
    let limits = Limits { queue_bytes: 2_000_000, ..Limits::default() };
    let desk = Desk::new(limits);
    let mut slow = Raw::greeted(&desk.socket());
    for id in 0..20 {
        slow.line(&call_line(id, "long", &json!({"bytes": 500_000})));
    }
    let quick = desk.client();
    let begin = Instant::now();
    let mut calls = 0;
    until("the slow one is cut off", || {
        assert_eq!(quick.call(CallRequest::new("echo", json!(1)), HANG).unwrap(), 1);
        calls += 1;
        desk.clients() == 1
    });
    assert!(calls > 0 && begin.elapsed() < HANG);
    until("it is said", || desk.host.noticed("too slow"));
}

#[test]
fn a_client_that_stops_reading_is_given_up_after_a_while() {
    let desk = Desk::new(Limits { stall: Duration::from_millis(100), ..Limits::default() });
    let mut slow = Raw::greeted(&desk.socket());
    slow.line(&call_line(1, "long", &json!({"bytes": 5_000_000})));
    until("given up", || desk.clients() == 0);
    until("it is said", || desk.host.noticed("read nothing"));
}

#[test]
fn lanes_are_bounded_and_stop_passes_when_all_is_busy() {
    let desk = Desk::new(Limits { calls: 40, calls_per_connection: 30, ..Limits::default() });
    let (mut one, mut two) = (Raw::greeted(&desk.socket()), Raw::greeted(&desk.socket()));
    for id in 0..31 {
        one.line(&call_line(id, "block", &Value::Null));
    }
    let answer = one.answer().unwrap();
    assert_eq!((&answer["id"], &answer["error"]["data"]["details"]["limit"]), (&json!(30), &json!(30)));
    until("thirty run", || desk.host.blocked.load(Ordering::SeqCst) == 30);
    for id in 0..11 {
        two.line(&call_line(id, "block", &Value::Null));
    }
    let answer = two.answer().unwrap();
    assert_eq!((&answer["id"], &answer["error"]["data"]["code"]), (&json!(10), &json!("DESKTOP_BUSY")));
    assert_eq!(answer["error"]["data"]["details"]["limit"], 40);
    until("forty run", || desk.host.blocked.load(Ordering::SeqCst) == 40);
    let third = desk.client();
    assert!(third.request(method::STATUS, &Value::Null, HANG).is_ok());
    assert_eq!(third.request(method::STOP, &Value::Null, HANG).unwrap(), "stopped");
    for _ in 0..30 {
        assert_eq!(one.answer().unwrap()["result"], "released");
    }
}

#[test]
fn one_connection_too_many_is_told_so() {
    let desk = Desk::new(Limits { connections: 3, reserved: 0, ..Limits::default() });
    let held: Vec<_> = (0..3).map(|_| Raw::greeted(&desk.socket())).collect();
    let error = desk.client().request(method::STATUS, &Value::Null, HANG).unwrap_err();
    assert_eq!((error.code, &error.details["limit"]), (ErrorCode::Busy, &json!(3)));
    drop(held);
    until("room again", || desk.clients() == 0);
    assert!(desk.client().request(method::STATUS, &Value::Null, HANG).is_ok());
}

/// Runs in a child only: calls, and waits to be killed.
#[test]
fn child_blocks() {
    let Some(socket) = std::env::var_os("BRIDGE_TEST_SOCKET") else { return };
    let client = Client::connect(socket.as_ref(), "child", "0").unwrap();
    let _ = client.call(CallRequest::new("block", Value::Null), HANG);
}

#[test]
fn a_client_killed_mid_call_is_noticed() {
    let desk = Desk::new(Limits::default());
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child_blocks"])
        .env("BRIDGE_TEST_SOCKET", desk.socket())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    until("the call runs", || desk.host.blocked.load(Ordering::SeqCst) == 1);
    assert_eq!(desk.host.gone.load(Ordering::SeqCst), 0);
    child.kill().unwrap();
    child.wait().unwrap();
    until("the call learnt it", || desk.host.gone.load(Ordering::SeqCst) == 1);
    until("the connection is gone", || desk.clients() == 0);
}

#[test]
fn shutdown_lets_calls_end_and_leaves_nothing() {
    let mut desk = Desk::new(Limits::default());
    let client = desk.client();
    let ticket = client.send_call(CallRequest::new("block", Value::Null)).unwrap();
    until("the call runs", || desk.host.blocked.load(Ordering::SeqCst) == 1);
    let host = std::sync::Arc::clone(&desk.host);
    let server = desk.server.take().unwrap();
    let down = std::thread::spawn(move || server.shutdown(HANG));
    until("the socket is gone", || !desk.socket().exists());
    let lock = desk.folder.path().join("run/host.lock");
    assert_eq!(lock_holder(&lock), Some(std::process::id()), "no second host while a call runs");
    let error = client.request(method::STATUS, &Value::Null, HANG).unwrap_err();
    assert!(error.message.contains("is ending"), "{error}");
    host.release();
    down.join().unwrap();
    assert_eq!(lock_holder(&lock), None);
    assert_eq!(client.recv(HANG).unwrap().ticket, ticket);
    assert_eq!(
        client.request(method::STATUS, &Value::Null, HANG).unwrap_err().code,
        ErrorCode::HostNotRunning
    );
    let error = Client::connect(&desk.socket(), "test", "0").err().unwrap();
    assert_eq!(error.code, ErrorCode::HostNotRunning);
}

#[test]
fn a_second_server_is_refused_and_the_first_goes_on() {
    let desk = Desk::new(Limits::default());
    let error = Endpoint::bind(&desk.socket(), &desk.folder.path().join("run/host.lock")).unwrap_err();
    assert_eq!(error.code, ErrorCode::HostAlreadyRunning);
    assert!(desk.client().request(method::STATUS, &Value::Null, HANG).is_ok());
}

/// Not a judgement, a number: `cargo test --release -p deskhand-bridge round_trip -- --nocapture`.
#[test]
fn round_trip() {
    let desk = Desk::new(Limits::default());
    let client = desk.client();
    let mut times: Vec<Duration> = (0..2000)
        .map(|n| {
            let begin = Instant::now();
            assert_eq!(client.call(CallRequest::new("echo", json!(n)), HANG).unwrap(), n);
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    println!("echo call: p50 {:?}, p99 {:?}, min {:?}", times[1000], times[1980], times[0]);
    let server = desk.server.as_ref().unwrap();
    // A worker may not be back when the next call comes, so a few there are; not one per call.
    assert!(server.workers() < 20, "threads are not reused: {}", server.workers());
}
