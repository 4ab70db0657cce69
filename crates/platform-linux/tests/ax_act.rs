//! Acting on elements of real applications, and the events that come of it.

#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod ax_desk;

use std::time::Duration;

use ax_desk::{Desk, eventually, find, query, scope, wait_for, wait_until};
use deskhand_platform::{
    Element, ElementAction as Do, ElementEventKind, Elements, PlatformError, Root, Scope,
};
use deskhand_protocol::{ErrorCode, Role};

const MIXED: &str = "汉字 和 emoji 🎉👍🏽 naïve Ωμέγα\nsecond line\t.";

fn first(ax: &dyn Elements, pid: u32, role: Role) -> Element {
    wait_until(ax, pid, role.as_str(), |e| e.role == role && e.states.showing).1
}

#[test]
fn text_goes_in_exactly() {
    let desk = Desk::start();
    let ax = desk.elements();
    // Standalone: FeatherPad otherwise hands over to one that runs on any other desk of this user.
    for (program, args) in [("mousepad", [].as_slice()), ("featherpad", ["--standalone"].as_slice())] {
        let pid = desk.spawn_qt(&ax, program, args);
        let area = first(&ax, pid, Role::TextArea);
        assert!(area.editable_text && area.has_text, "{program}");
        let mark = ax.mark().unwrap();
        let done = ax.act(&area.handle, &Do::InsertText(MIXED.into()), &scope()).unwrap();
        assert_eq!(done.done, Some(true), "{program}: {}", done.how);
        let read = ax.text(&area.handle, 10_000, &scope()).unwrap();
        assert_eq!((read.text.as_str(), read.truncated), (MIXED, false), "{program}");
        assert_eq!(read.total_bytes, Some(MIXED.len()), "{program}");
        // At the caret: after what was inserted.
        let done = ax.act(&area.handle, &Do::InsertText("尾".into()), &scope()).unwrap();
        assert_eq!(done.done, Some(true), "{program}: {}", done.how);
        assert_eq!(ax.text(&area.handle, 10_000, &scope()).unwrap().text, format!("{MIXED}尾"), "{program}");
        // The event came, from that process.
        let mut since = mark;
        eventually("a text event", || {
            let event = ax.wait_event(since, Some(pid), &Scope::timeout(Duration::from_secs(5))).unwrap()?;
            since = event.mark;
            (event.kind == ElementEventKind::TextChanged && event.handle == area.handle).then_some(())
        });
        // The dump sees it too, whatever was kept.
        let mut with_text = query(Root::App(pid));
        with_text.include_text = true;
        let tree = ax.tree(&with_text, &scope()).unwrap();
        let value =
            tree.nodes.iter().find(|n| n.element.handle == area.handle).unwrap().element.value.clone();
        assert_eq!(value.as_deref(), Some(format!("{MIXED}尾").as_str()), "{program}");
        // Cut at a character.
        let cut = ax.text(&area.handle, 4, &scope()).unwrap();
        assert_eq!((cut.text.as_str(), cut.truncated, cut.total_bytes), ("汉", true, None), "{program}");
        let done = ax.act(&area.handle, &Do::SetText("新".into()), &scope()).unwrap();
        assert_eq!(done.done, Some(true), "{program}: {}", done.how);
        assert_eq!(ax.text(&area.handle, 100, &scope()).unwrap().text, "新", "{program}");
        desk.kill(pid);
    }
}

#[test]
fn a_dialog_comes_and_goes() {
    let desk = Desk::start();
    let ax = desk.elements();
    let pid = desk.spawn("mousepad", &[]);
    let (tree, about) = wait_for(&ax, pid, Role::MenuItem, "About");
    assert!(find(&tree, Role::Button, "Close").is_none());
    let mark = ax.mark().unwrap();
    let report = ax.act(&about.handle, &Do::Press, &scope()).unwrap();
    assert_ne!(report.done, Some(false), "{}", report.how);
    let event = ax.wait_event(mark, Some(pid), &Scope::timeout(Duration::from_secs(10))).unwrap();
    assert!(event.is_some(), "an event of the dialog");
    // The kept tree must learn of the dialog, and of its end.
    let (_, close) = wait_for(&ax, pid, Role::Button, "Close");
    ax.act(&close.handle, &Do::Press, &scope()).unwrap();
    eventually("the dialog to go", || {
        let tree = ax.tree(&query(Root::App(pid)), &scope()).ok()?;
        tree.nodes.iter().all(|n| n.element.handle != close.handle || !n.element.states.showing).then_some(())
    });
    let focused = eventually("the focus", || ax.focused(&scope()).unwrap());
    assert_eq!(focused.pid, pid);
    assert!(focused.states.focused);
    // A connection that saw no event finds it too.
    let other = desk.elements().focused(&scope()).unwrap().unwrap();
    assert_eq!(other.handle, focused.handle);
}

