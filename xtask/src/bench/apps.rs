//! Real applications to measure on.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Bench;
use super::host::Host;

/// How long an application may take to show its window.
const START: Duration = Duration::from_secs(40);
/// How long it is left alone after that, to finish drawing.
const SETTLE: Duration = Duration::from_millis(1500);

/// A running application; ended with all its processes when dropped.
pub(crate) struct App {
    child: Child,
    /// The title of its window.
    pub title: String,
}

impl App {
    /// Starts a program and waits for a window whose title contains `title`.
    fn start(host: &Host, command: &mut Command, title: &str) -> Result<Self, Box<dyn std::error::Error>> {
        let child = command
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        let mut app = Self { child, title: String::new() };
        let until = Instant::now() + START;
        let mut seen = Vec::new();
        while Instant::now() < until {
            let list = host.call("app_list", json!({"include_windows": true}))?;
            seen = titles(&list);
            if let Some(found) = seen.iter().find(|t| t.contains(title)).cloned() {
                app.title = found;
                std::thread::sleep(SETTLE);
                return Ok(app);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let ended = app.child.try_wait()?;
        Err(format!(
            "no window with {title:?} within {} s; open: {seen:?}; ended: {ended:?}",
            START.as_secs()
        )
        .into())
    }

    /// The route to its window.
    pub(crate) fn route(&self) -> Value {
        json!({"window": {"titlePattern": escape(&self.title)}})
    }
}

impl Drop for App {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status();
        let _ = self.child.wait();
    }
}

/// Titles of all windows in the answer of `app_list`.
fn titles(list: &Value) -> Vec<String> {
    let windows = list["apps"]
        .as_array()
        .into_iter()
        .flatten()
        .flat_map(|app| app["windows"].as_array().into_iter().flatten());
    windows.filter_map(|w| w["title"].as_str().map(str::to_owned)).collect()
}

/// Text as a regular expression that means just this text.
fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "\\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The editor, on an empty file.
pub(crate) fn mousepad(bench: &Bench, host: &Host) -> Result<App, Box<dyn std::error::Error>> {
    let file = bench.scratch.join("mousepad.txt");
    std::fs::write(&file, "")?;
    App::start(host, bench.command("mousepad").arg("--disable-server").arg(file), "mousepad.txt")
}

/// A terminal whose input goes into a file.
pub(crate) fn xterm(bench: &Bench, host: &Host, into: &Path) -> Result<App, Box<dyn std::error::Error>> {
    let line = format!("cat > '{}'", into.display());
    let title = "bench-xterm";
    App::start(host, bench.command("xterm").args(["-u8", "-T", title, "-e", "sh", "-c", &line]), title)
}

/// LibreOffice with an empty document: `calc` or `writer`.
pub(crate) fn libreoffice(bench: &Bench, host: &Host, kind: &str) -> Result<App, Box<dyn std::error::Error>> {
    let profile =
        format!("-env:UserInstallation=file://{}", bench.scratch.join(format!("lo-{kind}")).display());
    let mut command = bench.command("soffice");
    command.args([&profile, &format!("--{kind}"), "--norestore", "--nologo", "--nofirststartwizard"]);
    App::start(host, &mut command, "LibreOffice")
}

/// Chromium with its accessibility tree on, showing a page of the given body.
pub(crate) fn chromium(
    bench: &Bench,
    host: &Host,
    title: &str,
    body: &str,
) -> Result<App, Box<dyn std::error::Error>> {
    let page = bench.scratch.join(format!("{title}.html"));
    std::fs::write(&page, format!("<!doctype html><meta charset=utf-8><title>{title}</title><body>{body}"))?;
    let count = std::fs::read_dir(&bench.scratch)?.count();
    let profile: PathBuf = bench.scratch.join(format!("chromium{count}"));
    let mut command = bench.command("chromium");
    if std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0) {
        command.arg("--no-sandbox");
    }
    command
        .args(["--force-renderer-accessibility", "--no-first-run", "--disable-background-networking"])
        .args(["--disable-component-update", "--disable-sync", "--password-store=basic", "--start-maximized"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg(format!("file://{}", page.display()));
    App::start(host, &mut command, title)
}

/// Nodes of the browser's own window around a page.
const AROUND: usize = 228;

/// A page that, with the browser's own window, has about so many accessible nodes.
pub(crate) fn page_of(nodes: usize) -> String {
    (0..nodes.saturating_sub(AROUND)).map(|n| format!("<button>Button {n}</button>\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_taken_literally() {
        assert_eq!(escape("a.b (1) - x*"), "a\\.b \\(1\\) - x\\*");
        let list = json!({"apps": [{"windows": [{"title": "a"}]}, {"windows": []}, {}]});
        assert_eq!(titles(&list), ["a"]);
        assert_eq!(page_of(AROUND + 5).lines().count(), 5);
    }
}
