//! Lines to scene.

use std::str::FromStr;
use std::time::Duration;

use deskhand_protocol::{Point, Rect, Role, Size};

use super::words::{Word, words};
use super::{AppSpec, DisplaySpec, Effect, ElementSpec, PARTS, Scene, SceneError, WindowSpec, role};

type Result<T> = std::result::Result<T, SceneError>;

/// A line that was cut into words.
struct Line {
    number: usize,
    words: Vec<Word>,
}

impl Line {
    fn fail<T>(&self, what: impl Into<String>) -> Result<T> {
        Err(SceneError::new(self.number, what))
    }

    fn number<T: FromStr>(&self, field: &str, text: &str) -> Result<T> {
        text.parse().or_else(|_| self.fail(format!("{field} is {text:?}, not a number")))
    }

    fn pair<T: FromStr>(&self, field: &str, text: &str, between: char) -> Result<(T, T)> {
        match text.split_once(between) {
            Some((a, b)) => Ok((self.number(field, a)?, self.number(field, b)?)),
            None => {
                self.fail(format!("{field} is {text:?}; write two numbers with `{between}` between them"))
            }
        }
    }

    fn point(&self, text: &str) -> Result<Point> {
        self.pair("at", text, ',').map(|(x, y)| Point::new(x, y))
    }

    fn size(&self, text: &str) -> Result<Size> {
        self.pair("size", text, 'x').map(|(width, height)| Size { width, height })
    }

    fn unknown<T>(&self, what: &str, word: &Word) -> Result<T> {
        self.fail(format!("{what} does not know `{word}`"))
    }
}

/// Reads a whole scene and checks that what effects name is there.
pub(crate) fn parse(text: &str) -> Result<Scene> {
    let mut scene = Scene::default();
    // Indentation and element index of the open containers of the present window.
    let mut open: Vec<(usize, Option<usize>)> = Vec::new();
    for (i, raw) in text.lines().enumerate() {
        let line = Line { number: i + 1, words: words(i + 1, raw)? };
        if line.words.is_empty() {
            continue;
        }
        if raw.trim_end().chars().take_while(|c| c.is_whitespace()).any(|c| c == '\t') {
            return line.fail("a tab indents this line; use spaces");
        }
        let indent = raw.len() - raw.trim_start().len();
        let top = matches!(line.words.first(), Some(Word::Bare(w)) if TOP.contains(&w.as_str()));
        open.retain(|(at, _)| *at < indent);
        match (scene.windows.last_mut(), open.last()) {
            (Some(window), Some(&(_, parent))) => {
                window.elements.push(element(&line, parent)?);
                open.push((indent, Some(window.elements.len() - 1)));
            }
            _ if top => {
                if top_line(&mut scene, &line)? {
                    open = vec![(indent, None)];
                } else {
                    open.clear();
                }
            }
            _ => {
                return line.fail(format!(
                    "`{}` must be inside a window: indent it, or start with one of {TOP:?}",
                    line.words[0]
                ));
            }
        }
    }
    if scene.displays.is_empty() {
        scene.displays.push(DisplaySpec {
            id: 0,
            bounds: Rect::new(0, 0, 1920, 1080),
            scale: 1,
            primary: true,
        });
    }
    if !scene.displays.iter().any(|d| d.primary) {
        scene.displays[0].primary = true;
    }
    check(&scene)?;
    Ok(scene)
}

/// Effects on their own, for a test that changes the desktop by hand.
pub(crate) fn parse_effects(text: &str) -> Result<Vec<Effect>> {
    super::effect::effects(1, &words(1, text)?)
}

const TOP: &[&str] = &["display", "window", "hidden", "app", "broken", "slow", "clipboard", "locked", "idle"];

