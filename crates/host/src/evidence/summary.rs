//! summary.md: what a person reads first.

use std::fmt::Write;

use deskhand_protocol::{Call, Effect, Outcome};

/// The page.
pub(super) fn write(call: &Call, outcome: &Outcome, notes: &[String], files: &[String]) -> String {
    let mut page = String::new();
    let verdict = match (&outcome.error, &outcome.effect) {
        (Some(error), _) => format!("**{}**: {}", error.code, error.message),
        (None, Some(effect)) => format!("**{}**: {}", word(effect.effect), effect.why),
        (None, None) => "looked; nothing was changed".to_owned(),
    };
    let _ = writeln!(page, "# {}\n\n{verdict}\n", call.tool);
    if let Some(error) = &outcome.error {
        let _ = writeln!(page, "What to do: {}\n", error.hint);
    }
    if let Some(effect) = &outcome.effect {
        if let Some(layer) = effect.layer {
            let fallback = if effect.fallback { " (fallback: no sturdier way was open)" } else { "" };
            let _ = writeln!(page, "- way: {}{fallback}", format!("{layer:?}").to_lowercase());
        }
        if let Some(at) = effect.at {
            let _ = writeln!(page, "- at: {}, {}", at.x, at.y);
        }
        if let Some(hit) = &effect.hit {
            let _ = writeln!(page, "- hit: {}", one_line(hit));
        }
        if let Some(ms) = effect.after_ms {
            let _ = writeln!(page, "- first change seen after: {ms} ms");
        }
    }
    let _ = writeln!(page, "- request: {}", outcome.request_id);
    let _ = writeln!(page, "- execution: {}", outcome.execution_id);
    let t = &outcome.timings;
    let _ = writeln!(
        page,
        "- time: queued {:.1} ms, ran {:.1} ms, verified {:.1} ms",
        t.queued_ms, t.run_ms, t.verify_ms
    );
    for note in notes {
        let _ = writeln!(page, "- note: {}", one_line(note));
    }
    if !files.is_empty() {
        let _ = writeln!(page, "\n## Kept\n");
        for file in files {
            let picture = matches!(file.rsplit('.').next(), Some("png" | "jpg"));
            let _ = writeln!(page, "- {}[{file}]({file})", if picture { "!" } else { "" });
        }
    }
    page
}

fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Confirmed => "confirmed",
        Effect::Partial => "partial",
        Effect::Unverifiable => "unverifiable",
        Effect::SuspectedNoop => "suspected no-op",
        Effect::Refused => "refused",
    }
}

/// Text from the screen must not be able to write headings into the page.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(500).collect()
}
