//! How cost grows: with the nodes of a tree, with the clients of a host.

use std::time::Instant;

use deskhand_bridge::CallRequest;
use deskhand_protocol::Error;
use serde_json::json;

use super::dump;
use crate::bench::host::{self, Host};
use crate::bench::peer::timed;
use crate::bench::report::{Bar, Line};
use crate::bench::stats::Stats;
use crate::bench::{Bench, Rows, apps};

const ROW: &str = "growth";

/// Shown, not judged.
pub(crate) fn run(bench: &Bench) -> Rows {
    let mut lines = Vec::new();
    for wanted in [300, 1800, 4500] {
        lines.extend(nodes(bench, wanted)?);
    }
    let host = Host::start(bench)?;
    for count in [1, 10, 100] {
        lines.push(clients(bench, &host, count)?);
    }
    Ok(lines)
}

/// Dump and find on a page of about so many nodes.
fn nodes(bench: &Bench, wanted: usize) -> Rows {
    let starter = Host::start(bench)?;
    let app = apps::chromium(bench, &starter, &format!("bench-{wanted}"), &apps::page_of(wanted))?;
    let (mut cold, mut again, mut found) = (Vec::new(), Vec::new(), Vec::new());
    let mut nodes = 0;
    for n in 0..bench.samples(3) + 1 {
        let host = Host::start(bench)?;
        let first = timed(|| dump::dump(&host, &app).map(|tree| nodes = dump::count(&tree)))?;
        if n > 0 {
            cold.push(first);
        }
        for _ in 0..5 {
            again.push(timed(|| dump::dump(&host, &app))?);
            found.push(timed(|| find(&host, &app))?);
        }
    }
    let line = |what: &str, samples: Vec<f64>| {
        let stats = Stats::of(samples);
        let each = stats.median() * 1e3 / nodes.max(1) as f64;
        Line::alone(ROW, format!("{what}, {nodes} nodes"), stats, Bar::Shown)
            .note(format!("{each:.1} µs per node"))
    };
    Ok(vec![line("dump, cold", cold), line("dump, again", again), line("find a button", found)])
}

fn find(host: &Host, app: &apps::App) -> Result<(), Error> {
    let selector = json!({"byRole": "button", "byTitle": {"equals": "Button 50"}});
    let mut request = CallRequest::new("find", json!({"selector": selector}));
    request.route = serde_json::from_value(app.route()).ok();
    host::send(&host.client, request).map(|_| ())
}

/// So many connections, each asking again as soon as it is answered.
fn clients(bench: &Bench, host: &Host, count: usize) -> Result<Line, Box<dyn std::error::Error>> {
    let each = bench.samples(2000).div_ceil(count).max(5);
    let connections: Result<Vec<_>, _> = (0..count).map(|_| host.connect()).collect();
    let began = Instant::now();
    let samples: Vec<f64> = std::thread::scope(|scope| {
        let asking: Vec<_> = connections?
            .into_iter()
            .map(|client| {
                scope.spawn(move || -> Result<Vec<f64>, Error> {
                    (0..each)
                        .map(|_| timed(|| host::send(&client, CallRequest::new("system_info", json!({})))))
                        .collect()
                })
            })
            .collect();
        let mut all = Vec::new();
        for thread in asking {
            all.extend(
                thread
                    .join()
                    .map_err(|_| Error::new(deskhand_protocol::ErrorCode::Internal, "a client panicked"))??,
            );
        }
        Ok::<_, Error>(all)
    })?;
    let rate = samples.len() as f64 / began.elapsed().as_secs_f64();
    let line = Line::alone(ROW, format!("system_info, {count} clients"), Stats::of(samples), Bar::Shown);
    Ok(line.note(format!("{rate:.0} calls per second")))
}
