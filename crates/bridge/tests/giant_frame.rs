//! A frame of a gigabyte. Alone in its file: it looks at the memory of the whole process.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

mod common;

use std::io::Write;

use common::{Desk, Raw};
use deskhand_bridge::Limits;
use deskhand_protocol::{MAX_REQUEST_BYTES, method};
use serde_json::Value;

fn rss_bytes() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_ascii_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

#[test]
fn a_gigabyte_is_cut_at_the_limit() {
    let desk = Desk::new(Limits::default());
    let chunk = vec![b'x'; 64 * 1024];
    let before = rss_bytes();
    let mut most = before;
    for (greeted, start) in [(true, &b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\""[..]), (false, b"")] {
        let mut raw = if greeted { Raw::greeted(&desk.socket()) } else { desk.raw() };
        let _ = raw.socket.write_all(start);
        let mut sent = 0;
        while sent < 1 << 30 {
            match raw.socket.write(&chunk) {
                Ok(count) => sent += count,
                Err(_) => break,
            }
            most = most.max(rss_bytes());
        }
        assert!((MAX_REQUEST_BYTES..MAX_REQUEST_BYTES + (1 << 20)).contains(&sent), "sent {sent}");
        let answer = raw.answer().unwrap();
        assert_eq!(answer["error"]["data"]["code"], "DESKTOP_FRAME_TOO_LARGE");
        assert_eq!(answer["error"]["data"]["details"]["limitBytes"], MAX_REQUEST_BYTES);
        assert_eq!(answer["id"], Value::Null);
        assert_eq!(raw.answer(), None);
    }
    assert!(most - before < 3 * MAX_REQUEST_BYTES, "grew by {} bytes", most - before);
    assert!(desk.client().request(method::STATUS, &Value::Null, common::HANG).is_ok());
}