/// A line at the left edge; true when it is a window.
fn top_line(scene: &mut Scene, line: &Line) -> Result<bool> {
    match line.words.as_slice() {
        [Word::Bare(w), rest @ ..] if w == "display" => scene.displays.push(display(line, rest)?),
        [Word::Bare(w), rest @ ..] if w == "window" => {
            scene.windows.push(window(line, rest)?);
            return Ok(true);
        }
        [Word::Bare(h), Word::Bare(w), rest @ ..] if h == "hidden" && w == "window" => {
            scene.windows.push(WindowSpec { hidden: true, ..window(line, rest)? });
            return Ok(true);
        }
        [Word::Bare(w), Word::Text(name), rest @ ..] if w == "app" => scene.apps.push(app(line, name, rest)?),
        [Word::Bare(w), Word::Bare(part)] if w == "broken" => {
            if !PARTS.contains(&part.as_str()) {
                return line.fail(format!("there is no part {part:?}; parts are {PARTS:?}"));
            }
            scene.broken.push(part.clone());
        }
        [Word::Bare(w), Word::Bare(ms)] if w == "slow" => {
            scene.slow = Duration::from_millis(line.number("slow", ms)?);
        }
        [Word::Bare(w), Word::Text(text)] if w == "clipboard" => scene.clipboard = Some(text.clone()),
        [Word::Bare(w)] if w == "locked" => scene.locked = true,
        [Word::Bare(w), Word::Bare(s)] if w == "idle" => {
            scene.idle = Duration::from_secs(line.number("idle", s)?);
        }
        words => return line.fail(format!("cannot read this `{}` line", words[0])),
    }
    Ok(false)
}

fn display(line: &Line, rest: &[Word]) -> Result<DisplaySpec> {
    let [Word::Bare(id), Word::Bare(size), rest @ ..] = rest else {
        return line.fail("write `display ID WIDTHxHEIGHT [primary] [at=X,Y] [scale=N]`");
    };
    let size = line.size(size)?;
    let bounds = Rect::new(
        0,
        0,
        i32::try_from(size.width).unwrap_or(i32::MAX),
        i32::try_from(size.height).unwrap_or(i32::MAX),
    );
    if bounds.is_empty() || bounds.width > 16_384 || bounds.height > 16_384 {
        return line.fail("a display has 1 to 16384 pixels each way");
    }
    let mut out = DisplaySpec { id: line.number("display", id)?, bounds, scale: 1, primary: false };
    for word in rest {
        match word {
            Word::Bare(w) if w == "primary" => out.primary = true,
            Word::Pair(k, v) if k == "at" => {
                let at = line.point(v)?;
                out.bounds = Rect { x: at.x, y: at.y, ..out.bounds };
            }
            Word::Pair(k, v) if k == "scale" => out.scale = line.number::<u32>("scale", v)?.clamp(1, 4),
            word => return line.unknown("display", word),
        }
    }
    Ok(out)
}

fn app(line: &Line, name: &str, rest: &[Word]) -> Result<AppSpec> {
    let mut out = AppSpec {
        name: name.to_owned(),
        launches: None,
        program: name.to_lowercase().replace(' ', "-"),
        desktop_id: name.to_lowercase().replace(' ', "-"),
        names: Vec::new(),
    };
    for word in rest {
        match word {
            Word::Bare(w) if w == "launches" || w == "window" => {}
            Word::Text(title) => out.launches = Some(title.clone()),
            Word::Pair(k, v) if k == "program" => out.program.clone_from(v),
            Word::Pair(k, v) if k == "id" => out.desktop_id.clone_from(v),
            Word::Pair(k, v) if k == "names" => {
                out.names = v.split(',').map(|n| n.trim().to_owned()).collect();
            }
            word => return line.unknown("app", word),
        }
    }
    Ok(out)
}

fn window(line: &Line, rest: &[Word]) -> Result<WindowSpec> {
    let [Word::Text(title), rest @ ..] = rest else { return line.fail("write `window \"title\" …`") };
    let mut out = WindowSpec {
        line: line.number,
        title: title.clone(),
        app: title.to_lowercase(),
        ..WindowSpec::default()
    };
    for word in rest {
        match word {
            Word::Pair(k, v) => match k.as_str() {
                "pid" => out.pid = Some(line.number("pid", v)?),
                "app" => out.app.clone_from(v),
                "at" => out.at = Some(line.point(v)?),
                "size" => out.size = Some(line.size(v)?),
                "for" => out.owner = Some(v.clone()),
                _ => return line.unknown("window", word),
            },
            Word::Bare(w) => match w.as_str() {
                "focused" => out.focused = true,
                "modal" => (out.modal, out.dialog) = (true, true),
                "dialog" => out.dialog = true,
                "minimized" => out.minimized = true,
                "maximized" => out.maximized = true,
                "frozen" => out.frozen = true,
                "stubborn" => out.stubborn = true,
                "above" => out.above = true,
                "no-ax" => out.no_ax = true,
                _ => return line.unknown("window", word),
            },
            word => return line.unknown("window", word),
        }
    }
    Ok(out)
}

