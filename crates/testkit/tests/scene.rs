//! Scenes: what is read, what is refused, and what the fake makes of it.

// Helpers of tests may panic as tests do.
#![allow(clippy::unwrap_used)]

use std::time::Duration;

use deskhand_platform::{
    Button, CancelToken, Desktop, ElementAction, Key, NamedKey, PlatformError, Root, Scope, TreeQuery,
};
use deskhand_protocol::{CheckStatus, ErrorCode};
use deskhand_testkit::{FakeDesktop, Scene};
use expect_test::expect;

const LOGIN: &str = r#"
display 0 1920x1080 primary
app "gedit" launches window "Document" id="org.gnome.gedit" names="文本编辑器"
window "Login" pid=7 app="login" at=100,100 size=400x300 focused
  edit   #user "User" value="" at=120,140 size=200x24
  password #pw "Password" value="hunter2"
  button #ok "OK" at=120,200 size=80x24 -> set #user "done" ; close window "Login"
  button #dead "Dead" noop -> set #user "never"
  button #late "Late" slow=30 -> set #user "late"
  button #hang "Hang" -> freeze
  edit #lossy "Lossy" drop-text=2
  menu "File"
    item "Save As…" key=ctrl+s -> open "Save As"
  menu "Odd" strict
    item "Strict" -> set #user "strict"
hidden window "Save As" modal for="Login"
  button "Cancel" -> close
hidden window "Document" app="gedit"
  text #doc "Document" focused
"#;

fn scope() -> Scope {
    Scope::timeout(Duration::from_secs(10))
}

fn click(desktop: &Desktop, fake: &FakeDesktop, id: &str) {
    let at = fake.element(id).unwrap().rect.unwrap().center();
    desktop.input.move_to(at, &scope()).unwrap();
    desktop.input.button(Button::Left, true, &scope()).unwrap();
    desktop.input.button(Button::Left, false, &scope()).unwrap();
}

#[test]
fn wrong_scenes_name_the_line() {
    for (scene, said) in [
        ("button \"OK\"", "scene line 1: `button` must be inside a window"),
        ("window Login", "scene line 1: write `window \"title\""),
        ("window \"a\"\n  buton \"x\"", "scene line 2: there is no role \"buton\""),
        ("window \"a\" size=40", "scene line 1: size is \"40\"; write two numbers with `x`"),
        ("window \"a\" at=1,b", "scene line 1: at is \"b\", not a number"),
        ("window \"a\" blue", "scene line 1: window does not know `blue`"),
        ("window \"a", "has no closing quote"),
        (
            "window \"a\"\n  button \"x\" -> fly",
            "scene line 2: unknown verb or wrong arguments in the effect `fly`",
        ),
        ("window \"a\"\n  button \"x\" -> set #y \"1\"", "scene line 2: the effect names #y"),
        ("window \"a\"\n  button \"x\" -> open \"b\"", "scene line 2: the effect names the window \"b\""),
        ("window \"a\"\n  edit #x\n  edit #x", "scene line 3: #x is already on line 2"),
        ("window \"a\" for=\"b\"", "scene line 1: for=\"b\" names no window"),
        ("broken everything", "scene line 1: there is no part \"everything\""),
        ("display 0 0x5", "scene line 1: a display has 1 to 16384"),
        ("window \"a\"\n\tbutton \"x\"", "scene line 2: a tab indents this line"),
    ] {
        let error = Scene::parse(scene).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(said), "{scene:?} said {error:?}, not {said:?}");
    }
}