#[test]
fn fields_lists_and_numbers() {
    let desk = Desk::start();
    let ax = desk.elements();

    let pid = desk.spawn("zenity", &["--password", "--title=Secret"]);
    let secret = first(&ax, pid, Role::PasswordField);
    assert!(secret.secure);
    let refused = ax.text(&secret.handle, 100, &scope()).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::SecureField);
    let done = ax.act(&secret.handle, &Do::InsertText("hunter2".into()), &scope()).unwrap();
    assert_ne!(done.done, Some(false), "{}", done.how);
    let mut with_text = query(Root::App(pid));
    with_text.include_text = true;
    let tree = ax.tree(&with_text, &scope()).unwrap();
    assert!(tree.nodes.iter().all(|n| n.element.value.as_deref().is_none_or(|v| !v.contains("hunter"))));
    desk.kill(pid);

    let pid = desk.spawn("zenity", &["--scale", "--text=How much", "--value=10"]);
    let slider = first(&ax, pid, Role::Slider);
    assert_eq!(slider.value.as_deref(), Some("10"));
    let done = ax.act(&slider.handle, &Do::SetValue(42.0), &scope()).unwrap();
    assert_eq!(done.done, Some(true), "{}", done.how);
    assert_eq!(ax.read(&slider.handle, &scope()).unwrap().value.as_deref(), Some("42"));
    assert_eq!(first(&ax, pid, Role::Slider).value.as_deref(), Some("42"), "the dump sees it");
    let far = ax.act(&slider.handle, &Do::SetValue(1e9), &scope()).unwrap();
    assert_eq!(far.done, Some(false), "beyond its range: {}", far.how);
    desk.kill(pid);

    // Cells of GTK 3's tree view: missing from GetItems.
    let pid = desk.spawn("zenity", &["--list", "--column=Fruit", "Apple", "Pear", "梨"]);
    let pear = eventually("the cell Pear", || {
        let tree = ax.tree(&query(Root::App(pid)), &scope()).ok()?;
        tree.nodes.into_iter().map(|n| n.element).find(|e| e.name == "Pear")
    });
    assert!(pear.rect.is_some());
    let (_, ok) = wait_for(&ax, pid, Role::Button, "OK");
    let named = ax.act(&ok.handle, &Do::Named("dance".into()), &scope()).unwrap_err();
    assert!(matches!(named, PlatformError::NotActionable { .. }), "{named}");
    let focus = ax.act(&ok.handle, &Do::Focus, &scope()).unwrap();
    assert_eq!(focus.done, Some(true), "{}", focus.how);
    let typed = ax.act(&ok.handle, &Do::InsertText("x".into()), &scope()).unwrap_err();
    assert_eq!(typed.code(), ErrorCode::NotActionable);
    ax.act(&ok.handle, &Do::Press, &scope()).unwrap();
    eventually("zenity to end", || ax.read(&ok.handle, &scope()).is_err().then_some(()));
    let gone = ax.read(&ok.handle, &scope()).unwrap_err();
    assert_eq!(gone.code(), ErrorCode::StaleSnapshot, "{gone}");
}

#[test]
fn a_web_page() {
    let desk = Desk::start();
    let ax = desk.elements();
    let page = "<title>P</title><h1 id=t>Start</h1><button id=go onclick=\"t.textContent='Gone to '+(++n)\">Go</button>\
        <script>n=0</script><input type=password aria-label=Secret value=hunter2><p>One <a href='#x'>two</a> three</p>\
        <div style='height:3000px'></div><button id=far>Far</button>";
    let pid = desk.chromium(page);
    let (_, go) = wait_for(&ax, pid, Role::Button, "Go");
    for n in 1..=3 {
        ax.act(&go.handle, &Do::Press, &scope()).unwrap();
        wait_for(&ax, pid, Role::Heading, &format!("Gone to {n}"));
    }
    assert_eq!(ax.read(&go.handle, &scope()).unwrap().identifier, "go");
    let (tree, secret) = wait_for(&ax, pid, Role::PasswordField, "Secret");
    assert_eq!(ax.text(&secret.handle, 99, &scope()).unwrap_err().code(), ErrorCode::SecureField);
    let document = tree.nodes.iter().map(|n| &n.element).find(|e| e.role == Role::Document).unwrap();
    let text = ax.text(&document.handle, 10_000, &scope()).unwrap().text;
    assert!(text.contains("One two three") && !text.contains("hunter"), "{text:?}");
    // Scrolling moves what is kept.
    let before = wait_for(&ax, pid, Role::Heading, "Gone to 3").1.rect.unwrap();
    let (_, far) = wait_for(&ax, pid, Role::Button, "Far");
    let report = ax.act(&far.handle, &Do::ScrollTo, &scope()).unwrap();
    assert_eq!(report.done, Some(true), "{}", report.how);
    eventually("the heading to move", || {
        let tree = ax.tree(&query(Root::App(pid)), &scope()).ok()?;
        let now = find(&tree, Role::Heading, "Gone to 3")?.rect;
        let far = find(&tree, Role::Button, "Far")?;
        (now != Some(before) && far.states.showing).then_some(())
    });
}
