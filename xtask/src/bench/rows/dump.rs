//! Accessibility trees: the first look of a new client at a running application, and the next one.

use deskhand_bridge::CallRequest;
use deskhand_protocol::Error;
use serde_json::{Value, json};

use crate::bench::apps::{self, App};
use crate::bench::host::{self, Host};
use crate::bench::peer::{Peer, Python, timed};
use crate::bench::report::{Bar, Line};
use crate::bench::stats::Stats;
use crate::bench::{Bench, Rows};

const ROW: &str = "dump";

/// Cold: a host (a Python) that was started for this sample. Again: the same one, nothing changed.
pub(crate) fn run(bench: &Bench) -> Rows {
    let host = Host::start(bench)?;
    let mut lines = Vec::new();
    let mousepad = apps::mousepad(bench, &host)?;
    lines.extend(measure(bench, "mousepad", "mousepad", &mousepad)?);
    drop(mousepad);
    let chromium = apps::chromium(bench, &host, "bench-page", &apps::page_of(1800))?;
    lines.extend(measure(bench, "Chromium", "Chromium", &chromium)?);
    drop(chromium);
    let calc = apps::libreoffice(bench, &host, "calc")?;
    lines.extend(measure(bench, "LibreOffice Calc", "soffice", &calc)?);
    Ok(lines)
}

fn measure(bench: &Bench, name: &str, on_bus: &str, app: &App) -> Rows {
    let (mut cold, mut again, mut peer_cold, mut peer_again) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let (mut nodes, mut peer_nodes) = (0, 0);
    for n in 0..bench.samples(5) + 1 {
        let host = Host::start(bench)?;
        let first = timed(|| dump(&host, app).map(|tree| nodes = count(&tree)))?;
        let mut next: Vec<f64> = Vec::new();
        for _ in 0..10 {
            next.push(timed(|| dump(&host, app))?);
        }
        drop(host);
        let mut peer = Peer::start(bench, Python::System, "pyatspi_dump.py");
        let answer = peer.as_mut().and_then(|p| p.ask(on_bus));
        peer_nodes = answer.as_ref().and_then(|a| a["nodes"].as_u64()).unwrap_or(peer_nodes);
        let peer_first = answer.and_then(|a| a["ms"].as_f64());
        let peer_next: Vec<f64> = (0..3).filter_map(|_| peer.as_mut().and_then(|p| p.time(on_bus))).collect();
        // The first round builds the application's own tree; whoever comes first would pay for it.
        if n > 0 {
            cold.push(first);
            again.extend(next);
            peer_cold.extend(peer_first);
            peer_again.extend(peer_next);
        }
    }
    let note = format!("{nodes} nodes; pyatspi saw {peer_nodes}");
    Ok(vec![
        Line::against(
            ROW,
            format!("{name}, cold"),
            Stats::of(cold),
            ("pyatspi", Stats::of(peer_cold)),
            Bar::Faster(3.0),
        )
        .note(note),
        Line::against(
            ROW,
            format!("{name}, again"),
            Stats::of(again),
            ("pyatspi", Stats::of(peer_again)),
            Bar::Faster(20.0),
        ),
    ])
}

/// The whole tree of the application's window.
pub(crate) fn dump(host: &Host, app: &App) -> Result<Value, Error> {
    let mut request = CallRequest::new(
        "dump_ax_tree",
        json!({"maxNodes": 10_000, "maxDepth": 64, "maxWallTimeMs": 20_000, "visibleOnly": false}),
    );
    request.route = serde_json::from_value(app.route()).ok();
    host::send(&host.client, request).map(|outcome| outcome["result"].clone())
}

/// Elements in a dump: objects that have a role.
pub(crate) fn count(tree: &Value) -> usize {
    match tree {
        Value::Object(map) => usize::from(map.contains_key("role")) + map.values().map(count).sum::<usize>(),
        Value::Array(list) => list.iter().map(count).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_counted() {
        let tree = json!({"tree": {"role": "window", "children": [{"role": "button"}, {"role": "label", "children": []}]}});
        assert_eq!(count(&tree), 3);
    }
}