#[test]
fn clicking_runs_the_effect_and_is_logged() {
    let fake = FakeDesktop::parse(LOGIN);
    let desktop = fake.desktop();
    let id = fake.window("Login").unwrap();
    let mark = desktop.screen.mark().unwrap();
    click(&desktop, &fake, "#ok");
    assert!(fake.window("Login").is_none());
    assert!(desktop.screen.wait_change(mark, None, &scope()).unwrap().is_some());
    assert!(desktop.windows.list().unwrap().iter().all(|w| w.id != id));
    expect![[r"
        move 160,212
        button Left down
        button Left up
    "]]
    .assert_eq(&fake.log_text());
}

#[test]
fn typing_chords_and_shortcuts() {
    let fake = FakeDesktop::parse(LOGIN);
    let desktop = fake.desktop();
    click(&desktop, &fake, "#user");
    desktop.input.type_keys("Ada 世", Duration::ZERO, &mut |_| {}, &scope()).unwrap();
    assert_eq!(fake.value("#user").unwrap(), "Ada 世");
    let named = |k| Key::Named(k);
    desktop.input.chord(&[named(NamedKey::Backspace)], &scope()).unwrap();
    desktop.input.chord(&[named(NamedKey::Home)], &scope()).unwrap();
    desktop.input.chord(&[named(NamedKey::Delete)], &scope()).unwrap();
    assert_eq!(fake.value("#user").unwrap(), "da ");
    let ctrl = Key::Modifier(deskhand_platform::Modifier::Ctrl);
    desktop.input.chord(&[ctrl, Key::Char('s')], &scope()).unwrap();
    assert!(fake.window("Save As").is_some());
    assert!(desktop.windows.active().unwrap().unwrap().modal);
    // A modal dialog keeps clicks from its window; Escape closes it.
    click(&desktop, &fake, "#ok");
    assert!(fake.window("Login").is_some());
    desktop.input.chord(&[named(NamedKey::Escape)], &scope()).unwrap();
    assert!(fake.window("Save As").is_none());
    assert!(desktop.input.held().is_empty());
}

#[test]
fn failures_are_as_written() {
    let fake = FakeDesktop::parse(LOGIN);
    let desktop = fake.desktop();
    let act = |id: &str, action: ElementAction| {
        desktop.elements.act(&fake.element(id).unwrap().handle, &action, &scope())
    };
    // noop: nothing at all happens.
    let (mark, pixels) = (desktop.elements.mark().unwrap(), desktop.screen.mark().unwrap());
    act("#dead", ElementAction::Press).unwrap();
    let short = Scope::timeout(Duration::from_millis(20));
    assert_eq!(desktop.elements.wait_event(mark, None, &short).unwrap(), None);
    assert_eq!(desktop.screen.wait_change(pixels, None, &short).unwrap(), None);
    assert_eq!(fake.value("#user").unwrap(), "");
    // drop-text: says done, loses two characters.
    assert_eq!(act("#lossy", ElementAction::InsertText("abc世界".into())).unwrap().done, Some(true));
    assert_eq!(fake.value("#lossy").unwrap(), "abc");
    // slow: comes later, and is seen when it comes.
    let mark = desktop.elements.mark().unwrap();
    act("#late", ElementAction::Press).unwrap();
    assert_eq!(fake.value("#user").unwrap(), "");
    let mut mark = mark;
    while fake.value("#user").unwrap() != "late" {
        mark = desktop.elements.wait_event(mark, None, &scope()).unwrap().expect("the late effect").mark;
    }
    // strict: the entry of a closed menu does nothing.
    let query = TreeQuery {
        root: Root::App(7),
        max_depth: 9,
        max_nodes: 99,
        max_wall: Duration::from_secs(5),
        include_text: true,
        visible_only: false,
    };
    let tree = desktop.elements.tree(&query, &scope()).unwrap();
    let strict = tree.nodes.iter().find(|n| n.element.name == "Strict").unwrap().element.handle.clone();
    desktop.elements.act(&strict, &ElementAction::Press, &scope()).unwrap();
    assert_eq!(fake.value("#user").unwrap(), "late");
    // freeze: answers nothing, once for its time, then at once.
    act("#hang", ElementAction::Press).unwrap();
    for _ in 0..2 {
        assert!(matches!(act("#ok", ElementAction::Press), Err(PlatformError::AppUnresponsive { .. })));
    }
    click(&desktop, &fake, "#ok");
    assert!(fake.window("Login").is_some(), "a frozen window took a click");
    fake.run("thaw app \"login\"");
    act("#ok", ElementAction::Press).unwrap();
    assert!(fake.window("Login").is_none());
}

#[test]
fn broken_parts_answer_with_their_code_and_fail_their_check() {
    for (part, code) in [
        ("display", ErrorCode::DisplayUnavailable),
        ("ax", ErrorCode::AxUnavailable),
        ("clipboard", ErrorCode::Unsupported),
        ("window_manager", ErrorCode::Unsupported),
        ("notifications", ErrorCode::Unsupported),
    ] {
        let fake = FakeDesktop::parse(&format!("{LOGIN}\nbroken {part}"));
        let d = fake.desktop();
        let error = match part {
            "display" => d.screen.displays().unwrap_err(),
            "ax" => d.elements.focused(&scope()).unwrap_err(),
            "clipboard" => d.clipboard.read_text(&scope()).unwrap_err(),
            "window_manager" => d.windows.list().unwrap_err(),
            _ => d.notifications.send("t", "b", deskhand_platform::Urgency::Normal, &scope()).unwrap_err(),
        };
        assert_eq!(error.code(), code, "{part}");
        let checks = d.capabilities.checks(&scope());
        let check = checks.iter().find(|c| c.id == part).unwrap();
        assert_eq!((check.status, check.code), (CheckStatus::Fail, Some(code)), "{part}");
        fake.run(&format!("mend {part}"));
        assert!(d.capabilities.checks(&scope()).iter().all(|c| c.status == CheckStatus::Pass), "{part}");
    }
}

#[test]
fn nothing_is_logged_after_a_cancellation() {
    let fake = FakeDesktop::parse(&LOGIN.replace("display 0", "slow 1\ndisplay 0"));
    let desktop = fake.desktop();
    click(&desktop, &fake, "#user");
    let token = CancelToken::new();
    let scope = Scope::new(Duration::from_secs(60), token.clone());
    let text = "x".repeat(5000);
    let stop = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(30));
        token.cancel();
    });
    let typed = desktop.input.type_keys(&text, Duration::ZERO, &mut |_| {}, &scope);
    assert!(matches!(typed, Err(PlatformError::Cancelled)));
    stop.join().unwrap();
    let count = fake.log().len();
    std::thread::sleep(Duration::from_millis(20));
    assert_eq!(fake.log().len(), count);
    assert_eq!(count % 2, 1, "every key that went down came up (and the pointer moved once)");
    assert!(desktop.input.held().is_empty());
}

#[test]
fn programs_start_afresh() {
    let fake = FakeDesktop::parse(LOGIN);
    let apps = fake.desktop().apps;
    let first = apps.launch("文本编辑器", &[], &scope()).unwrap();
    assert!(first.window_seen && fake.window("Document").is_some());
    let old = fake.element("#doc").unwrap().handle;
    fake.run("set #doc \"text\"");
    assert!(apps.close(first.pid, false, &scope()).unwrap());
    let second = apps.launch("GEDIT", &[], &scope()).unwrap();
    assert_ne!(first.pid, second.pid);
    assert_eq!(fake.value("#doc").unwrap(), "");
    let read = fake.desktop().elements.read(&old, &scope());
    assert!(matches!(read, Err(PlatformError::ElementGone { .. })));
}
