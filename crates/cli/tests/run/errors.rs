//! What goes wrong without a host: words, shapes and exit codes.

use expect_test::expect;
use serde_json::json;

use crate::support::{World, put_script, run};

const FIELDS: [&str; 5] = ["code", "details", "hint", "message", "retryable"];

/// Wrong usage is exit code 2, and with --json one error document.
#[test]
fn wrong_usage() {
    let world = World::new();
    let cases: &[(&[&str], &str)] = &[
        (&["stats"], "unrecognized subcommand 'stats'"),
        (&["call"], "<TOOL>"),
        (&["call", "x", "{"], "not JSON"),
        (&["call", "x", "[]"], "not a JSON object"),
        (&["call", "x", "--timeout", "soon"], "invalid value 'soon'"),
        (&["call", "x", "--timeout", "0"], "0 is not in"),
        (&["call", "x", "--route", "{\"windw\":1}"], "unknown field `windw`"),
        (&["call", "x", "--evidence", "all"], "invalid value 'all'"),
        (&["tools", "--category", "toys"], "screen, mouse"),
        (&["desk"], "requires a subcommand"),
        (&["desk", "start", "--size", "big"], "1920x1080"),
        (&["desk", "start", "--name", "../x"], "a-z"),
        (&["desk", "stop"], "no desk is named"),
        (&["desk", "exec"], "<CMD>"),
        (&["desk", "view", "x"], "--output"),
        (&["up", "--desk=1x1"], "each side"),
        (&["evidence", "show", "../../etc"], "not the id"),
        (&["evidence", "list", "--date", "today"], "2026-11-15"),
        (&["evidence", "list", "--limit", "0"], "0 is not in"),
        (&["completions", "dos"], "invalid value 'dos'"),
        (&["status", "--jsn"], "--jsn"),
    ];
    for (args, words) in cases {
        let ran = world.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(words) || words.starts_with("requires"), "{args:?}: {}", ran.err);
        let ran = run(world.command(args).env("DESKHAND_JSON", "true"));
        assert_eq!((ran.code, ran.err.as_str()), (2, ""), "{args:?}");
        let error = ran.json()["error"].clone();
        assert_eq!(error.as_object().unwrap().keys().collect::<Vec<_>>(), FIELDS, "{args:?}");
        assert_eq!(error["code"], "DESKTOP_INVALID_INPUT", "{args:?}");
        assert_eq!(ran.json().as_object().unwrap().len(), 1, "{args:?}");
    }
    let error = world.run(&["stats", "--json"]).json();
    expect![[r#"{"error":{"code":"DESKTOP_INVALID_INPUT","details":{},"hint":"a similar subcommand exists: 'status'","message":"unrecognized subcommand 'stats'","retryable":false}}"#]]
        .assert_eq(&error.to_string());
}

#[test]
fn a_host_that_does_not_run() {
    let world = World::new();
    let cases: &[&[&str]] =
        &[&["status"], &["call", "system_info"], &["batch"], &["abort", "exec-1"], &["stop"], &["resume"]];
    for args in cases {
        let ran = world.run(args);
        assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{args:?}");
        assert!(ran.err.contains("deskhand up --detach"), "{args:?}: {}", ran.err);
        let ran = world.run(&[args, &["--json"][..]].concat());
        assert_eq!((ran.code, ran.err.as_str()), (1, ""), "{args:?}");
        let error = &ran.json()["error"];
        assert_eq!(error["code"], "DESKTOP_HOST_NOT_RUNNING", "{args:?}");
        assert_eq!(error.as_object().unwrap().keys().collect::<Vec<_>>(), FIELDS, "{args:?}");
    }
    let ran = world.run(&["status"]);
    expect![[r#"
        error: no host runs: there is no socket HOME/run/host.sock (DESKTOP_HOST_NOT_RUNNING)
          hint: start it with `deskhand up --detach`
          reason: missing
    "#]]
    .assert_eq(&world.plain(&ran.err));
    let ran = run(world.command(&["status"]).env("LANG", "zh_CN.UTF-8"));
    assert!(ran.err.starts_with("错误:") && ran.err.contains("提示:"), "{}", ran.err);
}

#[test]
fn down_is_content_when_nothing_runs() {
    let world = World::new();
    let ran = world.run(&["down"]);
    assert_eq!((ran.code, ran.out.as_str()), (0, "Deskhand is not running\n"));
    assert_eq!(world.run(&["down", "--json"]).json(), json!({ "running": false, "stopped": false }));
    let ran = run(world.command(&["down"]).env("LC_ALL", "zh_CN.UTF-8"));
    assert_eq!(ran.out, "Deskhand 没有运行\n");
}

#[test]
fn up_without_a_host_program_says_what_is_missing() {
    let world = World::apart();
    for args in [
        &["up", "--detach", "--json"][..],
        &["up", "--json"],
        &["desk", "exec", "--up", "--json", "--", "true"],
        &["serve-host", "--json"],
    ] {
        let ran = world.run(args);
        assert_eq!(ran.code, 1, "{args:?}");
        let error = &ran.json()["error"];
        assert_eq!(error["code"], "DESKTOP_NOT_FOUND", "{args:?}");
        assert!(error["message"].as_str().unwrap().ends_with("/deskhand-host"), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("one folder"), "{error}");
    }
}

/// `serve-host` becomes the host in the same process; nobody else chooses which program that is.
#[test]
fn only_the_host_beside_the_program_is_run() {
    let world = World::apart();
    let seen = world.path().join("seen");
    let folder = world.path().join("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    put_script(&folder.join("deskhand-host"), &format!("touch '{}'", seen.display()));
    let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
    let tempted = |args: &[&str]| {
        let mut command = world.command(args);
        command
            .env("PATH", &path)
            .env("DESKHAND_HOST_BIN", folder.join("deskhand-host"))
            .env("DISPLAY", ":nowhere");
        run(&mut command)
    };
    assert_eq!(tempted(&["serve-host"]).code, 1);
    assert_eq!(tempted(&["up"]).code, 1);
    world.put_host("exit 7");
    assert_eq!(tempted(&["serve-host"]).code, 7, "the one beside it");
    assert!(!seen.exists());
}

/// A program that is no host: its last words reach whoever started it.
#[test]
fn a_host_that_fails_says_why() {
    let told = r#"{"error":{"code":"DESKTOP_DISPLAY_UNAVAILABLE","message":"no display","hint":"get one","retryable":true}}"#;
    for (script, code, words) in [
        ("echo boom >&2; exit 3".to_owned(), "DESKTOP_HOST_NOT_RUNNING", "(exit status: 3): boom"),
        (format!("echo '{told}' >&2; echo bye >&2; exit 1"), "DESKTOP_DISPLAY_UNAVAILABLE", "no display"),
    ] {
        let world = World::apart();
        world.put_host(&script);
        let ran = run(world.command(&["up", "--detach", "--json"]).env("DISPLAY", ":nowhere"));
        let error = ran.json()["error"].clone();
        assert_eq!((ran.code, error["code"].as_str()), (1, Some(code)), "{error}");
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
        assert!(error["details"]["log"].as_str().unwrap().ends_with("logs/host.log"), "{error}");
        assert_eq!(run(world.command(&["up"]).env("DISPLAY", ":nowhere")).code, 1);
    }
}

#[test]
fn a_home_that_cannot_be() {
    let world = World::new();
    let ran = run(world.command(&["status", "--json"]).env("DESKHAND_HOME", "not/absolute"));
    assert_eq!(ran.code, 2);
    assert!(ran.json()["error"]["message"].as_str().unwrap().contains("not/absolute"));
    let ran = run(world.command(&["status", "--json"]).env_remove("DESKHAND_HOME"));
    assert_eq!(ran.code, 2, "neither DESKHAND_HOME nor HOME");
    let home = world.path().to_str().unwrap();
    let ran = run(world.command(&["status", "--json", "--home", home]).env_remove("DESKHAND_HOME"));
    assert!(ran.out.contains(home), "{}", ran.out);
    let ran = run(world.command(&["status", "--json"]).env("DESKHAND_HOME", "").env("HOME", home));
    assert!(
        ran.json()["error"]["message"].as_str().unwrap().contains(&format!("{home}/.deskhand")),
        "{}",
        ran.out
    );
}

#[test]
fn doctor_tells_what_lies_before_the_host() {
    use std::os::unix::fs::PermissionsExt;
    let world = World::apart();
    std::fs::set_permissions(world.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let ran = world.run(&["doctor", "--json"]);
    assert_eq!(ran.code, 1);
    let told = ran.json();
    assert_eq!(told["overall"], "fail");
    let by_id =
        |id: &str| told["checks"].as_array().unwrap().iter().find(|check| check["id"] == id).unwrap().clone();
    assert_eq!(
        (&by_id("host")["status"], &by_id("host")["code"]),
        (&json!("fail"), &json!("DESKTOP_HOST_NOT_RUNNING"))
    );
    assert_eq!(by_id("bridge")["status"], "warn");
    assert_eq!(by_id("home")["status"], "warn");
    assert!(by_id("home")["fix"].as_str().unwrap().starts_with("chmod 700 "));
    assert_eq!(by_id("desktop")["status"], "fail", "there is no host program to ask");
    // No program of a desk can be found in an empty folder.
    let ran = run(world.command(&["doctor"]).env("PATH", world.path()));
    assert_eq!(ran.code, 1);
    for words in ["✘ fail  host", "! warn  packages", "Xvfb, openbox, dbus-daemon missing", "fix:"] {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
}

#[test]
fn desks_that_are_not_there() {
    let world = World::new();
    assert_eq!(world.run(&["desk", "list", "--json"]).json(), json!({ "desks": [] }));
    assert_eq!(world.run(&["desk", "stop", "--all", "--json"]).json(), json!({ "stopped": [] }));
    for args in [&["desk", "stop", "none"][..], &["desk", "view", "none", "-o", "/nonexistent/x.png"]] {
        let ran = world.run(&[args, &["--json"][..]].concat());
        assert_eq!((ran.code, &ran.json()["error"]["code"]), (1, &json!("DESKTOP_NOT_FOUND")), "{args:?}");
    }
}

#[test]
fn unknown_tools() {
    let world = World::new();
    let ran = world.run(&["describe", "no_such_tool", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (1, &json!("DESKTOP_UNKNOWN_TOOL")));
    let ran = world.run(&["tools", "--json"]);
    assert_eq!((ran.code, &ran.json()["fromHost"]), (0, &json!(false)));
    // Without a host the built-in list answers, for people and for programs.
    assert!(world.run(&["tools"]).out.contains("left_click"));
    for tool in ran.json()["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let told = world.run(&["describe", name, "--json"]);
        assert_eq!((told.code, &told.json()["name"]), (0, &tool["name"]), "{name}");
        assert!(told.json()["example"].is_object() && told.json()["inputSchema"].is_object(), "{name}");
    }
    let ran = world.run(&["describe", "left_click"]);
    assert!(ran.code == 0 && ran.out.contains("deskhand call left_click"), "{}", ran.out);
}

#[test]
fn callers_are_kept_in_a_file() {
    let world = World::new();
    assert_eq!(world.run(&["callers", "list", "--json"]).json(), json!({ "callers": [] }));
    let ran = world.run(&["callers", "allow", "/bin/sleep", "--note", "for a test", "--json"]);
    assert_eq!((ran.code, &ran.json()["note"]), (0, &json!("for a test")));
    let path = ran.json()["path"].as_str().unwrap().to_owned();
    assert_eq!(world.run(&["callers", "list", "--json"]).json()["callers"][0]["path"], path);
    assert!(world.run(&["callers", "list"]).out.contains("for a test"));
    let script = world.path().join("script");
    std::fs::write(&script, "#!/bin/sh\n").unwrap();
    let ran = world.run(&["callers", "allow", script.to_str().unwrap()]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("interpreter"), "{}", ran.err);
    assert_eq!(world.run(&["callers", "allow", "/nonexistent"]).code, 1);
    assert_eq!(world.run(&["callers", "remove", "/bin/sleep"]).code, 0);
    let ran = world.run(&["callers", "remove", "/bin/sleep", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (1, &json!("DESKTOP_NOT_FOUND")));
}
