//! What people are shown of the desktop: nothing that acts on their terminal, and what there is instead
//! of what was not found.

use expect_test::expect;
use serde_json::json;

use crate::fake_host::{EVIL, Hosted};
use crate::support::on_a_terminal;

/// Whatever a window is called, the terminal of who asks is not driven by it; a pipe gets it as it is.
#[test]
fn text_of_the_desktop_does_not_act_on_a_terminal() {
    let host = Hosted::new();
    let bundle = host.world.path().join("artifacts/desktop/2023-11-14/req-1");
    std::fs::create_dir_all(&bundle).unwrap();
    std::fs::write(bundle.join("summary.md"), EVIL).unwrap();
    std::fs::write(bundle.join("request.json"), json!({ "tool": EVIL }).to_string()).unwrap();
    let lines: &[&[&str]] = &[
        &["call", "evil"],
        &["--json", "call", "evil"],
        &["call", "evil_error"],
        &["--json", "call", "evil_error"],
        &["evidence", "list"],
        &["evidence", "list", "--json"],
        &["evidence", "show", "req-1"],
        &["evidence", "show", "req-1", "--json"],
    ];
    for args in lines {
        let shown = on_a_terminal(&host.world.command(args));
        assert!(shown.contains("owned"), "{args:?}: {shown:?}");
        // The colours are ours; lines of a terminal end in \r\n.
        let rest = ["0", "1", "2", "31", "32", "33"]
            .iter()
            .fold(shown.replace("\r\n", "\n"), |text, code| text.replace(&format!("\x1b[{code}m"), ""));
        let acts = |c: char| c != '\n' && (c.is_control() || c == '\u{202e}');
        assert!(!rest.contains(acts), "{args:?}: {rest:?}");
        assert!(!shown.contains("\x1b[31m\\u009b"), "{args:?}: not even its colour: {shown:?}");
    }
    let file = host.world.path().join("calls");
    std::fs::write(&file, "{\"tool\":\"evil\"}\n").unwrap();
    let shown = on_a_terminal(&host.world.command(&["batch", file.to_str().unwrap()]));
    assert!(shown.contains("\\u009b2J\\u202e\\u007f") && !shown.contains('\u{9b}'), "{shown:?}");

    assert_eq!(host.run(&["--json", "call", "evil"]).json()["result"]["title"], EVIL);
    assert!(host.run(&["--json", "call", "evil"]).out.contains("\u{9b}2J\u{202e}\x7f"), "exact in a pipe");
    assert_eq!(host.run(&["evidence", "show", "req-1"]).out, format!("{EVIL}\n"));
    assert_eq!(host.run(&["--json", "call", "evil_error"]).json()["error"]["hint"], EVIL);
}

#[test]
fn what_there_is_instead_is_listed() {
    let host = Hosted::new();
    expect![[r#"
        error: no window fits (DESKTOP_WINDOW_NOT_FOUND)
          hint: details.windows lists the open ones
          windows:
            100  "Notes - a very long title that goes on and on and on and on"  mousepad  pid 7
            101  "Notes - a very long title that goes on and on and on and on"  mousepad  pid 7
            102  "Notes - a very long title that goes on and on and on and on"  mousepad  pid 7
            103  "Notes - a very long title that goes on and on and on and on"  mousepad  pid 7
            104  "Notes - a very long title that goes on and on and on and on"  mousepad  pid 7
            105  "Notes - a very long title that goes on and on and on and on"  mousepad  pid 7
            106  "Notes - a very long title that goes on and on and on and on"  mousepad  pid 7
            107  "Notes - a very long title that goes on and on and on and on"  mousepad  pid 7
            108  "Notes - a very long title that goes on and on and on and on"  mousepad  pid 7
            109  "Notes - a very long title that goes on and on and on and on"  mousepad  pid 7
            … 2 more: --json shows all
    "#]]
    .assert_eq(&host.run(&["call", "no_window"]).err);
    expect![[r#"
        error: which display? (DESKTOP_DISPLAY_REQUIRED)
          hint: name one of details.displays in route.display.displayId
          displays:
            0  HDMI-1  1920x1080 at 0,0
            1  DP-2  1280x800 at 1920,0
    "#]]
    .assert_eq(&host.run(&["call", "no_display"]).err);
    expect![[r#"
        error: no element fits (DESKTOP_ELEMENT_NOT_FOUND)
          hint: observe again, or loosen the selector; near misses are in details.candidates
          candidates:
            0.50  button  "OK"  role equal; title near
            0.25  label  ""
    "#]]
    .assert_eq(&host.run(&["call", "no_element"]).err);
    let ran = host.run(&["call", "no_windows"]);
    assert!(ran.err.ends_with("  windows: none\n"), "{}", ran.err);
}
