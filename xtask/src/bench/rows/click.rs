//! A click at a point.

use std::process::Command;

use deskhand_bridge::CallRequest;
use deskhand_protocol::{Error, ErrorCode};
use serde_json::json;

use crate::bench::host::{self, Host};
use crate::bench::peer::{Peer, Python, program, timed};
use crate::bench::report::{Bar, Line};
use crate::bench::stats::Stats;
use crate::bench::{Bench, Rows};

const ROW: &str = "click";

/// Against pynput in its own process, and against xdotool. The confirmation phrase is fetched before
/// the clock starts; a second line shows the click with that round trip.
pub(crate) fn run(bench: &Bench) -> Rows {
    let host = Host::start(bench)?;
    let (mut ours, mut whole, mut pynput, mut xdotool) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut peer = Peer::start(bench, Python::Venv, "pynput_click.py");
    let count = bench.samples(300);
    for n in 0..count + 5 {
        // On the empty desktop, never twice at the same spot.
        let (x, y) = (400 + n % 1000, 500 + n % 300);
        let click = click(x, y);
        let confirmed = CallRequest { confirm: Some(ask(&host, &click)?), ..click.clone() };
        let alone = timed(|| host::send(&host.client, confirmed))?;
        let both = timed(|| {
            let confirm = Some(ask(&host, &click)?);
            host::send(&host.client, CallRequest { confirm, ..click.clone() })
        })?;
        // The first few warm everything up.
        if n >= 5 {
            ours.push(alone);
            whole.push(both);
            pynput.extend(peer.as_mut().and_then(|p| p.time(&format!("{x} {y}"))));
        }
        if n % 10 == 0 {
            let place = [x.to_string(), y.to_string()];
            xdotool
                .extend(program(Command::new("xdotool").arg("mousemove").args(place).args(["click", "1"])));
        }
    }
    let (ours, whole) = (Stats::of(ours), Stats::of(whole));
    let (pynput, xdotool) = (Stats::of(pynput), Stats::of(xdotool));
    Ok(vec![
        Line::against(
            ROW,
            "left_click, verify off",
            ours.clone(),
            ("pynput", pynput.clone()),
            Bar::Within(5.0),
        ),
        Line::against(ROW, "left_click, verify off", ours, ("xdotool", xdotool.clone()), Bar::Faster(50.0)),
        Line::against(ROW, "with its confirmation round trip", whole.clone(), ("pynput", pynput), Bar::Shown),
        Line::against(ROW, "with its confirmation round trip", whole, ("xdotool", xdotool), Bar::Shown),
    ])
}

fn click(x: usize, y: usize) -> CallRequest {
    let mut request = CallRequest::new("left_click", json!({"x": x, "y": y}));
    request.options = host::bare();
    request
}

/// The phrase of a first call.
fn ask(host: &Host, request: &CallRequest) -> Result<String, Error> {
    match host::send(&host.client, request.clone()) {
        Err(error) if error.code == ErrorCode::ConfirmRequired => {
            host::phrase(&error).ok_or_else(|| Error::new(ErrorCode::Internal, "no phrase came"))
        }
        Err(error) => Err(error),
        Ok(_) => Err(Error::new(ErrorCode::Internal, "a click ran without its confirmation")),
    }
}
