//! `app_launch` (control seed §3.5.1).

use std::collections::BTreeSet;

use deskhand_platform::{InstalledApp, PlatformError, WindowId};
use deskhand_protocol::{
    Category, Effect, EffectReport, Error, ErrorCode, Evidence, Lane, Layer, Level, Needs, Result, Risk,
    ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::apps::WindowView;
use super::args::{EVERYWHERE, at_most, text, wrong};
use crate::{Assess, Ctx, Done, Tool};

/// Most arguments, and characters of one.
const ARGS: usize = 64;
const ARG: usize = 4096;

/// Starts an application by its name (in any language), desktop-file id or path, and waits briefly
/// for its window. Never goes through a shell.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Name, desktop-file id or path.
    name: String,
    /// Arguments, handed over as they are.
    args: Option<Vec<String>>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether it was started.
    success: bool,
    /// Its name.
    name: String,
    /// Its process.
    pid: u32,
    /// Its window, when one was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<WindowView>,
}

pub(crate) struct AppLaunch;

impl Tool for AppLaunch {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "app_launch",
        title: "Start an application",
        title_zh: "启动应用程序",
        risk: Risk::Medium,
        category: Category::Apps,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Apps],
        evidence: Evidence::BeforeAfter,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 30_000,
        roles: &[],
    };

    fn assess(input: &Input) -> Assess {
        let words = std::iter::once(&input.name).chain(input.args.iter().flatten());
        let programs: Vec<&str> = words.map(|w| w.rsplit('/').next().unwrap_or(w)).collect();
        if let Some(program) = programs.iter().find(|p| RAISES.contains(p)) {
            return Assess {
                raise_to: Some(Risk::Critical),
                why: vec![format!("{program} raises privileges")],
            };
        }
        let runs_code = programs.first().is_some_and(|p| runs_code(p))
            && input.args.as_ref().is_some_and(|a| !a.is_empty());
        if runs_code {
            return Assess {
                raise_to: Some(Risk::High),
                why: vec![format!("{} with arguments runs any command (level L3)", input.name)],
            };
        }
        Assess::default()
    }

    fn check(input: &Input) -> Result<()> {
        text("name", &input.name, ARG)?;
        let args = input.args.as_deref().unwrap_or_default();
        if args.len() > ARGS {
            return Err(wrong("args", format!("has {} entries; at most {ARGS} are taken", args.len())));
        }
        for (i, arg) in args.iter().enumerate() {
            at_most(&format!("args[{i}]"), arg, ARG)?;
            if arg.contains('\0') {
                return Err(wrong(&format!("args[{i}]"), "has a NUL character"));
            }
        }
        Ok(())
    }

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let args = input.args.unwrap_or_default();
        let known: BTreeSet<WindowId> =
            ctx.desktop.windows.list().unwrap_or_default().iter().map(|w| w.id).collect();
        ctx.notebook.before()?;
        ctx.mark_now();
        ctx.scope.check("starting a program")?;
        let launched = ctx
            .desktop
            .apps
            .launch(input.name.trim(), &args, ctx.scope)
            .map_err(|e| not_there(e, &input.name, ctx))?;
        let windows = ctx.desktop.windows.list().unwrap_or_default();
        let own = windows.iter().find(|w| w.pid == Some(launched.pid));
        // A program that runs already may open the window in its first process.
        let window = own.or_else(|| windows.iter().find(|w| !known.contains(&w.id)));
        let mut report = match window {
            Some(w) => EffectReport::new(Effect::Confirmed, format!("its window {:?} is there", w.title)),
            None if launched.window_seen => EffectReport::new(Effect::Confirmed, "a window of it was seen"),
            None => EffectReport::new(
                Effect::Partial,
                format!("started as process {}; no window yet", launched.pid),
            ),
        };
        report.layer = Some(Layer::Semantic);
        report.hit = Some(launched.name.clone());
        let window = window.map(WindowView::from);
        Ok(Done::own(Output { success: true, name: launched.name, pid: launched.pid, window }, report))
    }
}

/// What runs already is no help to one who wants to start something: names that can be started are.
fn not_there(error: PlatformError, name: &str, ctx: &Ctx<'_>) -> Error {
    let error = Error::from(error);
    if error.code != ErrorCode::AppNotFound {
        return error;
    }
    let wanted = name.trim().to_lowercase();
    let near = |i: &InstalledApp| {
        let names = [&i.name, &i.program, &i.desktop_id].into_iter().chain(&i.other_names);
        names.map(|n| n.to_lowercase()).any(|n| !n.is_empty() && (n.contains(&wanted) || wanted.contains(&n)))
    };
    let installed = ctx.desktop.apps.installed().unwrap_or_default();
    let near: Vec<&str> = installed.iter().filter(|i| near(i)).map(|i| i.name.as_str()).take(10).collect();
    error
        .hint("give the name of an installed application, its desktop-file id, or the path of a program")
        .detail("near", near)
}

/// Programs that give more rights than the caller has.
const RAISES: &[&str] = &["sudo", "pkexec", "su", "doas", "gksu", "kdesu", "runas"];

/// Programs that run whatever their arguments say.
fn runs_code(program: &str) -> bool {
    const RUN: &[&str] = &[
        "sh",
        "bash",
        "dash",
        "zsh",
        "fish",
        "ksh",
        "csh",
        "tcsh",
        "busybox",
        "env",
        "xargs",
        "nohup",
        "setsid",
        "find",
        "ssh",
        "node",
        "ruby",
        "lua",
        "osascript",
        "cmd",
        "cmd.exe",
        "powershell",
        "powershell.exe",
        "pwsh",
        "xterm",
        "uxterm",
        "gnome-terminal",
        "konsole",
        "xfce4-terminal",
        "lxterminal",
        "x-terminal-emulator",
        "alacritty",
        "kitty",
        "tmux",
        "screen",
    ];
    // python3.11, perl5.36 …
    let stem = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    RUN.contains(&program) || matches!(stem, "python" | "perl" | "php")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shells_and_privileges_raise_the_risk() {
        let cases: &[(&str, &[&str], Option<Risk>)] = &[
            ("mousepad", &["/tmp/a"], None),
            ("bash", &[], None),
            ("/bin/bash", &["-c", "true"], Some(Risk::High)),
            ("python3.11", &["x.py"], Some(Risk::High)),
            ("xterm", &["-e", "top"], Some(Risk::High)),
            ("pkexec", &["thunar"], Some(Risk::Critical)),
            ("xterm", &["-e", "/usr/bin/sudo"], Some(Risk::Critical)),
        ];
        for (name, args, want) in cases {
            let args = Some(args.iter().map(|a| (*a).to_owned()).collect());
            let got = AppLaunch::assess(&Input { name: (*name).to_owned(), args });
            assert_eq!(got.raise_to, *want, "{name}");
            assert_eq!(got.why.is_empty(), want.is_none());
        }
    }
}
