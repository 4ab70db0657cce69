//! Text as keys, read back from a real terminal.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use deskhand_platform::{CancelToken, Desktop, PlatformError, Scope, Window};
use deskhand_protocol::Rect;

use crate::client::Client;
use crate::common::{LONG, Running, Xvfb, eventually, scope};
use crate::input::{caps, lock_group};

/// An xterm whose program writes every byte it gets to a file.
struct Terminal {
    _xterm: Running,
    _folder: tempfile::TempDir,
    file: PathBuf,
    window: Window,
}

impl Terminal {
    fn open(x: &Xvfb, desktop: &Desktop) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("typed");
        let script = format!("stty raw -echo; touch {0}; exec cat >> {0}", file.display());
        let mut command = std::process::Command::new("xterm");
        command.args(["-u8", "-e", "sh", "-c", &script]).env("DISPLAY", &x.display).env("LC_ALL", "C.UTF-8");
        let xterm = Running::start(command.stdout(std::process::Stdio::null()));
        eventually("the terminal to start", || file.exists());
        let mut window = None;
        eventually("the terminal's window", || {
            window = desktop.windows.list().unwrap().into_iter().find(|w| w.app == "XTerm");
            window.is_some()
        });
        let window = window.unwrap();
        desktop.windows.activate(window.id, &scope()).unwrap();
        Self { _xterm: xterm, _folder: folder, file, window }
    }

    /// Waits for `want`; what arrived when it does not come or more comes.
    fn received(&self, want: &str) -> String {
        let want = want.replace('\n', "\r");
        let until = Instant::now() + LONG;
        loop {
            let got = String::from_utf8_lossy(&std::fs::read(&self.file).unwrap()).into_owned();
            if got.len() >= want.len() || Instant::now() > until {
                std::thread::sleep(Duration::from_millis(30));
                let got = String::from_utf8_lossy(&std::fs::read(&self.file).unwrap()).into_owned();
                std::fs::OpenOptions::new().write(true).truncate(true).open(&self.file).unwrap();
                return got.replace('\r', "\n");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn type_text(desktop: &Desktop, text: &str) -> usize {
    desktop.input.type_keys(text, Duration::ZERO, &mut |_| {}, &scope()).unwrap()
}

const MIXED: &str = "Hello, World! aA zZ yY qQ 1234567890 {[()]} <>|~^`'\"\\ @€ äöüß ÄÖÜ éèçà ñ\n\
    Привет, мир! Ωμέγα λ\t你好，世界。桌面助手 こんにちは 한국어 😀🎉👩\u{200d}💻 ÷×½±°§ ş İ ı ǆ ﬁ\n";

#[test]
fn every_character_arrives_under_every_layout() {
    let x = Xvfb::managed();
    let desktop = x.desktop();
    let terminal = Terminal::open(&x, &desktop);
    let helper = Client::unmanaged(&x.display, Rect::new(990, 690, 1, 1), 0);
    for (layout, group, caps_on) in [
        ("us", 0, false),
        ("us", 0, true),
        ("de", 0, false),
        ("fr", 0, true),
        ("ru", 0, false),
        ("us,ru", 1, true),
        ("us(intl)", 0, false),
    ] {
        x.output("setxkbmap", &[layout]);
        lock_group(&helper, group);
        caps(&helper, Some(caps_on));
        let before = x.output("xmodmap", &["-pke"]);
        // The terminal refetches the map on its next key; give the window manager time to settle too.
        std::thread::sleep(Duration::from_millis(300));
        let sent = type_text(&desktop, MIXED);
        assert_eq!(sent, MIXED.chars().count());
        assert_eq!(terminal.received(MIXED), MIXED, "layout {layout}, group {group}, caps {caps_on}");
        assert_eq!(x.output("xmodmap", &["-pke"]), before, "{layout}: the keymap is as before");
        assert_eq!(caps(&helper, None), caps_on, "{layout}: Caps Lock is as before");
    }
    assert!(terminal.window.pid.is_some());
}

#[test]
fn many_different_characters_arrive() {
    let x = Xvfb::managed();
    let desktop = x.desktop();
    let terminal = Terminal::open(&x, &desktop);
    // Far more different characters than there are keycodes to lend, each twice in a row and again later.
    let han: String = (0x4e00..0x4e00 + 150).filter_map(char::from_u32).flat_map(|c| [c, c]).collect();
    let text = format!("{han}{}", han.chars().rev().take(40).collect::<String>());
    type_text(&desktop, &text);
    assert_eq!(terminal.received(&text), text);
    let long: String = "The quick brown Fox, 42 times. ".repeat(60);
    type_text(&desktop, &long);
    assert_eq!(terminal.received(&long), long);
}

#[test]
fn an_abort_stops_typing_and_leaves_the_keyboard_clean() {
    let x = Xvfb::managed();
    let desktop = x.desktop();
    let terminal = Terminal::open(&x, &desktop);
    let before = x.output("xmodmap", &["-pke"]);
    for (text, stop_at) in [("a".repeat(5000), 700usize), ("世界你好abc".repeat(700), 30)] {
        let token = CancelToken::new();
        let cancelled = Scope::new(LONG, token.clone());
        let mut sent = 0;
        let result = desktop.input.type_keys(
            &text,
            Duration::from_micros(200),
            &mut |n| {
                sent = n;
                if n == stop_at {
                    token.cancel();
                }
            },
            &cancelled,
        );
        assert!(matches!(result, Err(PlatformError::Cancelled)));
        assert_eq!(sent, stop_at, "nothing is sent after the abort");
        let want: String = text.chars().take(stop_at).collect();
        assert_eq!(terminal.received(&want), want);
        assert!(desktop.input.held().is_empty());
        assert_eq!(x.output("xmodmap", &["-pke"]), before, "the keymap is as before");
    }
    let bad = desktop.input.type_keys("abc\u{1b}d", Duration::ZERO, &mut |_| {}, &scope()).unwrap_err();
    assert!(bad.to_string().contains("character 3"), "{bad}");
    type_text(&desktop, "ok");
    assert_eq!(terminal.received("ok"), "ok", "nothing of the refused text was sent");
}