fn element(line: &Line, parent: Option<usize>) -> Result<ElementSpec> {
    let cut = line.words.iter().position(|w| *w == Word::Arrow).unwrap_or(line.words.len());
    let (words, effect_words) = line.words.split_at(cut);
    let (Some(Word::Bare(word)), rest) = (words.first(), words.get(1..).unwrap_or_default()) else {
        return line.fail("an element starts with its role (button, edit, menu, list…)");
    };
    let Some(role) = role(word) else {
        return line.fail(format!(
            "there is no role {word:?}; see Role::ALL, or write edit, password, item, check, combo, tabs…"
        ));
    };
    let mut out = blank(line.number, parent, role);
    for word in rest {
        match word {
            Word::Id(id) => out.id.clone_from(id),
            Word::Text(name) => out.name.clone_from(name),
            Word::Pair(k, v) => match k.as_str() {
                "value" => out.value = Some(v.clone()),
                "at" => out.at = Some(line.point(v)?),
                "size" => out.size = Some(line.size(v)?),
                "key" => out.key = Some(v.to_lowercase()),
                "description" => out.description.clone_from(v),
                "label" => out.label.clone_from(v),
                "slow" => out.slow = Duration::from_millis(line.number("slow", v)?),
                "drop-text" => out.drop_text = line.number("drop-text", v)?,
                _ => return line.unknown("element", word),
            },
            Word::Bare(w) => match w.as_str() {
                "checked" => out.checked = true,
                "selected" => out.selected = true,
                "disabled" => out.disabled = true,
                "hidden" => out.hidden = true,
                "focused" => out.focused = true,
                "default" => out.default = true,
                "readonly" => out.readonly = true,
                "noop" => out.noop = true,
                "strict" => out.strict = true,
                "hover" => out.hover = true,
                _ => return line.unknown("element", word),
            },
            word => return line.unknown("element", word),
        }
    }
    if let [_, effect_words @ ..] = effect_words {
        out.effects = super::effect::effects(line.number, effect_words)?;
    }
    Ok(out)
}

fn blank(line: usize, parent: Option<usize>, role: Role) -> ElementSpec {
    ElementSpec {
        line,
        parent,
        role,
        id: String::new(),
        name: String::new(),
        value: None,
        description: String::new(),
        label: String::new(),
        at: None,
        size: None,
        key: None,
        checked: false,
        selected: false,
        disabled: false,
        hidden: false,
        focused: false,
        default: false,
        readonly: false,
        noop: false,
        strict: false,
        hover: false,
        slow: Duration::ZERO,
        drop_text: 0,
        effects: Vec::new(),
    }
}

/// Names that effects, owners and programs use must be there, and only once.
fn check(scene: &Scene) -> Result<()> {
    let has_window = |title: &str| scene.windows.iter().any(|w| w.title == title);
    let mut ids = std::collections::HashMap::new();
    for e in scene.windows.iter().flat_map(|w| &w.elements).filter(|e| !e.id.is_empty()) {
        if let Some(first) = ids.insert(e.id.as_str(), e.line) {
            return Err(SceneError::new(e.line, format!("#{} is already on line {first}", e.id)));
        }
    }
    for w in &scene.windows {
        if let Some(owner) = w.owner.as_deref().filter(|o| !has_window(o)) {
            return Err(SceneError::new(w.line, format!("for={owner:?} names no window of the scene")));
        }
        for e in &w.elements {
            for effect in &e.effects {
                if let Some(id) = effect.target().filter(|id| !ids.contains_key(id)) {
                    return Err(SceneError::new(
                        e.line,
                        format!("the effect names #{id}, which is not in the scene"),
                    ));
                }
                if let Some(title) = effect.window().filter(|t| !has_window(t)) {
                    return Err(SceneError::new(
                        e.line,
                        format!("the effect names the window {title:?}, which is not in the scene"),
                    ));
                }
            }
        }
    }
    for app in &scene.apps {
        if let Some(title) = app.launches.as_deref().filter(|t| !has_window(t)) {
            return Err(SceneError::new(
                0,
                format!("app {:?} launches {title:?}, which is not in the scene", app.name),
            ));
        }
    }
    Ok(())
}
