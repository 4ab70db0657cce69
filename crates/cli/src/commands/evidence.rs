//! `deskhand evidence`: the bundles calls left behind.

use std::path::{Component, Path, PathBuf};
use std::process::{Command as Process, Stdio};
use std::time::SystemTime;

use deskhand_protocol::{Error, ErrorCode};
use serde::Serialize;
use serde_json::{Value, json};

use crate::ctx::Ctx;
use crate::fail::{self, Fail, Run};
use crate::launch;
use crate::table::table;

/// Larger files are named, not read.
const MAX_READ: u64 = 16 << 20;
/// Most files listed of one bundle.
const MAX_FILES: usize = 1000;

/// What calls left behind as evidence: request, answer, pictures, trees.
#[derive(clap::Subcommand)]
#[command(after_help = "Example:\n  deskhand evidence list --limit 5")]
pub(crate) enum Command {
    /// List the bundles, newest first.
    #[command(after_help = "Example:\n  deskhand evidence list --date 2026-11-15 --json")]
    List {
        /// Only this day, YYYY-MM-DD.
        #[arg(long, env = "DESKHAND_EVIDENCE_DATE", value_name = "D", value_parser = day)]
        date: Option<String>,
        /// At most this many.
        #[arg(long, env = "DESKHAND_EVIDENCE_LIMIT", value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
        limit: u32,
    },
    /// Show one bundle: its summary, or with --json its request and response.
    #[command(after_help = "Example:\n  deskhand evidence show 2026-11-15/req-0198c0de")]
    Show {
        /// DATE/REQUEST, or the request's id alone.
        id: String,
    },
    /// Open the folder of a bundle; without a desktop its path is printed.
    #[command(after_help = "Example:\n  deskhand evidence open req-0198c0de")]
    Open {
        /// DATE/REQUEST, or the request's id alone.
        id: String,
    },
}

/// Checked here, so that it can name a folder.
fn day(text: &str) -> Result<String, String> {
    text.parse::<jiff::civil::Date>()
        .map(|date| date.to_string())
        .map_err(|_| "write it as 2026-11-15".to_owned())
}

pub(crate) fn run(command: &Command, ctx: &Ctx) -> Run {
    let root = ctx.home()?.evidence_dir();
    match command {
        Command::List { date, limit } => list(&root, date.as_deref(), *limit as usize, ctx),
        Command::Show { id } => show(&find(&root, id)?, ctx),
        Command::Open { id } => open(&find(&root, id)?, ctx),
    }
}

/// A bundle as it lies there.
struct Bundle {
    id: String,
    path: PathBuf,
    time: SystemTime,
}

/// A bundle as it is listed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed {
    id: String,
    path: String,
    /// When, with the offset of this place.
    time: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    effect: Option<String>,
    /// The error's code, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

fn list(root: &Path, date: Option<&str>, limit: usize, ctx: &Ctx) -> Run {
    let mut found = Vec::new();
    for day in days(root).into_iter().filter(|day| date.is_none_or(|date| date == day)) {
        let mut bundles = bundles(root, &day);
        bundles.sort_by(|a, b| (b.time, &b.id).cmp(&(a.time, &a.id)));
        found.extend(bundles);
        if found.len() > limit {
            break;
        }
    }
    let more = found.len() > limit;
    found.truncate(limit);
    let listed: Vec<Listed> = found.iter().map(describe).collect();
    if ctx.json {
        ctx.json(&json!({ "evidence": listed, "truncated": more }))?;
        return Ok(0);
    }
    if listed.is_empty() {
        ctx.note(&ctx.lang.evidence_none(root.display()));
        return Ok(0);
    }
    let rows: Vec<_> = listed
        .into_iter()
        .map(|one| {
            let end = match (one.error, one.effect) {
                (Some(error), _) => ctx.out.red(&error),
                (None, Some(effect)) => ctx.out.foreign(&effect).into_owned(),
                (None, None) => "-".to_owned(),
            };
            let time = one.time.get(..19).unwrap_or(&one.time).replace('T', " ");
            let tool = one.tool.as_deref().unwrap_or("?");
            vec![time, ctx.out.foreign(tool).into_owned(), end, ctx.out.foreign(&one.id).into_owned()]
        })
        .collect();
    ctx.line(&table(&rows))?;
    if more {
        ctx.note(&ctx.err.dim(&ctx.lang.evidence_more(limit)));
    }
    Ok(0)
}

