//! Lines of the report: ours, the peer's, the ratio, the bar, the verdict.

use std::io::Write;

use serde_json::{Value, json};

use super::stats::Stats;

/// What a line must reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Bar {
    /// At least this many times faster than the peer.
    Faster(f64),
    /// At most this many times the peer's time.
    Within(f64),
    /// A median of at most this many, in the line's unit.
    AtMost(f64),
    /// Nothing: the number is only shown.
    Shown,
}

/// The verdict on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It reaches its bar.
    Pass,
    /// It does not.
    Fail,
    /// There was nobody to compare with.
    PeerMissing,
    /// It has no bar.
    Shown,
}

impl Verdict {
    fn word(self) -> &'static str {
        match self {
            Self::Pass => "PASS",
            Self::Fail => "FAIL",
            Self::PeerMissing => "peer missing",
            Self::Shown => "",
        }
    }
}

/// One measured line.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    row: &'static str,
    what: String,
    unit: &'static str,
    ours: Stats,
    peer: Option<(String, Stats)>,
    bar: Bar,
    note: String,
    /// Something beside the time went wrong: text was lost, the row broke.
    wrong: bool,
}

impl Line {
    /// Our own number against a bar.
    pub(crate) fn alone(row: &'static str, what: impl Into<String>, ours: Stats, bar: Bar) -> Self {
        let what = what.into();
        Self { row, what, unit: "ms", ours, peer: None, bar, note: String::new(), wrong: false }
    }

    /// Ours against a peer's; no samples mean that the peer is missing.
    pub(crate) fn against(
        row: &'static str,
        what: impl Into<String>,
        ours: Stats,
        peer: (&str, Stats),
        bar: Bar,
    ) -> Self {
        let mut line = Self::alone(row, what, ours, bar);
        line.peer = Some((peer.0.to_owned(), peer.1));
        line
    }

    /// A row that could not be measured.
    pub(crate) fn broken(row: &'static str, why: &str) -> Self {
        Self::alone(row, "could not be measured", Stats::default(), Bar::Shown).wrong(why)
    }

    /// The same in another unit.
    pub(crate) fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    /// The same with a remark.
    pub(crate) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// The same, failed for a reason beside the time.
    pub(crate) fn wrong(mut self, why: impl Into<String>) -> Self {
        self.wrong = true;
        self.note(why)
    }

    /// How many times faster than the peer.
    fn ratio(&self) -> Option<f64> {
        let (_, peer) = self.peer.as_ref().filter(|(_, peer)| peer.count() > 0)?;
        Some(peer.median() / self.ours.median())
    }

    fn verdict(&self) -> Verdict {
        if self.wrong || (self.ours.count() == 0 && self.bar != Bar::Shown) {
            return Verdict::Fail;
        }
        let reached = match (self.bar, self.ratio()) {
            (Bar::Shown, _) => return Verdict::Shown,
            (Bar::AtMost(most), _) => self.ours.median() <= most,
            (_, None) => return Verdict::PeerMissing,
            (Bar::Faster(times), Some(ratio)) => ratio >= times,
            (Bar::Within(times), Some(ratio)) => ratio * times >= 1.0,
        };
        if reached { Verdict::Pass } else { Verdict::Fail }
    }

    /// Whether it is below its bar.
    pub(crate) fn failed(&self) -> bool {
        self.verdict() == Verdict::Fail
    }

    fn bar_words(&self) -> String {
        match self.bar {
            Bar::Faster(times) => format!("≥ {times}× faster"),
            Bar::Within(times) => format!("≤ {times}× of it"),
            Bar::AtMost(most) => format!("≤ {most} {}", self.unit),
            Bar::Shown => String::new(),
        }
    }

    fn json(&self) -> Value {
        let stats = |s: &Stats| json!({"median": s.median(), "p99": s.p99(), "samples": s.count()});
        json!({
            "row": self.row,
            "what": self.what,
            "unit": self.unit,
            "ours": stats(&self.ours),
            "peer": self.peer.as_ref().map(|(name, s)| json!({"name": name, "median": s.median(), "p99": s.p99(), "samples": s.count()})),
            "ratio": self.ratio(),
            "bar": self.bar_words(),
            "verdict": self.verdict().word(),
            "note": self.note,
        })
    }
}

/// The first line of the table.
pub(crate) const HEADING: &str = "row          what                                        ours p50      p99   peer                 p50      p99     ratio  bar            verdict";

impl std::fmt::Display for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = |n: f64| {
            if n.is_nan() {
                "-".to_owned()
            } else if n < 10.0 {
                format!("{n:.3}")
            } else {
                format!("{n:.1}")
            }
        };
        let (name, median, p99) = match &self.peer {
            Some((name, s)) => (name.as_str(), number(s.median()), number(s.p99())),
            None => ("", String::new(), String::new()),
        };
        let ratio = self.ratio().map(|r| format!("{r:.2}×")).unwrap_or_default();
        write!(
            f,
            "{:<12} {:<40} {:>8} {:<2} {:>8}   {:<16} {:>8} {:>8}  {:>8}  {:<14} {}",
            self.row,
            self.what,
            number(self.ours.median()),
            self.unit,
            number(self.ours.p99()),
            name,
            median,
            p99,
            ratio,
            self.bar_words(),
            self.verdict().word()
        )?;
        if self.note.is_empty() { Ok(()) } else { write!(f, "\n{:<12}   {}", "", self.note) }
    }
}

/// All lines as one document on stdout.
pub(crate) fn print_json(lines: &[Line]) -> std::io::Result<()> {
    let lines: Vec<Value> = lines.iter().map(Line::json).collect();
    writeln!(std::io::stdout().lock(), "{}", json!({"bench": "desktop", "lines": lines}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts() {
        let stats = |ms: f64| Stats::of(vec![ms]);
        let line = |ours: f64, peer: f64, bar| Line::against("r", "w", stats(ours), ("p", stats(peer)), bar);
        for (line, verdict) in [
            (line(1.0, 3.0, Bar::Faster(3.0)), Verdict::Pass),
            (line(1.0, 2.9, Bar::Faster(3.0)), Verdict::Fail),
            (line(5.0, 1.0, Bar::Within(5.0)), Verdict::Pass),
            (line(5.1, 1.0, Bar::Within(5.0)), Verdict::Fail),
            (line(5.1, 1.0, Bar::Shown), Verdict::Shown),
            (line(1.0, 9.0, Bar::Faster(3.0)).wrong("3 characters lost"), Verdict::Fail),
            (
                Line::against("r", "w", stats(1.0), ("p", Stats::default()), Bar::Faster(3.0)),
                Verdict::PeerMissing,
            ),
            (Line::alone("r", "w", stats(40.0), Bar::AtMost(40.0)), Verdict::Pass),
            (Line::alone("r", "w", stats(40.1), Bar::AtMost(40.0)), Verdict::Fail),
            (Line::alone("r", "w", Stats::default(), Bar::AtMost(40.0)), Verdict::Fail),
            (Line::broken("r", "no host"), Verdict::Fail),
        ] {
            assert_eq!(line.verdict(), verdict, "{line}");
        }
    }
}
