//! The conformance suite on the fake desktop.

use deskhand_testkit::FakeDesktop;
use deskhand_testkit::conformance::{FORM_SCENE, FakeStage, run, suite};

#[test]
fn the_fake_conforms() {
    let report = run(&FakeStage::new(), &suite(), "");
    assert!(report.cases.len() >= 30, "only {} cases", report.cases.len());
    assert_eq!(report.failures(), [], "the fake does not conform");
    assert_eq!(report.skips(), [], "the fake has everything");
}

#[test]
fn the_fake_conforms_with_two_displays_and_a_scale() {
    let two = FORM_SCENE.replace(
        "display 0 1280x1024 primary",
        "display 0 1280x1024 primary\ndisplay 1 801x603 at=1280,0 scale=2",
    );
    let report = run(&FakeStage::with(FakeDesktop::parse(&two)), &suite(), "screen:");
    assert_eq!(report.failures(), []);
}

#[test]
fn names_are_told_apart() {
    let mut names: Vec<_> = suite().iter().map(|c| c.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count, "two cases have the same name");
}

/// The suite must be able to fail: each broken desktop fails the cases of its part.
#[test]
fn a_broken_fake_does_not_conform() {
    for (line, case) in [
        ("broken ax", "elements: pressing a button"),
        ("broken display", "screen: displays"),
        ("broken clipboard", "clipboard: text comes back"),
        ("broken window_manager", "windows: the list"),
        ("broken notifications", "notifications:"),
        ("broken screen_capture", "screen: a capture of all"),
        ("broken input", "input: the pointer goes"),
    ] {
        let stage = FakeStage::with(FakeDesktop::parse(&format!("{line}\n{FORM_SCENE}")));
        // Waits for what never comes would make this slow: only cases that fail at once are asked.
        let cases: Vec<_> =
            suite().into_iter().filter(|c| c.needs.is_empty() || line == "broken notifications").collect();
        let asked =
            if cases.iter().any(|c| c.name.contains(case)) { case } else { "capabilities: the parts" };
        let report = run(&stage, &cases, asked);
        assert!(!report.failures().is_empty(), "{line}: {asked} still passes");
    }
}
