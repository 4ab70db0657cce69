//! Real applications on a private desk: what the live tests of applications share.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deskhand_protocol::{CallOptions, Effect, Error, Outcome};
use serde_json::{Value, json};

use crate::{LiveHost, LiveOptions};

/// What an application may take to do something on a loaded machine.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// A desk whose applications have a home of their own, so that no test sees another's settings.
pub struct AppDesk {
    live: LiveHost,
    home: tempfile::TempDir,
}

impl Deref for AppDesk {
    type Target = LiveHost;

    fn deref(&self) -> &LiveHost {
        &self.live
    }
}

impl AppDesk {
    /// A desk for these programs.
    ///
    /// # Panics
    /// When one of them is not installed, or the desk does not start.
    #[must_use]
    pub fn with(programs: &[&str]) -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        for program in programs {
            let there = std::env::split_paths(&path).any(|dir| dir.join(program).is_file());
            assert!(there, "{program} is not installed: run scripts/setup");
        }
        let home = tempfile::Builder::new().prefix("dhome").tempdir().expect("a temporary folder");
        let own =
            |name: &str, path: &str| (name.to_owned(), home.path().join(path).to_string_lossy().into_owned());
        let env = vec![
            own("HOME", ""),
            own("XDG_CONFIG_HOME", ".config"),
            own("XDG_CACHE_HOME", ".cache"),
            own("XDG_DATA_HOME", ".local/share"),
            ("LC_ALL".to_owned(), "C.UTF-8".to_owned()),
            ("LANGUAGE".to_owned(), "en".to_owned()),
        ];
        let live = LiveHost::with(&LiveOptions { env, ..LiveOptions::default() });
        Self { live, home }
    }

    /// The home folder of the applications; goes away with the test.
    #[must_use]
    pub fn files(&self) -> &Path {
        self.home.path()
    }

    /// Starts an application by `app_launch` and waits for a window whose title contains `title`.
    ///
    /// # Panics
    /// When it does not start or shows no such window.
    pub fn launch(&self, name: &str, args: &[&str], title: &str) -> App<'_> {
        let outcome = self.done("app_launch", json!({"name": name, "args": args}), &Value::Null);
        assert_eq!(outcome.result.as_ref().map(|r| &r["success"]), Some(&json!(true)));
        let app = self.app(title);
        app.ready();
        app
    }

    /// The application whose window's title contains `title`, once it is there.
    ///
    /// # Panics
    /// When it does not come.
    pub fn app(&self, title: &str) -> App<'_> {
        let window = self.window(title);
        App { desk: self, id: window["windowId"].as_u64().expect("a window id") }
    }

    /// A call with a route (`null` for none) that must not fail.
    ///
    /// # Panics
    /// When it fails.
    pub fn done(&self, tool: &str, args: Value, route: &Value) -> Outcome {
        let words = args.to_string();
        let outcome = self.try_call(tool, args, route);
        if let Some(e) = &outcome.error {
            self.fail(&format!(
                "{tool} {}: {e}\n  hint: {}\n  details: {:?}",
                brief(&words),
                e.hint,
                e.details
            ));
        }
        outcome
    }

    /// A call with a route (`null` for none), whatever comes of it.
    ///
    /// # Panics
    /// When the route is none.
    pub fn try_call(&self, tool: &str, args: Value, route: &Value) -> Outcome {
        let route = (!route.is_null()).then(|| serde_json::from_value(route.clone()).expect("a route"));
        self.full(tool, args, route, CallOptions::default(), None)
    }

    /// A call that must have had its effect, and said so.
    ///
    /// # Panics
    /// When it fails or the effect is not confirmed.
    pub fn confirmed(&self, tool: &str, args: Value, route: &Value) -> Outcome {
        let words = args.to_string();
        let outcome = self.done(tool, args, route);
        if effect(&outcome) != Some(Effect::Confirmed) {
            self.fail(&format!("{tool} {}: effect {:?}", brief(&words), outcome.effect));
        }
        outcome
    }

    /// Waits until `ready` gives something.
    ///
    /// # Panics
    /// When it does not, with a picture of the screen.
    pub fn until<T>(&self, what: &str, mut ready: impl FnMut() -> Option<T>) -> T {
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(value) = ready() {
                return value;
            }
            if Instant::now() >= until {
                self.fail(&format!("waited {PATIENCE:?} for {what}"));
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Ends the test with a picture of the screen beside the message.
    ///
    /// # Panics
    /// Always: that is what it is for.
    pub fn fail(&self, message: &str) -> ! {
        let picture =
            self.picture("failed").map_or_else(String::new, |p| format!("\n  screen: {}", p.display()));
        panic!("{message}{picture}");
    }

    /// Keeps a picture of the screen in the temporary folder of the machine, for whoever looks into it.
    pub fn picture(&self, name: &str) -> Option<PathBuf> {
        let shot = self.call("screenshot", json!({"mode": "fullscreen", "format": "png"})).result?;
        let bytes = decode(shot["image"].as_str()?);
        let path = std::env::temp_dir().join(format!("deskhand-{name}-{}.png", std::process::id()));
        std::fs::write(&path, bytes).ok()?;
        Some(path)
    }
}

/// A window of an application on the desk; every call is routed to it.
#[derive(Clone, Copy)]
pub struct App<'a> {
    desk: &'a AppDesk,
    id: u64,
}