fn show(bundle: &Bundle, ctx: &Ctx) -> Run {
    if ctx.json {
        let read = |name: &str| read_json(&bundle.path.join(name));
        let mut files = Vec::new();
        files_in(&bundle.path, &bundle.path, &mut files);
        files.sort();
        ctx.json(&json!({
            "id": bundle.id,
            "path": bundle.path,
            "request": read("request.json"),
            "response": read("response.json"),
            "files": files,
        }))?;
        return Ok(0);
    }
    let summary = bundle.path.join("summary.md");
    let text = std::fs::read_to_string(&summary).map_err(|error| fail::file("read", &summary, &error))?;
    // It quotes titles and labels of the desktop.
    ctx.line(&ctx.out.foreign(&text))?;
    ctx.note(&ctx.err.dim(&bundle.path.display().to_string()));
    Ok(0)
}

fn open(bundle: &Bundle, ctx: &Ctx) -> Run {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let opener = (set("DISPLAY") || set("WAYLAND_DISPLAY")).then(|| launch::in_path("xdg-open")).flatten();
    let opened = opener.is_some_and(|program| {
        Process::new(program)
            .arg(&bundle.path)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .is_ok()
    });
    let path = bundle.path.display().to_string();
    if ctx.json {
        ctx.json(&json!({ "id": bundle.id, "path": path, "opened": opened }))?;
    } else {
        ctx.line(&path)?;
    }
    Ok(0)
}

/// The bundle of that name. A name is never a way out of the folder.
fn find(root: &Path, id: &str) -> Result<Bundle, Fail> {
    let parts: Vec<Component<'_>> = Path::new(id).components().collect();
    if parts.is_empty() || parts.len() > 2 || !parts.iter().all(|part| matches!(part, Component::Normal(_))) {
        return Err(Fail::usage(
            format!("{id:?} is not the id of a bundle"),
            "`deskhand evidence list` shows the ids",
        ));
    }
    let candidates = if parts.len() == 2 {
        vec![id.to_owned()]
    } else {
        days(root).into_iter().map(|day| format!("{day}/{id}")).collect()
    };
    candidates.into_iter().find_map(|id| bundle(root, id)).ok_or_else(|| {
        Error::new(ErrorCode::NotFound, format!("there is no evidence bundle {id:?} in {}", root.display()))
            .hint("`deskhand evidence list` shows those there are")
            .into()
    })
}

/// The days with bundles, newest first.
fn days(root: &Path) -> Vec<String> {
    let mut days: Vec<String> =
        names(root).filter(|name| name.parse::<jiff::civil::Date>().is_ok()).collect();
    days.sort_by(|a, b| b.cmp(a));
    days
}

fn bundles(root: &Path, day: &str) -> Vec<Bundle> {
    names(&root.join(day)).filter_map(|name| bundle(root, format!("{day}/{name}"))).collect()
}

fn bundle(root: &Path, id: String) -> Option<Bundle> {
    let path = root.join(&id);
    if !path.is_dir() {
        return None;
    }
    // The request is written first and never again; the folder's own time moves with every file.
    let time = [path.join("request.json"), path.clone()]
        .iter()
        .find_map(|file| file.metadata().ok()?.modified().ok())?;
    Some(Bundle { id, path, time })
}

fn names(dir: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| !name.starts_with('.'))
}

fn describe(bundle: &Bundle) -> Listed {
    let response = read_json(&bundle.path.join("response.json"));
    let word = |pointer: &str| response.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
    let tool = word("/tool")
        .or_else(|| read_json(&bundle.path.join("request.json")).get("tool")?.as_str().map(str::to_owned));
    let time = jiff::Timestamp::try_from(bundle.time)
        .map(|time| time.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string())
        .unwrap_or_default();
    Listed {
        id: bundle.id.clone(),
        path: bundle.path.display().to_string(),
        time,
        tool,
        effect: word("/effect/effect"),
        error: word("/error/code"),
    }
}

/// A JSON file of a bundle; null when it is missing, broken or too large.
fn read_json(path: &Path) -> Value {
    let small = path.metadata().is_ok_and(|meta| meta.len() <= MAX_READ);
    let text = small.then(|| std::fs::read(path).ok()).flatten();
    text.and_then(|text| serde_json::from_slice(&text).ok()).unwrap_or(Value::Null)
}

fn files_in(root: &Path, dir: &Path, files: &mut Vec<String>) {
    for name in names(dir) {
        let path = dir.join(name);
        if files.len() >= MAX_FILES {
            return;
        }
        if path.is_dir() && !path.is_symlink() {
            files_in(root, &path, files);
        } else if let Ok(short) = path.strip_prefix(root) {
            files.push(short.display().to_string());
        }
    }
}
