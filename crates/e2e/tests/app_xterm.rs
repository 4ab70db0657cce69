//! xterm: no tree at all. Text goes in as keys and arrives whole.

// Test code: a panic is how it says no.
#![allow(clippy::unwrap_used, clippy::needless_pass_by_value)]

use deskhand_e2e::apps::{AppDesk, PATIENCE, mixed, same_text};
use deskhand_protocol::{Effect, ErrorCode, Layer};
use serde_json::{Value, json};

fn terminal(desk: &AppDesk) -> Value {
    let args = json!(["-u8", "-fa", "DejaVu Sans Mono", "-fs", "9", "-T", "term", "-e", "sh"]);
    desk.done("app_launch", json!({"name": "xterm", "args": args}), &Value::Null);
    json!({"window": {"windowId": desk.window("term")["windowId"]}})
}

#[test]
fn commands_with_any_characters_run() {
    let desk = AppDesk::with(&["xterm"]);
    let route = terminal(&desk);
    let file = desk.files().join("out");
    let typed = desk.done(
        "type_text",
        json!({"text": format!("echo '中文 😀 Ωμέγα ñ' > '{}'\n", file.display())}),
        &route,
    );
    let report = typed.effect.unwrap();
    assert_eq!(report.layer, Some(Layer::Semantic));
    assert_eq!(report.effect, Effect::Confirmed, "{}", report.why);
    assert_eq!(typed.result.unwrap()["method"], "keys");
    let got = desk
        .until("the command's output", || std::fs::read_to_string(&file).ok().filter(|t| t.ends_with('\n')));
    assert_eq!(got, "中文 😀 Ωμέγα ñ\n");
    // There is no tree, and it says so; there still is something to see.
    let seen = desk.done("observe", json!({}), &route).result.unwrap();
    assert!(seen["screenshot"]["image"].as_str().unwrap().len() > 500);
    assert!(
        !seen["axError"].is_null() || seen["axSnapshot"]["count"].as_u64().unwrap_or_default() < 3,
        "{}",
        seen["axSnapshot"]
    );
    let none =
        desk.try_call("click", json!({"target": {"selector": {"byRole": "button"}}}), &route).error.unwrap();
    assert!(
        matches!(
            none.code,
            ErrorCode::ElementNotFound
                | ErrorCode::AxUnavailable
                | ErrorCode::AppNotFound
                | ErrorCode::Unsupported
        ),
        "{none}"
    );
}

#[test]
fn two_thousand_characters_arrive() {
    let desk = AppDesk::with(&["xterm"]);
    let route = terminal(&desk);
    let file = desk.files().join("long");
    desk.done("type_text", json!({"text": format!("cat > '{}'\n", file.display())}), &route);
    desk.until("cat to read", || file.exists().then_some(()));
    let long = mixed(2000, 60);
    let typed = desk.done("type_text", json!({"text": format!("{long}\n")}), &route);
    assert!(matches!(typed.effect.unwrap().effect, Effect::Confirmed | Effect::Unverifiable));
    desk.done("key_press", json!({"keys": ["ctrl", "d"]}), &route);
    let want = format!("{long}\n");
    let until = std::time::Instant::now() + PATIENCE;
    let mut got = String::new();
    while std::time::Instant::now() < until && got != want {
        got = String::from_utf8_lossy(&std::fs::read(&file).unwrap_or_default()).into_owned();
        std::thread::sleep(std::time::Duration::from_millis(50));
        if got.len() >= want.len() {
            break;
        }
    }
    same_text(&got, &want);
}