impl<'a> App<'a> {
    /// The route to the window.
    #[must_use]
    pub fn route(&self) -> Value {
        json!({"window": {"windowId": self.id}})
    }

    /// The window's facts as `app_list` gives them, or `None` when it is gone.
    #[must_use]
    pub fn facts(&self) -> Option<Value> {
        let list = self.desk.call("app_list", json!({"include_windows": true})).result?;
        let mut windows = list["apps"]
            .as_array()?
            .iter()
            .flat_map(|a| a["windows"].as_array().cloned().unwrap_or_default());
        windows.find(|w| w["windowId"] == self.id)
    }

    /// The window's place: x, y, width, height.
    ///
    /// # Panics
    /// When the window is gone.
    #[must_use]
    pub fn bounds(&self) -> [i64; 4] {
        rect(&self.facts().expect("the window is there")["bounds"])
    }

    /// Waits until the application's tree has more than a window in it.
    ///
    /// # Panics
    /// When it stays empty.
    pub fn ready(&self) {
        let until = Instant::now() + PATIENCE;
        loop {
            let args = json!({"maxNodes": 50, "maxWallTimeMs": 5000});
            let outcome = self.desk.try_call("dump_ax_tree", args, &self.route());
            if outcome.result.as_ref().is_some_and(|t| t["count"].as_u64() > Some(5)) {
                return;
            }
            if Instant::now() >= until {
                self.desk.fail(&format!(
                    "the application's tree stays empty: {:?} {:?}",
                    outcome.error, outcome.result
                ));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// A call that must not fail.
    pub fn done(&self, tool: &str, args: Value) -> Outcome {
        self.desk.done(tool, args, &self.route())
    }

    /// A call that must have had its effect.
    pub fn confirmed(&self, tool: &str, args: Value) -> Outcome {
        self.desk.confirmed(tool, args, &self.route())
    }

    /// A call that must be refused.
    ///
    /// # Panics
    /// When it is not.
    pub fn refused(&self, tool: &str, args: Value) -> Error {
        let words = args.to_string();
        let outcome = self.desk.try_call(tool, args, &self.route());
        outcome.error.unwrap_or_else(|| panic!("{tool} {words} was not refused: {:?}", outcome.result))
    }

    /// What `find` answers; it may take the application a while to show the element.
    ///
    /// # Panics
    /// When nothing fits in time.
    pub fn find(&self, selector: Value) -> Value {
        let (mut last, route) = (None, self.route());
        let until = Instant::now() + PATIENCE / 3;
        while Instant::now() < until {
            let outcome = self.desk.try_call("find", json!({"selector": selector}), &route);
            match outcome.result {
                Some(found) => return found,
                None => last = outcome.error,
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        self.desk.fail(&format!("find {selector}: {last:?}"))
    }

    /// The best candidate of a selector.
    pub fn best(&self, selector: Value) -> Value {
        self.find(selector)["candidates"][0].clone()
    }

    /// The text of an element, by `read_text`.
    pub fn text(&self, selector: Value) -> String {
        let outcome = self.done(
            "read_text",
            json!({"target": {"selector": selector}, "limitBytes": 200_000, "redactionMode": "none"}),
        );
        outcome.result.and_then(|r| r["text"].as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Clicks an element; the effect must be confirmed.
    pub fn click(&self, selector: Value) -> Outcome {
        self.confirmed("click", json!({"target": {"selector": selector}}))
    }

    /// Presses Enter until the window is gone: while a file chooser still completes a name, Enter only
    /// ends that.
    ///
    /// # Panics
    /// When a press does nothing, or the window stays.
    pub fn enter_until_gone(&self) {
        self.desk.until("the dialog to close", || {
            let entered = self.desk.try_call("key_press", json!({"keys": ["enter"]}), &self.route());
            let nothing = matches!(effect(&entered), Some(Effect::SuspectedNoop | Effect::Refused));
            let until = Instant::now() + Duration::from_secs(3);
            while Instant::now() < until && self.facts().is_some() {
                std::thread::sleep(Duration::from_millis(50));
            }
            let gone = self.facts().is_none();
            assert!(gone || !nothing, "{:?}", entered.effect);
            gone.then_some(())
        });
    }

    /// The desk.
    #[must_use]
    pub fn desk(&self) -> &'a AppDesk {
        self.desk
    }
}

/// The verdict of an outcome.
#[must_use]
pub fn effect(outcome: &Outcome) -> Option<Effect> {
    outcome.effect.as_ref().map(|e| e.effect)
}

/// A rectangle as x, y, width, height.
///
/// # Panics
/// When it is none.
#[must_use]
pub fn rect(value: &Value) -> [i64; 4] {
    ["x", "y", "width", "height"]
        .map(|k| value[k].as_i64().unwrap_or_else(|| panic!("not a rectangle: {value}")))
}

/// Whether one rectangle lies inside another.
#[must_use]
pub fn inside(inner: [i64; 4], outer: [i64; 4]) -> bool {
    inner[0] >= outer[0]
        && inner[1] >= outer[1]
        && inner[0] + inner[2] <= outer[0] + outer[2]
        && inner[1] + inner[3] <= outer[1] + outer[3]
}

/// Its middle.
#[must_use]
pub fn middle(r: [i64; 4]) -> (i64, i64) {
    (r[0] + r[2] / 2, r[1] + r[3] / 2)
}

/// `n` characters of many scripts in lines; every one of them must arrive. The same on every run.
#[must_use]
pub fn mixed(n: usize, line: usize) -> String {
    const PARTS: &[&str] = &[
        "Deskhand types ",
        "桌面操控测试，",
        "中文输入。",
        "ελληνικά ",
        "Привет ",
        "ñandú çà ü ß ",
        "😀🚀🎉",
        "日本語カナ",
        "한국어 ",
        "x=[1]{2}(3)<4>;",
        "\"quoted\" 'q' `b` ",
        "~!@#$%^&*_+|\\ ",
        "ＡＢ全角",
        "€£¥₹ ",
        "𝛼𝛽𝛾 ",
        "0123456789 ",
    ];
    let mut out = String::new();
    let (mut count, mut column, mut at) = (0, 0, 7usize);
    while count < n {
        at = (at * 31 + 17) % 1009;
        for c in PARTS[at % PARTS.len()].chars() {
            if count == n {
                break;
            }
            if line > 0 && column == line {
                out.push('\n');
                column = 0;
            } else {
                out.push(c);
                column += 1;
            }
            count += 1;
        }
    }
    // A line must not end in a space: some editors drop it when they save.
    let text = out.replace(" \n", "-\n").trim_end().to_owned();
    let missing = n - text.chars().count();
    text + &".".repeat(missing)
}

/// Fails where two texts first differ, and shows the place.
///
/// # Panics
/// When they differ.
pub fn same_text(got: &str, want: &str) {
    if got == want {
        return;
    }
    let at = got.chars().zip(want.chars()).take_while(|(a, b)| a == b).count();
    let around = |s: &str| s.chars().skip(at.saturating_sub(10)).take(40).collect::<String>();
    panic!(
        "the texts differ at character {at}: {} characters instead of {}\n  got  {:?}\n  want {:?}",
        got.chars().count(),
        want.chars().count(),
        around(got),
        around(want)
    );
}

fn brief(text: &str) -> String {
    if text.chars().count() > 300 { text.chars().take(300).chain(['…']).collect() } else { text.to_owned() }
}

/// Plain base64.
#[must_use]
pub fn decode(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let digits: Vec<u8> = text.bytes().filter_map(value).collect();
    let mut out = Vec::with_capacity(digits.len() * 3 / 4);
    for four in digits.chunks(4) {
        let bits = four.iter().fold(0u32, |n, d| (n << 6) | u32::from(*d)) << (6 * (4 - four.len()));
        out.extend_from_slice(&bits.to_be_bytes()[1..four.len().max(1)]);
    }
    out
}
