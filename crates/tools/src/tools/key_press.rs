//! `key_press` (control seed §3.4.2).

use deskhand_platform::{Key, Modifier, NamedKey};
use deskhand_protocol::{
    Category, Effect, EffectReport, Evidence, Lane, Layer, Level, Needs, Result, Risk, ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::EVERYWHERE;
use crate::route::Pin;
use crate::{Assess, Ctx, Done, Tool, keys};

/// Presses a key or a combination, for example ["ctrl", "c"] or ["enter"]. For system-wide
/// combinations (switching windows, opening menus of the desktop) use `hotkey`.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Keys pressed in order and released in reverse, 1 to 8.
    keys: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether the keys were sent; `effect` says what came of them.
    pub(crate) success: bool,
    /// The keys.
    pub(crate) keys: Vec<String>,
}

pub(crate) struct KeyPress;

impl Tool for KeyPress {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "key_press",
        title: "Press a key or a combination",
        title_zh: "组合键按下",
        risk: Risk::Medium,
        category: Category::Keyboard,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Input],
        evidence: Evidence::BeforeAfter,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 10_000,
        roles: &[],
    };

    fn assess(input: &Input) -> Assess {
        match keys::chord("keys", &input.keys) {
            Ok(keys) if is_system(&keys) => Assess {
                raise_to: Some(Risk::High),
                why: vec![format!("{} is a system hotkey (level L3), see `hotkey`", input.keys.join("+"))],
            },
            _ => Assess::default(),
        }
    }

    fn check(input: &Input) -> Result<()> {
        keys::chord("keys", &input.keys).map(|_| ())
    }

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        press(input.keys, ctx)
    }
}

/// Presses a combination; the host judges.
pub(crate) fn press(names: Vec<String>, ctx: &Ctx<'_>) -> Result<Done<Output>> {
    let chord = keys::chord("keys", &names)?;
    let pin = Pin::routed(ctx)?;
    ctx.notebook.before()?;
    ctx.mark_now();
    ctx.scope.check("pressing keys")?;
    // Keeping the picture took time: the focus may have moved.
    pin.check(ctx)?;
    ctx.sending();
    ctx.desktop.input.chord(&chord, ctx.scope)?;
    let mut report = EffectReport::new(Effect::Unverifiable, "the keys were sent");
    report.layer = Some(Layer::Semantic);
    let front = pin.home;
    report.hit = front.as_ref().map(|w| format!("window {:?}", w.title));
    Ok(Done::watch(Output { success: true, keys: names }, report, front.and_then(|w| w.pid), None))
}

/// Combinations the desktop takes for itself.
fn is_system(keys: &[Key]) -> bool {
    let has = |m| keys.contains(&Key::Modifier(m));
    let plain = |k| keys.contains(&Key::Named(k));
    let (ctrl, alt, cmd) = (has(Modifier::Ctrl), has(Modifier::Alt), has(Modifier::Cmd));
    let switches = [NamedKey::Tab, NamedKey::Space, NamedKey::Escape].into_iter().any(plain);
    let function = keys.iter().any(|k| matches!(k, Key::Named(NamedKey::F(_))));
    // Command is the everyday modifier of macOS; elsewhere it belongs to the desktop.
    let super_key = cmd && (!cfg!(target_os = "macos") || switches || keys.contains(&Key::Char('q')));
    super_key || (ctrl && alt) || (alt && (plain(NamedKey::Tab) || plain(NamedKey::Escape) || function))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_hotkeys_are_known() {
        let cases = [
            ("ctrl+c", false),
            ("enter", false),
            ("alt+f", false),
            ("ctrl+shift+s", false),
            ("f5", false),
            ("alt+tab", true),
            ("alt+f4", true),
            ("ctrl+alt+delete", true),
            ("cmd+tab", true),
            ("cmd+space", true),
        ];
        for (chord, want) in cases {
            let names: Vec<String> = chord.split('+').map(str::to_owned).collect();
            assert_eq!(is_system(&keys::chord("keys", &names).unwrap()), want, "{chord}");
        }
    }
}
