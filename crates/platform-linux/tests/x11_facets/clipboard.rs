//! The clipboard against xclip and xsel.

use std::io::Write;
use std::process::{Command, Stdio};
use std::time::Duration;

use deskhand_platform::{SavedClipboard, Scope};
use deskhand_protocol::{ErrorCode, Rect};
use x11rb::protocol::xproto::ConnectionExt as _;

use crate::client::Client;
use crate::common::{Xvfb, eventually, scope};

/// Puts something on the clipboard with another program.
fn copy(x: &Xvfb, program: &str, args: &[&str], bytes: &[u8]) {
    let watch = Client::unmanaged(&x.display, Rect::new(0, 0, 1, 1), 0);
    let owner = || {
        let clipboard = watch.atom("CLIPBOARD");
        watch.x.get_selection_owner(clipboard).unwrap().reply().unwrap().owner
    };
    let before = owner();
    let mut child = Command::new(program)
        .args(args)
        .env("DISPLAY", &x.display)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect(program);
    child.stdin.take().expect("a pipe").write_all(bytes).expect("write");
    assert!(child.wait().expect("it ends").success());
    // They go on in the background and take the clipboard when they get to it.
    eventually("the clipboard to be taken", || ![0, before].contains(&owner()));
}

const XCLIP: &[&str] = &["-selection", "clipboard"];

#[test]
fn text_goes_both_ways() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let clipboard = &desktop.clipboard;
    assert_eq!(clipboard.read_text(&scope()).unwrap(), None, "empty at first");
    assert!(clipboard.formats(&scope()).unwrap().is_empty());
    let large = "0123456789 你好 😀\n".repeat(200_000);
    for text in ["hello", "你好 😀 é\n\ttab", "", large.as_str()] {
        clipboard.write_text(text, &scope()).unwrap();
        assert_eq!(clipboard.times_read(), 0);
        assert_eq!(clipboard.read_text(&scope()).unwrap().as_deref(), Some(text));
        assert_eq!(clipboard.times_read(), 0, "we do not count ourselves");
        let got = x.output("xclip", &["-o", "-selection", "clipboard", "-t", "UTF8_STRING"]);
        assert_eq!(got.len(), text.len());
        assert!(got == text, "xclip reads another text");
        assert_eq!(clipboard.times_read(), 1);
        assert!(x.output("xsel", &["-b", "-o"]) == text, "xsel reads another text");
        assert!(clipboard.times_read() >= 2);
    }
    for text in ["by xclip 你好", large.as_str()] {
        copy(&x, "xclip", XCLIP, text.as_bytes());
        assert!(clipboard.read_text(&scope()).unwrap().as_deref() == Some(text), "from xclip");
        copy(&x, "xsel", &["-b", "-i"], text.as_bytes());
        assert!(clipboard.read_text(&scope()).unwrap().as_deref() == Some(text), "from xsel");
    }
    clipboard.write_text("ours again", &scope()).unwrap();
    assert_eq!(x.output("xsel", &["-b", "-o"]), "ours again");
    assert_eq!(x.output("xclip", &["-o", "-selection", "clipboard", "-t", "STRING"]), "ours again");
}

#[test]
fn what_was_there_is_put_back() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let clipboard = &desktop.clipboard;
    copy(&x, "xclip", &["-selection", "clipboard", "-t", "image/png"], b"\x89PNG\x00\xff picture");
    assert_eq!(clipboard.read_text(&scope()).unwrap(), None, "a picture is no text");
    let saved = clipboard.save(&scope()).unwrap();
    assert!(saved.items.contains(&("image/png".into(), b"\x89PNG\x00\xff picture".to_vec())), "{saved:?}");
    clipboard.write_text("paste me", &scope()).unwrap();
    clipboard.restore(&saved, &scope()).unwrap();
    assert_eq!(clipboard.formats(&scope()).unwrap(), ["image/png"]);
    let out = Command::new("xclip")
        .args(["-o", "-selection", "clipboard", "-t", "image/png"])
        .env("DISPLAY", &x.display)
        .output()
        .unwrap();
    assert_eq!(out.stdout, b"\x89PNG\x00\xff picture");
    clipboard.restore(&SavedClipboard::default(), &scope()).unwrap();
    assert_eq!(clipboard.read_text(&scope()).unwrap(), None, "empty as before");
}

#[test]
fn an_owner_that_never_answers_costs_its_time_only() {
    let x = Xvfb::start();
    let desktop = x.desktop();
    let silent = Client::new(&x.display, Rect::new(0, 0, 10, 10), 0);
    silent.x.set_selection_owner(silent.window, silent.atom("CLIPBOARD"), x11rb::CURRENT_TIME).unwrap();
    silent.sync();
    let short = Scope::timeout(Duration::from_millis(150));
    let error = desktop.clipboard.read_text(&short).unwrap_err();
    assert!(matches!(error.code(), ErrorCode::Timeout | ErrorCode::AppUnresponsive), "{error}");
    let error = desktop.clipboard.read_text(&scope()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::AppUnresponsive);
    let checks = desktop.capabilities.checks(&scope());
    let check = checks.iter().find(|c| c.id == "clipboard").expect("a check");
    assert_eq!((check.status, check.code), (deskhand_protocol::CheckStatus::Fail, Some(error.code())));
    // Taking it over works all the same.
    desktop.clipboard.write_text("mine", &scope()).unwrap();
    assert_eq!(x.output("xsel", &["-b", "-o"]), "mine");
    // When another program takes it, we know that it is no longer ours.
    copy(&x, "xclip", XCLIP, b"theirs");
    eventually("the other text", || {
        desktop.clipboard.read_text(&scope()).unwrap().as_deref() == Some("theirs")
    });
}
