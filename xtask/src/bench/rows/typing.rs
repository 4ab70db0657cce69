//! 2,000 mixed characters into real applications, read back by somebody else.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::bench::apps::{self, App};
use crate::bench::host::Host;
use crate::bench::peer::{Peer, Python, program};
use crate::bench::report::{Bar, Line};
use crate::bench::stats::Stats;
use crate::bench::{Bench, Rows};

const ROW: &str = "typing";
/// Characters of the text.
const CHARACTERS: usize = 2000;
/// Text that has not changed for so long has arrived, or is lost.
const QUIET: Duration = Duration::from_millis(1500);
/// How long the text may take to arrive.
const ARRIVE: Duration = Duration::from_secs(120);

/// Where the text goes, and how it is read back.
enum Field {
    /// A text field that pyatspi can read, in the application of this name on the bus.
    Accessible(&'static str),
    /// A file the application writes.
    File(PathBuf),
}

/// Each application, each way of typing.
pub(crate) fn run(bench: &Bench) -> Rows {
    let mut lines = Vec::new();
    for name in ["mousepad", "Writer", "xterm", "Chromium"] {
        match one(bench, name) {
            Ok(measured) => lines.extend(measured),
            Err(error) => lines.push(Line::broken(ROW, &format!("{name}: {error}"))),
        }
    }
    Ok(lines)
}

/// Who types.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Typist {
    Us,
    Xdotool,
    RemapPerKey,
}

fn one(bench: &Bench, name: &'static str) -> Rows {
    let text = text(CHARACTERS);
    let (mut ours, mut lost) = (Vec::new(), 0);
    for _ in 0..bench.samples(3) {
        let typed = once(bench, name, &text, Typist::Us)?;
        ours.push(typed.ms);
        lost += typed.lost.ok_or("our text could not be read back")?;
    }
    let ours = Stats::of(ours);
    let mut lines = Vec::new();
    for (who, typist) in [("xdotool", Typist::Xdotool), ("remap per key", Typist::RemapPerKey)] {
        let (stats, note) = match once(bench, name, &text, typist) {
            Ok(Typed { ms, lost: Some(lost) }) => {
                (Stats::of(vec![ms]), format!("{who} lost or changed {lost} of {CHARACTERS}"))
            }
            Ok(_) => (Stats::default(), format!("nothing could be read back after {who} had typed")),
            Err(error) => (Stats::default(), error.to_string()),
        };
        let what = format!("{CHARACTERS} characters, {name}");
        let line = Line::against(ROW, what, ours.clone(), (who, stats), Bar::Faster(1.0));
        lines.push(match lost {
            0 => line.note(note),
            _ => line.wrong(format!("we lost or changed {lost} characters in {} runs; {note}", ours.count())),
        });
    }
    Ok(lines)
}

/// Types the text once, into a fresh application on a fresh desk: thousands of changes of the keymap
/// keep a window manager busy long after.
fn once(bench: &Bench, name: &str, text: &str, typist: Typist) -> Result<Typed, Box<dyn std::error::Error>> {
    let bench = &bench.on_fresh_desk()?;
    let host = Host::start(bench)?;
    let (_app, field) = open(bench, &host, name)?;
    let mut reader = Peer::start(bench, Python::System, "atspi_text.py");
    let mut said = None;
    let typed = match typist {
        Typist::Us => measure(&field, text, reader.as_mut(), || {
            said = host.call("type_text", json!({"text": text})).err();
            said.is_none()
        }),
        Typist::Xdotool => measure(&field, text, reader.as_mut(), || {
            program(bench.command("xdotool").args(["type", "--delay", "1", "--", text])).is_some()
        }),
        Typist::RemapPerKey => {
            let mut peer = Peer::start(bench, Python::Venv, "pynput_type.py");
            let quoted = json!(text).to_string();
            measure(&field, text, reader.as_mut(), || peer.as_mut().and_then(|p| p.ask(&quoted)).is_some())
        }
    };
    said.map_or(Ok(typed), |error| Err(error.into()))
}

/// Opens an application with an empty field that has the focus.
fn open(bench: &Bench, host: &Host, name: &str) -> Result<(App, Field), Box<dyn std::error::Error>> {
    Ok(match name {
        "mousepad" => (apps::mousepad(bench, host)?, Field::Accessible("mousepad")),
        "Writer" => (apps::libreoffice(bench, host, "writer")?, Field::Accessible("soffice")),
        "Chromium" => {
            let body = "<textarea autofocus rows=60 cols=120></textarea>";
            (apps::chromium(bench, host, "bench-typing", body)?, Field::Accessible("Chromium"))
        }
        _ => {
            let count = std::fs::read_dir(&bench.scratch)?.count();
            let file = bench.scratch.join(format!("xterm{count}.txt"));
            (apps::xterm(bench, host, &file)?, Field::File(file))
        }
    })
}

/// What came of typing.
struct Typed {
    /// From the first key until the text was there.
    ms: f64,
    /// Characters lost or changed; `None` when it could not be typed or read.
    lost: Option<usize>,
}

fn measure(field: &Field, text: &str, reader: Option<&mut Peer>, work: impl FnOnce() -> bool) -> Typed {
    let mut reader = reader;
    let mut read = || match field {
        Field::Accessible(app) => reader.as_mut()?.ask(app)?["text"].as_str().map(str::to_owned),
        Field::File(path) => {
            std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        }
    };
    let began = Instant::now();
    if !work() {
        return Typed { ms: f64::NAN, lost: None };
    }
    let (mut last, mut changed) = (None, Instant::now());
    while changed.elapsed() < QUIET && began.elapsed() < ARRIVE {
        let now = read();
        if now.as_deref().is_some_and(|now| wrong(now, text) == 0) {
            return Typed { ms: ms(began, Instant::now()), lost: Some(0) };
        }
        if now != last {
            (last, changed) = (now, Instant::now());
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    Typed { ms: ms(began, changed), lost: last.map(|there| wrong(&there, text)) }
}

fn ms(from: Instant, to: Instant) -> f64 {
    to.duration_since(from).as_secs_f64() * 1e3
}

/// Letters of several scripts, signs, emoji, in lines short enough for a terminal.
fn text(characters: usize) -> String {
    let words = "Deskhand types: café naïve 桌面操控自动化测试 «Ελληνικά» русский текст ¥€£ 1+1=2 😀🚀🎉 ひらがな {x|y} ~end\n";
    words.chars().cycle().take(characters - 1).chain(['\n']).collect()
}

/// Characters that are not as they should be: the edit distance, bounded by a band.
fn wrong(there: &str, wanted: &str) -> usize {
    let clean = |s: &str| s.replace("\r\n", "\n").trim_end_matches('\n').chars().collect::<Vec<char>>();
    let (a, b) = (clean(there), clean(wanted));
    if a == b {
        return 0;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = before + usize::from(from != to);
            before = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(row[j + 1] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_characters_are_counted() {
        for (there, wanted, count) in [
            ("abc\n", "abc", 0),
            ("ac", "abc", 1),
            ("axc", "abc", 1),
            ("", "abc", 3),
            ("abc", "", 3),
            ("桌x", "桌面", 1),
        ] {
            assert_eq!(wrong(there, wanted), count, "{there:?} {wanted:?}");
        }
    }

    #[test]
    fn the_text_has_its_length_and_short_lines() {
        let text = text(CHARACTERS);
        assert_eq!(text.chars().count(), CHARACTERS);
        assert!(text.ends_with('\n') && text.lines().all(|l| l.len() < 1000));
    }
}
