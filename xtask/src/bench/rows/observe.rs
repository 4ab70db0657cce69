//! `observe` on a warm host.

use deskhand_bridge::CallRequest;
use serde_json::json;

use crate::bench::host::{self, Host};
use crate::bench::peer::timed;
use crate::bench::report::{Bar, Line};
use crate::bench::stats::Stats;
use crate::bench::{Bench, Rows, apps};

/// On mousepad.
pub(crate) fn run(bench: &Bench) -> Rows {
    let host = Host::start(bench)?;
    let app = apps::mousepad(bench, &host)?;
    let look = || {
        let mut request = CallRequest::new("observe", json!({}));
        request.route = serde_json::from_value(app.route()).ok();
        host::send(&host.client, request)
    };
    for _ in 0..5 {
        look()?;
    }
    let samples: Result<Vec<f64>, _> = (0..bench.samples(100)).map(|_| timed(look)).collect();
    Ok(vec![Line::alone("observe", "mousepad, warm", Stats::of(samples?), Bar::AtMost(40.0))])
}
