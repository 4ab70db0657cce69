//! Whatever comes in, the right error goes out and the host goes on.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod common;

use common::{Desk, HELLO, Raw, call_line, until};
use deskhand_bridge::{Check, Limits};
use deskhand_protocol::{ErrorCode, MAX_REQUEST_BYTES, method};
use serde_json::{Value, json};

fn works(desk: &Desk) {
    let answer = desk.client().request(method::STATUS, &Value::Null, common::HANG).unwrap();
    assert_eq!(answer["pid"], std::process::id());
}

#[test]
fn garbage_is_answered_and_the_connection_goes_on() {
    let desk = Desk::new(Limits::default());
    let mut raw = Raw::greeted(&desk.socket());
    let deep = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{}"#, "[".repeat(200_000));
    let lines: &[&[u8]] = &[
        b"garbage",
        b"",
        b"\0\0\0",
        b"{\"a\":\"\xff\xfe\"}",
        b"[]",
        b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"status\"}]",
        b"{}",
        b"null",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"status\"}",
        deep.as_bytes(),
    ];
    for line in lines {
        raw.send(line);
        raw.send(b"\n");
        let answer = raw.answer().unwrap();
        assert_eq!(answer["id"], Value::Null);
        assert_eq!(
            answer["error"]["data"]["code"],
            "DESKTOP_BAD_REQUEST",
            "{}",
            String::from_utf8_lossy(line)
        );
        assert_eq!(answer["error"]["code"], -32600);
    }
    raw.line(r#"{"jsonrpc":"2.0","id":9,"method":"nothing"}"#);
    let answer = raw.answer().unwrap();
    assert_eq!((&answer["id"], &answer["error"]["data"]["code"]), (&json!(9), &json!("DESKTOP_BAD_REQUEST")));
    assert_eq!(answer["error"]["code"], -32601);
    raw.line(
        &call_line(1, "echo", &json!(0))
            .replace("\"args\":0", &format!("\"args\":[{}0]", "[],".repeat(1_300_000))),
    );
    let answer = raw.answer().unwrap();
    assert!(answer["error"]["message"].as_str().unwrap().contains("too many values"), "{answer}");
    raw.line(r#"{"jsonrpc":"2.0","id":10,"method":"status"}"#);
    assert_eq!(raw.answer().unwrap()["id"], 10);
}

#[test]
fn hello_comes_first_and_once() {
    let desk = Desk::new(Limits::default());
    let mut raw = desk.raw();
    raw.line(r#"{"jsonrpc":"2.0","id":1,"method":"status"}"#);
    let answer = raw.answer().unwrap();
    assert_eq!(answer["id"], 1);
    assert!(answer["error"]["data"]["hint"].as_str().unwrap().contains("hello first"), "{answer}");
    raw.line(&call_line(2, "echo", &json!(1)));
    assert_eq!(raw.code(), "DESKTOP_BAD_REQUEST");
    raw.line(&HELLO.replace("[1]", "[7,8]"));
    let answer = raw.answer().unwrap();
    assert_eq!(answer["error"]["data"]["details"]["versions"], json!([1]), "{answer}");
    raw.line(&HELLO.replace("[1]", "\"1\""));
    assert_eq!(raw.code(), "DESKTOP_BAD_REQUEST");
    // Pipelined behind hello, in one write.
    raw.line(&format!("{}\n{}", HELLO.replace("[1]", "[9,1]"), call_line(3, "echo", &json!("hi"))));
    assert_eq!(raw.answer().unwrap()["result"]["version"], 1);
    assert_eq!(raw.answer().unwrap()["result"], "hi");
    raw.line(HELLO);
    assert_eq!(raw.code(), "DESKTOP_BAD_REQUEST");
    assert_eq!(desk.host.calls.load(std::sync::atomic::Ordering::SeqCst), 1, "nothing ran before hello");
}

#[test]
fn a_silent_connection_is_closed() {
    let limits = Limits { hello: std::time::Duration::from_millis(100), ..Limits::default() };
    let desk = Desk::new(limits);
    let mut silent = desk.raw();
    assert!(silent.answer().unwrap()["error"]["message"].as_str().unwrap().contains("no hello"));
    assert_eq!(silent.answer(), None);
    // Bytes that are no hello do not buy time.
    let mut drip = desk.raw();
    while std::io::Write::write_all(&mut drip.socket, b"x").is_ok() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    works(&desk);
    until("all closed", || desk.clients() == 0);
}

#[test]
fn half_a_frame_and_goodbye() {
    let desk = Desk::new(Limits::default());
    let mut raw = Raw::greeted(&desk.socket());
    raw.send(br#"{"jsonrpc":"2.0","id":1,"method":"sta"#);
    raw.socket.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(raw.answer(), None, "no answer, a clean end");
    until("closed", || desk.clients() == 0);
    works(&desk);

    let desk = Desk::new(Limits { stall: std::time::Duration::from_millis(100), ..Limits::default() });
    let mut raw = Raw::greeted(&desk.socket());
    raw.send(b"{\"half");
    assert!(raw.answer().unwrap()["error"]["message"].as_str().unwrap().contains("6 bytes was left"));
    assert_eq!(raw.answer(), None);
}

#[test]
fn nonce_and_expiry() {
    let desk = Desk::new(Limits::default());
    let mut raw = Raw::greeted(&desk.socket());
    let now = deskhand_bridge::system_clock()();
    let line = |nonce: &str, expires: u64| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "call",
               "params": {"nonce": nonce, "expiresAt": expires, "tool": "echo", "args": 5}})
        .to_string()
    };
    let cases = [
        ("nonce-number-one-1", now + 60_000, None),
        ("nonce-number-one-1", now + 60_000, Some(ErrorCode::NonceReplayed)),
        ("nonce-number-one-1", now + 90_000, Some(ErrorCode::NonceReplayed)),
        ("nonce-number-two-2", now - 1, Some(ErrorCode::RequestExpired)),
        ("nonce-number-two-2", now + 400_000, Some(ErrorCode::RequestExpired)),
        ("short", now + 60_000, Some(ErrorCode::InvalidInput)),
    ];
    for (nonce, expires, want) in cases {
        raw.line(&line(nonce, expires));
        match want {
            Some(code) => assert_eq!(raw.code(), code.as_str(), "{nonce} {expires}"),
            None => assert_eq!(raw.answer().unwrap()["result"], 5),
        }
    }
    // A nonce is spent for everybody, not only on its own connection.
    let mut other = Raw::greeted(&desk.socket());
    other.line(&line("nonce-number-one-1", now + 60_000));
    assert_eq!(other.code(), ErrorCode::NonceReplayed.as_str());
    // And both are told to the host, for the audit log; the same one once in a while only.
    let mut told = desk.host.checks();
    told.sort_by_key(|check| check.as_str());
    assert_eq!(told, [Check::Expiry, Check::Nonce]);
    assert_eq!(desk.host.calls.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[test]
fn a_wrong_field_is_named() {
    let desk = Desk::new(Limits::default());
    let mut raw = Raw::greeted(&desk.socket());
    raw.line(&call_line(1, "echo", &json!(1)).replace("\"tool\":\"echo\"", "\"tool\":[]"));
    let answer = raw.answer().unwrap();
    assert_eq!(answer["error"]["code"], -32602);
    assert_eq!(answer["error"]["data"]["details"]["field"], "tool");
}

#[test]
fn a_service_that_panics_answers_internal() {
    let desk = Desk::new(Limits::default());
    let mut raw = Raw::greeted(&desk.socket());
    raw.line(&call_line(1, "panic", &Value::Null));
    assert_eq!(raw.code(), "DESKTOP_INTERNAL");
    raw.line(&call_line(2, "echo", &json!("alive")));
    assert_eq!(raw.answer().unwrap()["result"], "alive");
}

#[test]
fn the_largest_frame_still_passes() {
    let desk = Desk::new(Limits::default());
    let mut raw = Raw::greeted(&desk.socket());
    let head = r#"{"jsonrpc":"2.0","id":1,"method":"status","params":""#;
    let fill = MAX_REQUEST_BYTES - head.len() - 2;
    let line = format!("{head}{}\"}}", "x".repeat(fill));
    assert_eq!(line.len(), MAX_REQUEST_BYTES);
    raw.line(&line);
    assert_eq!(raw.answer().unwrap()["result"]["params"].as_str().unwrap().len(), fill);
}
