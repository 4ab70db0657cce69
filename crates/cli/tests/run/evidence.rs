//! `deskhand evidence` on a home with bundles.

use std::time::{Duration, SystemTime};

use expect_test::expect;
use serde_json::{Value, json};

use crate::support::World;

fn bundle(world: &World, id: &str, age: u64, response: &Value) {
    let dir = world.path().join("artifacts/desktop").join(id);
    std::fs::create_dir_all(dir.join("screenshots")).unwrap();
    std::fs::write(dir.join("response.json"), response.to_string()).unwrap();
    std::fs::write(dir.join("summary.md"), format!("# {id}\n")).unwrap();
    std::fs::write(dir.join("screenshots/001_before.png"), "").unwrap();
    let request = std::fs::File::create(dir.join("request.json")).unwrap();
    std::io::Write::write_all(&mut &request, br#"{"tool":"from_request"}"#).unwrap();
    request.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000 - age)).unwrap();
}

fn filled() -> World {
    let world = World::new();
    bundle(
        &world,
        "2023-11-14/req-b",
        10,
        &json!({ "tool": "left_click", "effect": { "effect": "confirmed" } }),
    );
    bundle(
        &world,
        "2023-11-14/req-a",
        5,
        &json!({ "tool": "type_text", "error": { "code": "DESKTOP_FOCUS_LOST" } }),
    );
    bundle(&world, "2023-11-13/req-c", 90_000, &json!({}));
    std::fs::create_dir_all(world.path().join("artifacts/desktop/not-a-day/req-x")).unwrap();
    std::fs::write(world.path().join("artifacts/desktop/2023-11-14/stray"), "").unwrap();
    world
}

#[test]
fn newest_first() {
    let world = filled();
    let ran = world.run(&["evidence", "list"]);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    expect![[r#"
        2023-11-14 22:13:15  type_text     DESKTOP_FOCUS_LOST  2023-11-14/req-a
        2023-11-14 22:13:10  left_click    confirmed           2023-11-14/req-b
        2023-11-13 21:13:20  from_request  -                   2023-11-13/req-c
    "#]]
    .assert_eq(&ran.out);
    let ids = |args: &[&str]| {
        let told = world.run(&[&["evidence", "list", "--json"], args].concat()).json();
        let ids: Vec<String> = told["evidence"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["id"].as_str().unwrap().to_owned())
            .collect();
        (ids, told["truncated"].as_bool().unwrap())
    };
    assert_eq!(ids(&["--limit", "1"]), (vec!["2023-11-14/req-a".to_owned()], true));
    assert_eq!(ids(&["--date", "2023-11-13"]), (vec!["2023-11-13/req-c".to_owned()], false));
    assert_eq!(ids(&["--date", "2001-01-01"]).0, Vec::<String>::new());
}

#[test]
fn one_bundle() {
    let world = filled();
    for id in ["req-b", "2023-11-14/req-b"] {
        assert_eq!(world.run(&["evidence", "show", id]).out, "# 2023-11-14/req-b\n");
    }
    let told = world.run(&["evidence", "show", "req-b", "--json"]).json();
    assert_eq!(told["response"]["tool"], "left_click");
    assert_eq!(told["request"]["tool"], "from_request");
    assert_eq!(
        told["files"],
        json!(["request.json", "response.json", "screenshots/001_before.png", "summary.md"])
    );
    let told = world.run(&["evidence", "open", "req-b", "--json"]).json();
    assert_eq!(told["opened"], false, "there is no display");
    let ran = world.run(&["evidence", "open", "req-b"]);
    assert_eq!(world.plain(&ran.out), "HOME/artifacts/desktop/2023-11-14/req-b\n");
    for id in ["req-z", "2023-11-14/stray", "2023-11-15/req-b"] {
        let ran = world.run(&["evidence", "show", id, "--json"]);
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (1, &json!("DESKTOP_NOT_FOUND")), "{id}");
    }
    let empty = World::new();
    assert_eq!(
        empty.run(&["evidence", "list", "--json"]).json(),
        json!({ "evidence": [], "truncated": false })
    );
    assert!(empty.run(&["evidence", "list"]).err.contains("no evidence"));
}
