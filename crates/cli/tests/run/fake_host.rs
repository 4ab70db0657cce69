//! The program against a scripted host behind the real bridge.

use std::io::Write;
use std::process::Stdio;
use std::sync::{Arc, Mutex};

use deskhand_bridge::{
    Allowlist, CallContext, Endpoint, Limits, Refusal, Reply, Server, Service, callers, unknown_method,
};
use deskhand_config::Home;
use deskhand_protocol::{
    CallParams, Check, CheckStatus, Effect, EffectReport, Error, ErrorCode, EvidenceRef, ExecutionId,
    ExecutionInfo, ExecutionState, HostStatus, Light, Outcome, RequestId, Timings, method,
};
use expect_test::expect;
use serde_json::{Value, json};

use crate::support::{Ran, World};

const PHRASE: &str = "yes it's mine";

/// Answers by the name of the tool and remembers what it was asked.
#[derive(Default)]
struct Script {
    calls: Mutex<Vec<CallParams>>,
    asked: Mutex<Vec<(String, Value)>>,
}

impl Service for Script {
    fn call(&self, params: CallParams, _context: &CallContext) -> Result<Reply, Error> {
        self.calls.lock().unwrap().push(params.clone());
        let outcome = |end: Result<Value, Error>| {
            let (result, error) = match end {
                Ok(result) => (Some(result), None),
                Err(error) => (None, Some(error)),
            };
            let evidence: EvidenceRef =
                serde_json::from_value(json!({ "id": "2023-11-14/req-1", "path": "/evidence/req-1" }))
                    .unwrap();
            Outcome {
                request_id: params.request_id.clone().unwrap_or_else(|| RequestId::from("req-1")),
                execution_id: ExecutionId::from("exec-1"),
                tool: params.tool.clone(),
                effect: result.is_some().then(|| EffectReport::new(Effect::Confirmed, "the button changed")),
                result,
                error,
                evidence: Some(evidence),
                timings: Timings::default(),
            }
        };
        match params.tool.as_str() {
            "look" => Reply::of(&outcome(Ok(json!({ "seen": params.args })))),
            "shoot" => Reply::of(&outcome(Ok(json!({ "image": base64_of(3000), "width": 2 })))),
            "act" if params.confirm.as_deref() == Some(PHRASE) => {
                Reply::of(&outcome(Ok(json!({ "acted": true }))))
            }
            "act" => {
                Reply::of(&outcome(Err(
                    Error::new(ErrorCode::ConfirmRequired, "act must be confirmed").detail("phrase", PHRASE)
                )))
            }
            "evil" => Reply::of(&outcome(Ok(json!({ "title": EVIL })))),
            "evil_error" => Err(Error::new(ErrorCode::WindowNotFound, format!("no window {EVIL}"))
                .hint(EVIL)
                .detail("app", EVIL)
                .detail("windows", windows(1, EVIL))),
            "no_window" => Reply::of(&outcome(Err(Error::new(ErrorCode::WindowNotFound, "no window fits")
                .detail("windows", windows(12, "Notes - a very long title that goes on and on and on and on"))))),
            "no_windows" => Reply::of(&outcome(Err(
                Error::new(ErrorCode::WindowNotFound, "no window fits").detail("windows", windows(0, ""))
            ))),
            "no_display" => Reply::of(&outcome(Err(Error::new(ErrorCode::DisplayRequired, "which display?")
                .detail("displays", json!([
                    { "displayId": 0, "name": "HDMI-1", "bounds": { "x": 0, "y": 0, "width": 1920, "height": 1080 } },
                    { "displayId": 1, "name": "DP-2", "bounds": { "x": 1920, "y": 0, "width": 1280, "height": 800 } },
                ]))))),
            "no_element" => Reply::of(&outcome(Err(Error::new(ErrorCode::ElementNotFound, "no element fits")
                .detail("frontmost", json!({ "app": "x" }))
                .detail("candidates", json!([
                    { "element": {}, "role": "button", "label": "OK", "score": 0.5, "reasons": ["role equal", "title near"], "chosen": false },
                    { "element": {}, "role": "label", "label": "", "score": 0.25, "reasons": [], "chosen": false },
                ]))))),
            "broken" => Err(Error::new(ErrorCode::UnknownTool, "there is no tool \"broken\"")),
            _ => Reply::of(&outcome(Err(Error::new(ErrorCode::FocusLost, "the focus went away")))),
        }
    }

