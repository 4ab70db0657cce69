//! Abort in the midst of typing: nothing more is sent, nothing stays down.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use deskhand_bridge::CallRequest;
use deskhand_e2e::{LiveHost, wait_for};
use deskhand_protocol::{Effect, ErrorCode, Outcome, RequestId};
use serde_json::json;
use x11rb::connection::Connection;
use x11rb::protocol::xinput::{ConnectionExt as _, Device, EventMask, XIEventMask};
use x11rb::protocol::xproto::ConnectionExt as _;

/// Times of all key events on the desk, seen by somebody else than the host.
fn watch_keys(live: &LiveHost) -> Arc<Mutex<Vec<Instant>>> {
    let times = Arc::new(Mutex::new(Vec::new()));
    let (sink, conn) = (Arc::clone(&times), connect(live));
    let root = conn.setup().roots[0].root;
    conn.xinput_xi_query_version(2, 2).unwrap().reply().unwrap();
    let mask = EventMask {
        deviceid: Device::ALL.into(),
        mask: vec![XIEventMask::RAW_KEY_PRESS | XIEventMask::RAW_KEY_RELEASE],
    };
    conn.xinput_xi_select_events(root, &[mask]).unwrap().check().unwrap();
    std::thread::spawn(move || {
        while conn.wait_for_event().is_ok() {
            sink.lock().unwrap().push(Instant::now());
        }
    });
    times
}

fn connect(live: &LiveHost) -> x11rb::rust_connection::RustConnection {
    deskhand_e2e::x11(live)
}

#[test]
fn typing_five_thousand_characters_stops_when_told() {
    let live = LiveHost::start();
    live.spawn("mousepad", &["--disable-server"]);
    live.window("Mousepad");
    let times = watch_keys(&live);
    let text = "The quick brown fox. ".repeat(250);
    assert!(text.len() > 5000);
    let id = RequestId::fresh();
    let request = CallRequest {
        request_id: Some(id.clone()),
        ..CallRequest::new("type_text", json!({"text": text, "method": "keys", "delay": 3}))
    };
    let phrase = live.send(request.clone()).error.unwrap().details["phrase"].as_str().unwrap().to_owned();
    let typing = live.connect();
    let worker = std::thread::spawn(move || {
        let request = CallRequest { confirm: Some(phrase), ..request };
        serde_json::from_value::<Outcome>(typing.call(request, Duration::from_secs(90)).unwrap()).unwrap()
    });
    wait_for("typing to be under way", Duration::from_secs(30), || {
        (times.lock().unwrap().len() > 200).then_some(())
    });
    let done = live.client.request("abort", &json!({"id": id}), Duration::from_secs(5)).unwrap();
    let acknowledged = Instant::now();
    assert_eq!(done["ended"], true, "{done}");
    let outcome = worker.join().unwrap();
    assert_eq!(outcome.error.unwrap().code, ErrorCode::Aborted);
    assert_eq!(outcome.effect.unwrap().effect, Effect::Partial);
    std::thread::sleep(Duration::from_millis(500));
    let late = times
        .lock()
        .unwrap()
        .iter()
        .filter(|t| t.saturating_duration_since(acknowledged) > Duration::from_millis(50))
        .count();
    assert_eq!(late, 0, "key events after the abort was acknowledged");
    let down = connect(&live).query_keymap().unwrap().reply().unwrap().keys;
    assert_eq!(down, [0; 32], "a key was left down");
    let summary = std::path::Path::new(&outcome.evidence.unwrap().path).join("summary.md");
    assert!(std::fs::read_to_string(summary).unwrap().contains("DESKTOP_ABORTED"));
}

#[test]
fn a_client_that_goes_away_takes_its_action_with_it() {
    let live = LiveHost::start();
    live.spawn("mousepad", &["--disable-server"]);
    live.window("Mousepad");
    let times = watch_keys(&live);
    let request =
        CallRequest::new("type_text", json!({"text": "x".repeat(4000), "method": "keys", "delay": 3}));
    let phrase = live.send(request.clone()).error.unwrap().details["phrase"].as_str().unwrap().to_owned();
    let goner = live.connect();
    goner.send_call(CallRequest { confirm: Some(phrase), ..request }).unwrap();
    wait_for("typing to be under way", Duration::from_secs(30), || {
        (times.lock().unwrap().len() > 60).then_some(())
    });
    drop(goner);
    wait_for("the execution to end", Duration::from_secs(5), || {
        let list = live.client.request("executions", &json!({}), Duration::from_secs(5)).unwrap();
        list["executions"].as_array().unwrap().is_empty().then_some(())
    });
    let seen = times.lock().unwrap().len();
    std::thread::sleep(Duration::from_millis(300));
    assert!(times.lock().unwrap().len() <= seen + 2, "typing goes on without its client");
    assert_eq!(connect(&live).query_keymap().unwrap().reply().unwrap().keys, [0; 32]);
    assert!(live.call("system_info", json!({})).error.is_none());
}

#[test]
fn stop_holds_everything_until_resume() {
    let live = LiveHost::start();
    let out = live.deskhand().args(["stop", "--json"]).output().unwrap();
    assert!(out.status.success(), "{out:?}");
    let refused = live.call("mouse_move", json!({"x": 5, "y": 5}));
    assert_eq!(refused.error.unwrap().code, ErrorCode::Stopped);
    assert!(live.deskhand().args(["resume"]).output().unwrap().status.success());
    assert!(live.call("mouse_move", json!({"x": 5, "y": 5})).error.is_none());
}
