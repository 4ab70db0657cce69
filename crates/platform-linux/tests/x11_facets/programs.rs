//! Keys into real programs: GTK 3, Qt 5 and Chromium take every character.

use std::path::Path;
use std::time::{Duration, Instant};

use deskhand_platform::{Desktop, Key, Modifier, Window};

use crate::common::{LONG, Xvfb, eventually, scope};

const TEXT: &str = "Grüße, Καλημέρα! 你好，世界：这是一个测试。日本語のテスト 한국어 Привет €½ 😀🚀 ascii ABC xyz 天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏闰余成岁律吕调阳云腾致雨露结为霜 end.";

fn window(desktop: &Desktop, fits: impl Fn(&Window) -> bool) -> Window {
    let mut found = None;
    eventually("the program's window", || {
        found = desktop.windows.list().unwrap().into_iter().find(&fits);
        found.is_some()
    });
    found.expect("a window")
}

fn type_text(desktop: &Desktop, text: &str) {
    desktop.input.type_keys(text, Duration::ZERO, &mut |_| {}, &scope()).unwrap();
}

/// Types into an editor that has `file` open, saves and reads the file.
fn in_editor(x: &Xvfb, program: &str, file: &Path) -> String {
    let desktop = x.desktop();
    std::fs::write(file, "").unwrap();
    let args = [file.to_string_lossy().into_owned()];
    let started = desktop.apps.launch(program, &args, &scope()).unwrap();
    let window = window(&desktop, |w| w.pid == Some(started.pid));
    desktop.windows.activate(window.id, &scope()).unwrap();
    std::thread::sleep(Duration::from_millis(1500)); // It takes the focus to its text when it is ready.
    type_text(&desktop, TEXT);
    let until = Instant::now() + LONG;
    let mut saved = String::new();
    while saved.trim_end().chars().count() < TEXT.chars().count() && Instant::now() < until {
        desktop.input.chord(&[Key::Modifier(Modifier::Ctrl), Key::Char('s')], &scope()).unwrap();
        std::thread::sleep(Duration::from_millis(500));
        saved = std::fs::read_to_string(file).unwrap();
    }
    desktop.apps.close(started.pid, true, &scope()).unwrap();
    saved.trim_end().to_owned()
}

#[test]
fn editors_take_every_character() {
    let x = Xvfb::managed();
    let folder = tempfile::tempdir().unwrap();
    for program in ["mousepad", "featherpad"] {
        let got = in_editor(&x, program, &folder.path().join(format!("{program}.txt")));
        assert_eq!(got, TEXT, "{program}");
    }
}

#[test]
fn chromium_takes_every_character() {
    let x = Xvfb::managed();
    let desktop = x.desktop();
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    let html = "<meta charset=utf-8><title>ready</title><textarea autofocus rows=20 cols=80 \
                oninput=\"document.title=this.value\"></textarea>";
    std::fs::write(&page, html).unwrap();
    let args = [
        format!("--user-data-dir={}", folder.path().join("profile").display()),
        format!("file://{}", page.display()),
    ];
    let started = desktop.apps.launch("chromium", &args, &scope()).unwrap();
    let page = window(&desktop, |w| w.title.starts_with("ready"));
    desktop.windows.activate(page.id, &scope()).unwrap();
    std::thread::sleep(Duration::from_millis(1500));
    type_text(&desktop, TEXT);
    let title = || desktop.windows.list().unwrap().into_iter().find(|w| w.id == page.id).map(|w| w.title);
    let until = Instant::now() + LONG;
    let mut got = String::new();
    while !got.starts_with(TEXT) && Instant::now() < until {
        got = title().unwrap_or_default();
        std::thread::sleep(Duration::from_millis(100));
    }
    desktop.apps.close(started.pid, true, &scope()).unwrap();
    assert_eq!(got.strip_suffix(" - Chromium").unwrap_or(&got), TEXT);
}
