//! What works: everything that the scene does not break.

use deskhand_platform::{Capabilities, Scope};
use deskhand_protocol::{Check, CheckStatus, ErrorCode};

use super::Fake;
use crate::scene::PARTS;

impl Capabilities for Fake {
    fn checks(&self, _scope: &Scope) -> Vec<Check> {
        let world = self.lock();
        let no_display = world.broken.contains("display");
        let needs_display = |part: &str| {
            !matches!(part, "ax" | "notifications" | "session" | "fonts" | "fonts_cjk" | "browser")
        };
        PARTS
            .iter()
            .map(|part| {
                let broken = world.broken.contains(*part) || (no_display && needs_display(part));
                Check {
                    id: (*part).to_owned(),
                    status: if broken { CheckStatus::Fail } else { CheckStatus::Pass },
                    summary: if broken {
                        format!("{part} is broken by the scene")
                    } else {
                        format!("{part} works")
                    },
                    fix: if broken {
                        format!("take `broken {part}` out of the scene")
                    } else {
                        String::new()
                    },
                    code: broken.then(|| match *part {
                        "ax" => ErrorCode::AxUnavailable,
                        _ if no_display && needs_display(part) => ErrorCode::DisplayUnavailable,
                        "screen_capture" | "input" => ErrorCode::PermissionMissing,
                        _ => ErrorCode::Unsupported,
                    }),
                }
            })
            .collect()
    }

    fn quick(&self, scope: &Scope) -> Vec<Check> {
        self.checks(scope)
    }

    fn display_name(&self) -> String {
        if self.lock().broken.contains("display") { String::new() } else { "fake".to_owned() }
    }
}
