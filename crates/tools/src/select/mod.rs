//! Selectors: every strategy given is scored; one that does not match rules the element out.

mod role;
mod text;

use deskhand_platform::{Element, Tree};
use deskhand_protocol::{Error, ErrorCode, Point, Rect, Result, Selector, Target};

use text::Pattern;

/// What each strategy weighs. The application's own id says most, a mere place says least.
const W_IDENTIFIER: f64 = 5.0;
const W_TEXT: f64 = 4.0;
const W_VALUE: f64 = 3.0;
const W_PATH: f64 = 3.0;
const W_ROLE: f64 = 2.0;
const W_RECT: f64 = 2.0;
const W_NEAR: f64 = 2.0;
/// How far `near` reaches when nothing is said.
const NEAR: u32 = 200;
/// How deep anchors may be nested.
const MAX_ANCHORS: u32 = 4;

/// One element with its score.
#[derive(Clone, Debug, PartialEq)]
pub struct Scored {
    /// Its place in the tree.
    pub index: usize,
    /// 0 to 1.
    pub score: f64,
    /// Why.
    pub reasons: Vec<String>,
}

/// Scores all elements of a tree: those that fit, best first, and near misses, best first.
///
/// Equal scores keep reading order (the order of the tree), so the choice is the same every time.
pub fn select(tree: &Tree, selector: &Selector) -> Result<(Vec<Scored>, Vec<Scored>)> {
    select_at(tree, selector, 0)
}

/// Whether a selector can be used at all, whatever is on the screen.
pub(crate) fn check(selector: &Selector) -> Result<()> {
    let now = std::time::Instant::now();
    let nothing = Tree {
        nodes: Vec::new(),
        limit: None,
        unresponsive: Vec::new(),
        started: now,
        ended: now,
        how: String::new(),
    };
    select(&nothing, selector).map(|_| ())
}

/// As [`check`], for a target.
pub(crate) fn check_target(target: &Target) -> Result<()> {
    match target {
        Target::Selector(selector) => check(selector),
        Target::ElementRef(_) => Ok(()),
    }
}

fn select_at(tree: &Tree, selector: &Selector, level: u32) -> Result<(Vec<Scored>, Vec<Scored>)> {
    let wanted = Wanted::new(tree, selector, level)?;
    let (mut hits, mut misses) = (Vec::new(), Vec::new());
    for index in 0..tree.nodes.len() {
        let tally = wanted.score(tree, index);
        if tally.weight <= 0.0 {
            continue;
        }
        let scored = Scored { index, score: tally.score(), reasons: tally.reasons };
        if tally.missed {
            if tally.text_hit {
                misses.push(scored);
            }
        } else {
            hits.push(scored);
        }
    }
    let best_first = |a: &Scored, b: &Scored| b.score.total_cmp(&a.score).then(a.index.cmp(&b.index));
    hits.sort_by(best_first);
    misses.sort_by(best_first);
    misses.truncate(10);
    if let [first, second, ..] = hits.as_slice() {
        let equal = hits.iter().take_while(|s| (s.score - first.score).abs() < 1e-9).count();
        if (second.score - first.score).abs() < 1e-9 {
            hits[0].reasons.push(format!("first of {equal} equal candidates in reading order"));
        }
    }
    Ok((hits, misses))
}

/// A selector made ready for one tree.
struct Wanted<'a> {
    role: Option<role::Wanted>,
    title: Option<Pattern>,
    label: Option<Pattern>,
    value: Option<Pattern>,
    identifier: Option<&'a str>,
    path: Option<&'a [u32]>,
    rect: Option<Rect>,
    near: Option<(Vec<Rect>, f64)>,
}

#[derive(Default)]
struct Tally {
    sum: f64,
    weight: f64,
    missed: bool,
    text_hit: bool,
    factor: f64,
    reasons: Vec<String>,
}

impl Tally {
    fn add(&mut self, weight: f64, score: Option<f64>, reason: impl FnOnce() -> String) {
        self.weight += weight;
        match score {
            Some(s) => {
                self.sum += weight * s;
                self.reasons.push(format!("{} ({s:.2})", reason()));
            }
            None => self.missed = true,
        }
    }

    fn score(&self) -> f64 {
        (self.sum / self.weight * self.factor).clamp(0.0, 1.0)
    }
}

impl<'a> Wanted<'a> {
    fn new(tree: &Tree, s: &'a Selector, level: u32) -> Result<Self> {
        if *s == Selector::default() {
            return Err(invalid("selector", "it is empty; give at least one strategy, for example byTitle"));
        }
        let near = match &s.near {
            None => None,
            Some(_) if level >= MAX_ANCHORS => {
                return Err(invalid("near.anchor", "anchors are nested too deep"));
            }
            Some(near) => {
                let (anchors, _) = select_at(tree, &near.anchor, level + 1)?;
                let best = anchors.first().map_or(0.0, |a| a.score);
                let rects = anchors
                    .iter()
                    .filter(|a| best - a.score < 0.05)
                    .filter_map(|a| tree.nodes[a.index].element.rect)
                    .collect();
                Some((rects, f64::from(near.max_distance.unwrap_or(NEAR).max(1))))
            }
        };
        Ok(Self {
            role: s.by_role.as_deref().map(role::Wanted::new).transpose()?,
            title: s.by_title.as_ref().map(|m| Pattern::new("byTitle", m)).transpose()?,
            label: s.by_label.as_ref().map(|m| Pattern::new("byLabel", m)).transpose()?,
            value: s.by_value.as_ref().map(|m| Pattern::new("byValue", m)).transpose()?,
            identifier: s.by_identifier.as_deref(),
            path: s.by_path.as_deref(),
            rect: s.by_rect,
            near,
        })
    }