    fn handle(&self, name: &str, params: Value, _context: &CallContext) -> Result<Reply, Error> {
        self.asked.lock().unwrap().push((name.to_owned(), params));
        match name {
            method::STATUS => Reply::of(&HostStatus {
                pid: 77,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                uptime_ms: 61_000,
                display: ":9".to_owned(),
                home: "/home/me/.deskhand".to_owned(),
                light: Light::Yellow,
                checks: vec![display()],
                executions: vec![ExecutionInfo {
                    execution_id: ExecutionId::from("exec-1"),
                    request_id: RequestId::from("req-1"),
                    tool: "type_text".to_owned(),
                    state: ExecutionState::Running,
                    age_ms: 1500,
                    caller: "deskhand (12)".to_owned(),
                }],
                clients: 2,
                stopped: false,
            }),
            method::DOCTOR => Reply::of(&json!({ "checks": [display()] })),
            method::TOOLS => Reply::of(&json!({ "tools": [tool()] })),
            method::ABORT | method::STOP | method::RESUME => Reply::of(&json!({ "aborted": ["exec-1"] })),
            other => Err(unknown_method(other)),
        }
    }

    fn refused(&self, refusal: &Refusal) {
        self.asked.lock().unwrap().push(("refused".to_owned(), json!(refusal.why)));
    }

    fn notice(&self, _text: &str) {}
}

/// What a hostile window may put into its title.
pub(crate) const EVIL: &str = "a\x1b]0;owned\x07\x1b[31m\u{9b}2J\u{202e}\x7f\rb";

fn windows(count: u32, title: &str) -> Value {
    (0..count)
        .map(|id| json!({ "windowId": 100 + id, "title": title, "app": "mousepad", "pid": 7 }))
        .collect()
}

fn display() -> Check {
    Check {
        id: "display".to_owned(),
        status: CheckStatus::Warn,
        summary: "no compositor".to_owned(),
        fix: "start one".to_owned(),
        code: None,
    }
}

fn tool() -> Value {
    json!({
        "name": "act", "title": "Act on it", "titleZh": "操作", "description": "Acts.", "risk": "medium",
        "category": "mouse", "categoryZh": "鼠标操控", "level": "L3", "readOnly": false, "lane": "exclusive_desktop",
        "needs": ["input"], "evidence": "before_after", "platforms": ["linux"], "localOnly": true, "timeoutMs": 5000,
        "roles": [],
        "inputSchema": { "type": "object", "required": ["x"], "properties": {
            "x": { "type": "integer", "description": "Where." }, "how": { "enum": ["slow", "fast"] },
        } },
        "outputSchema": {},
    })
}

fn base64_of(bytes: usize) -> String {
    assert_eq!(bytes % 3, 0);
    "AAAA".repeat(bytes / 3)
}

/// A world in which the scripted host runs.
pub(crate) struct Hosted {
    pub(crate) world: World,
    script: Arc<Script>,
    _server: Server,
}

impl Hosted {
    pub(crate) fn new() -> Self {
        let hosted = Self::closed();
        callers::allow(&hosted.home().callers_file(), env!("CARGO_BIN_EXE_deskhand").as_ref(), None).unwrap();
        hosted
    }

    /// One that knows no callers.
    fn closed() -> Self {
        let world = World::new();
        let home = Home::at(world.path());
        home.ensure().unwrap();
        let script = Arc::new(Script::default());
        let endpoint = Endpoint::bind(&home.socket(), &home.host_lock()).unwrap();
        let allow = Allowlist::with_programs_in(home.callers_file(), None);
        let server = Server::start(endpoint, Arc::clone(&script) as _, allow, Limits::default()).unwrap();
        Self { world, script, _server: server }
    }

    fn home(&self) -> Home {
        Home::at(self.world.path())
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.world.run(args)
    }