    fn score(&self, tree: &Tree, index: usize) -> Tally {
        let e = &tree.nodes[index].element;
        let mut t = Tally { factor: state_factor(e), ..Tally::default() };
        if let Some(id) = self.identifier {
            t.add(W_IDENTIFIER, (e.identifier == id).then_some(1.0), || format!("identifier is {id:?}"));
            t.text_hit |= e.identifier == id;
        }
        if let Some(p) = &self.title {
            let s = p.score(&e.name);
            t.text_hit |= s.is_some();
            t.add(W_TEXT, s, || format!("title {}", p.words()));
        }
        if let Some(p) = &self.label {
            let s = [&e.label, &e.name, &e.description]
                .into_iter()
                .filter_map(|text| p.score(text))
                .reduce(f64::max);
            t.text_hit |= s.is_some();
            t.add(W_TEXT, s, || format!("label {}", p.words()));
        }
        if let Some(p) = &self.value {
            let s = e.value.as_deref().and_then(|v| p.score(v));
            t.text_hit |= s.is_some();
            t.add(W_VALUE, s, || format!("value {}", p.words()));
        }
        if let Some(role) = &self.role {
            let s = role.score(e);
            t.add(W_ROLE, s, || format!("role is {}", e.role));
        }
        if let Some(path) = self.path {
            t.add(W_PATH, (path_of(tree, index) == path).then_some(1.0), || format!("path is {path:?}"));
        }
        if let Some(rect) = self.rect {
            let inside = e.rect.filter(|r| !r.is_empty()).and_then(|r| overlap(&r, &rect));
            t.add(W_RECT, inside, || "lies in the rectangle".to_owned());
        }
        if let Some((anchors, reach)) = &self.near {
            let nearest = e
                .rect
                .filter(|r| !r.is_empty())
                .and_then(|r| anchors.iter().filter(|a| **a != r).map(|a| distance(&r, a)).reduce(f64::min));
            let s = nearest.filter(|d| d <= reach).map(|d| 1.0 - d / (reach * 1.25));
            t.add(W_NEAR, s, || format!("{:.0} px from the anchor", nearest.unwrap_or_default()));
        }
        if t.factor < 1.0 {
            t.reasons.push(if e.states.showing { "disabled" } else { "not showing" }.to_owned());
        }
        t
    }
}

/// What shows and can be used comes first.
fn state_factor(e: &Element) -> f64 {
    match (e.states.showing, e.states.enabled) {
        (true, true) => 1.0,
        (true, false) => 0.9,
        (false, _) => 0.6,
    }
}

/// The part of `r` that lies in `area`; at least its middle must.
fn overlap(r: &Rect, area: &Rect) -> Option<f64> {
    let Point { x, y } = r.center();
    if !area.contains(Point::new(x, y)) {
        return None;
    }
    let shared = r.intersect(area)?;
    let part = |r: &Rect| f64::from(r.width) * f64::from(r.height);
    Some(part(&shared) / part(r))
}

/// Pixels between the edges of two rectangles.
fn distance(a: &Rect, b: &Rect) -> f64 {
    let gap = |a0: i32, a1: i32, b0: i32, b1: i32| f64::from((b0 - a1).max(a0 - b1).max(0));
    gap(a.x, a.right(), b.x, b.right()).hypot(gap(a.y, a.bottom(), b.y, b.bottom()))
}

/// Child indexes from the root's child (the window, when the root is an app) down to the element.
fn path_of(tree: &Tree, index: usize) -> Vec<u32> {
    let mut path = Vec::new();
    let mut at = &tree.nodes[index];
    while let Some(parent) = at.parent {
        path.push(at.index);
        at = &tree.nodes[parent as usize];
    }
    // With an application as root the first step is the choice of window; the path starts below it.
    if tree.nodes.first().is_some_and(|n| n.element.role == deskhand_protocol::Role::Application) {
        path.pop();
    }
    path.reverse();
    path
}

pub(crate) fn invalid(field: &str, why: &str) -> Error {
    Error::new(ErrorCode::InvalidInput, format!("{field}: {why}")).detail("field", field)
}

/// Whether a text fits a match; an error names the field when the match is wrong.
pub(crate) fn text_fits(field: &str, wanted: &deskhand_protocol::TextMatch, text: &str) -> Result<bool> {
    Ok(Pattern::new(field, wanted)?.score(text).is_some())
}