    fn feed(&self, args: &[&str], input: &str) -> Ran {
        let mut child = self
            .world
            .command(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let done = child.wait_with_output().unwrap();
        Ran {
            code: done.status.code().unwrap(),
            out: String::from_utf8(done.stdout).unwrap(),
            err: String::from_utf8(done.stderr).unwrap(),
        }
    }
}

#[test]
fn a_call_for_people_and_for_programs() {
    let host = Hosted::new();
    let ran = host.run(&["call", "look", r#"{"x":1}"#]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    expect![[r#"
        {
          "seen": {
            "x": 1
          }
        }
    "#]]
    .assert_eq(&ran.out);
    expect![[r#"
        effect: confirmed the button changed
        evidence: /evidence/req-1
    "#]]
    .assert_eq(&ran.err);
    let ran = host.run(&[
        "--json",
        "call",
        "look",
        "--project",
        "p",
        "--timeout",
        "900",
        "--no-verify",
        "--evidence",
        "full",
        "--request-id",
        "mine",
        "--route",
        r#"{"app":{"pid":4}}"#,
    ]);
    let outcome = ran.json();
    assert_eq!(
        (ran.code, &outcome["requestId"], &outcome["result"]["seen"]),
        (0, &json!("mine"), &json!({}))
    );
    let calls = host.script.calls.lock().unwrap();
    let sent = json!(calls.last().unwrap());
    assert_eq!(
        (&sent["project"], &sent["timeoutMs"], &sent["options"], &sent["route"]),
        (
            &json!("p"),
            &json!(900),
            &json!({ "verify": false, "evidence": "full" }),
            &json!({ "app": { "pid": 4 } })
        ),
    );
}

#[test]
fn arguments_come_from_standard_input() {
    let host = Hosted::new();
    let ran = host.feed(&["--json", "call", "look", "-"], "{\"x\":\n2}\n");
    assert_eq!(ran.json()["result"]["seen"], json!({ "x": 2 }));
    assert_eq!(host.feed(&["call", "look", "-"], "nonsense").code, 2);
}

#[test]
fn pictures_go_to_a_file() {
    let host = Hosted::new();
    let ran = host.run(&["call", "shoot"]);
    assert!(ran.out.contains("\"… 3 kB, use -o FILE\""), "{}", ran.out);
    let file = host.world.path().join("shot.jpg");
    let ran = host.run(&["call", "shoot", "-o", file.to_str().unwrap()]);
    assert!(ran.code == 0 && ran.err.contains("shot.jpg (3 kB)"), "{}", ran.err);
    assert_eq!(std::fs::read(&file).unwrap(), vec![0; 3000]);
    assert_eq!(host.run(&["--json", "call", "shoot"]).json()["result"]["image"], base64_of(3000));
    let ran = host.run(&["--json", "call", "look", "-o", file.to_str().unwrap()]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (1, &json!("DESKTOP_NOT_FOUND")));
}

#[test]
fn a_phrase_is_shown_typed_or_fetched() {
    let host = Hosted::new();
    let ran = host.run(&["call", "act", r#"{"x":1}"#, "--project", "my app"]);
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    expect![[r#"
        error: act must be confirmed (DESKTOP_CONFIRM_REQUIRED)
        This acts on the desktop. To confirm it: yes it's mine
        type it again like this:
          deskhand call act '{"x":1}' --project 'my app' --confirm 'yes it'\''s mine'
    "#]]
    .assert_eq(&ran.err);
    let ran = host.run(&["--json", "call", "act"]);
    assert_eq!((ran.code, &ran.json()["error"]["details"]["phrase"]), (1, &json!(PHRASE)));
    assert_eq!(host.run(&["call", "act", "--confirm", PHRASE]).code, 0);
    assert_eq!(host.run(&["call", "act", "--yes"]).code, 0);
    host.script.calls.lock().unwrap().clear();
    assert_eq!(host.run(&["call", "act", "--yes", "--confirm", "wrong"]).code, 1);
    assert_eq!(host.script.calls.lock().unwrap().len(), 1, "a phrase that was given is not replaced");
}

#[test]
fn refusals_and_failures() {
    let host = Hosted::new();
    let ran = host.run(&["--json", "call", "broken"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (1, &json!("DESKTOP_UNKNOWN_TOOL")));
    let ran = host.run(&["--json", "call", "lost"]);
    assert_eq!(
        (ran.code, &ran.json()["error"]["code"], &ran.json()["tool"]),
        (1, &json!("DESKTOP_FOCUS_LOST"), &json!("lost"))
    );
    let closed = Hosted::closed();
    let ran = closed.run(&["--json", "status"]);
    assert_eq!((ran.code, &ran.json()["error"]["code"]), (1, &json!("DESKTOP_CALLER_REFUSED")));
    let ran = closed.run(&["doctor", "--json"]);
    let checks = ran.json()["checks"].clone();
    assert_eq!((&checks[1]["id"], &checks[1]["code"]), (&json!("bridge"), &json!("DESKTOP_CALLER_REFUSED")));
}

#[test]
fn a_batch_answers_every_line_in_order() {
    let host = Hosted::new();
    let input = "{\"tool\":\"look\",\"args\":{\"n\":1}}\n\nnonsense\n{\"tool\":\"lost\",\"requestId\":\"r2\"}\n{\"tool\":\"broken\"}\n{\"tool\":\"act\",\"confirm\":\"auto\"}\n{\"tool\":\"look\",\"args\":{\"n\":2}}";
    let ends = |ran: &Ran| {
        let lines = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines
            .map(|line| match line.pointer("/error/code") {
                Some(code) => code.as_str().unwrap().trim_start_matches("DESKTOP_").to_owned(),
                None => line["result"].to_string(),
            })
            .collect::<Vec<_>>()
    };
    let ran = host.feed(&["batch", "-"], input);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ends(&ran),
        [
            r#"{"seen":{"n":1}}"#,
            "INVALID_INPUT",
            "FOCUS_LOST",
            "UNKNOWN_TOOL",
            "CONFIRM_REQUIRED",
            r#"{"seen":{"n":2}}"#
        ],
    );
    assert!(ran.err.contains("2 done, 4 failed"), "{}", ran.err);
    assert!(ran.out.lines().nth(1).unwrap().contains("\"line\":3"));
    let ran = host.feed(&["batch", "--yes", "--json"], "{\"tool\":\"act\"}\n{\"tool\":\"act\"}\n");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert_eq!(ends(&ran), [r#"{"acted":true}"#; 2]);
    let ran = host.feed(&["batch", "--fail-fast"], "{\"tool\":\"lost\"}\n{\"tool\":\"look\"}\n");
    assert_eq!(ends(&ran), ["FOCUS_LOST", "ABORTED"]);
    let ran =
        host.feed(&["batch", "--fail-fast", "--keep-going"], "{\"tool\":\"lost\"}\n{\"tool\":\"look\"}\n");
    assert_eq!(ends(&ran), ["FOCUS_LOST", r#"{"seen":{}}"#]);
    let long = format!(
        "{{\"tool\":\"look\",\"args\":{{\"n\":\"{}\"}}}}\n{{\"tool\":\"look\"}}\n",
        "x".repeat(5 << 20)
    );
    assert_eq!(ends(&host.feed(&["batch"], &long)), ["FRAME_TOO_LARGE", r#"{"seen":{}}"#]);
    let file = host.world.path().join("calls.jsonl");
    std::fs::write(&file, "{\"tool\":\"look\"}\n").unwrap();
    assert_eq!(ends(&host.run(&["batch", file.to_str().unwrap()])), [r#"{"seen":{}}"#]);
}

#[test]
fn status_and_what_is_asked_without_a_call() {
    let host = Hosted::new();
    let ran = host.run(&["status"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    expect![[r#"
        ◐ Deskhand runs: host 77, for 1 min 1 s
          version  VERSION
          display  :9
          home     /home/me/.deskhand
          clients  2
          executions
            exec-1  type_text  running  1 s  deskhand (12)
          ◐ display  no compositor
    "#]]
    .assert_eq(&ran.out.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
    assert_eq!(host.run(&["status", "--json"]).json()["pid"], 77);
    for (args, name, params) in [
        (&["abort", "exec-1"][..], "abort", json!({ "id": "exec-1" })),
        (&["stop"], "stop", json!({})),
        (&["resume"], "resume", json!({})),
    ] {
        assert_eq!(host.run(args).code, 0);
        assert_eq!(*host.script.asked.lock().unwrap().last().unwrap(), (name.to_owned(), params));
        assert_eq!(host.run(&[args, &["--json"][..]].concat()).json(), json!({ "aborted": ["exec-1"] }));
    }
    let ran = host.run(&["up", "--json"]);
    assert_eq!((ran.code, &ran.json()["alreadyRunning"], &ran.json()["pid"]), (0, &json!(true), &json!(77)));
}

#[test]
fn doctor_adds_what_the_host_knows() {
    let host = Hosted::new();
    let ran = host.run(&["doctor"]);
    assert_eq!(ran.code, 0, "{}", ran.out);
    for words in [
        "✔ pass  host      pid 77 runs",
        "✔ pass  bridge",
        "! warn  display   no compositor",
        "fix: start one",
    ] {
        assert!(ran.out.contains(words), "{words}: {}", ran.out);
    }
    assert!(ran.out.ends_with("Works, with limits: 1 to look at.\n"), "{}", ran.out);
    assert_eq!(host.run(&["doctor", "--json"]).json()["overall"], "warn");
}

#[test]
fn tools_come_from_the_host() {
    let host = Hosted::new();
    expect![[r#"
        TOOL  RISK    LEVEL  LANE
        act   medium  L3     exclusive_desktop  Act on it
    "#]]
    .assert_eq(&host.run(&["tools"]).out);
    assert_eq!(host.run(&["tools", "--category", "鼠标操控", "--json"]).json()["tools"][0]["name"], "act");
    assert_eq!(host.run(&["tools", "--category", "screen", "--json"]).json()["tools"], json!([]));
    expect![[r#"
        act  Act on it

        Acts.

          risk       medium
          category   mouse
          level      L3
          lane       exclusive_desktop
          confirm    yes: it acts
          needs      input
          evidence   before_after
          platforms  linux
          timeout    5000 ms
          roles      all

        arguments
          x    integer    required  Where.
          how  slow|fast

        example
          deskhand call act '{"x":100}'

        The whole schema: deskhand describe act --json
    "#]]
    .assert_eq(&host.run(&["describe", "act"]).out);
    assert_eq!(host.run(&["describe", "act", "--json"]).json()["example"], json!({ "x": 100 }));
    let ran = host.run(&["describe", "acts", "--json"]);
    assert_eq!((ran.code, &ran.json()["error"]["details"]["near"]), (1, &json!(["act"])));
}
