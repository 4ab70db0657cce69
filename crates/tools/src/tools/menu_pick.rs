//! `menu_pick` (host seed §2): an entry of a menu by its path.

use std::time::{Duration, Instant};

use deskhand_platform::{
    Button, Element, ElementAction, ElementEventKind, Key, Mark, NamedKey, PlatformError, Root, Tree, Window,
};
use deskhand_protocol::{
    Category, Effect, EffectReport, Error, ErrorCode, Evidence, Lane, Layer, Level, Needs, Point, Result,
    Risk, ToolMeta,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::args::{EVERYWHERE, wrong};
use super::menu_path::{Path, bars, entries, labels, pick, plain};
use super::pointer::{self, Click, Spot};
use super::windows_seen::Seen;
use crate::route::{blocking_modal, modal_blocking};
use crate::{Ctx, Done, Tool, aim, frontmost};

/// How long an entry may take to answer; a dialog it opens can swallow the answer.
const ANSWER: Duration = Duration::from_secs(3);
/// How long a menu may take to open and be filled.
const OPENS: Duration = Duration::from_secs(2);
/// How long a sign of life is waited for after an entry was picked.
const SIGN: Duration = Duration::from_millis(1000);
/// How long a menu may take to close by itself.
const CLOSES: Duration = Duration::from_millis(250);

/// Picks an entry of a menu by its path, for example ["File", "Save As…"] or "App > File > Export...".
/// Mnemonics, case, "..." and "…" do not matter; the application's name may come first. Menus are
/// opened only when the entry cannot be picked without.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The labels from the menu bar down to the entry.
    path: Path,
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether the entry was picked; `effect` says what came of it.
    success: bool,
    /// The labels as the application writes them.
    path: Vec<String>,
    /// Whether menus had to be opened.
    opened: bool,
}

pub(crate) struct MenuPick;

impl Tool for MenuPick {
    type Input = Input;
    type Output = Output;
    const META: ToolMeta = ToolMeta {
        name: "menu_pick",
        title: "Pick an entry of a menu",
        title_zh: "菜单选择",
        risk: Risk::Medium,
        category: Category::Mouse,
        level: Level::L2,
        read_only: false,
        lane: Lane::ExclusiveDesktop,
        needs: &[Needs::Elements],
        evidence: Evidence::BeforeAfter,
        platforms: EVERYWHERE,
        local_only: true,
        timeout_ms: 30_000,
        roles: &[],
    };

    fn check(input: &Input) -> Result<()> {
        input.path.clone().parts().map(|_| ())
    }

    fn run(input: Input, ctx: &Ctx<'_>) -> Result<Done<Output>> {
        let parts = input.path.parts()?;
        ctx.route.guard(ctx.desktop)?;
        let tree = aim::read(ctx, aim::root(ctx)?, false)?;
        let mut walk =
            Walk { ctx, seen: Seen::now(ctx), path: Vec::new(), opened: Vec::new(), pid: None, window: None };
        let outcome = walk.run(tree, &parts);
        walk.close_menus();
        outcome
    }
}

/// One walk down the menus.
struct Walk<'c, 'a> {
    ctx: &'c Ctx<'a>,
    seen: Seen,
    path: Vec<String>,
    /// Menus this walk has opened.
    opened: Vec<Element>,
    pid: Option<u32>,
    /// The window the menu belongs to.
    window: Option<Window>,
}

impl Walk<'_, '_> {
    fn run(&mut self, tree: Tree, parts: &[String]) -> Result<Done<Output>> {
        let (tree, start, skip) = self.start(tree, parts)?;
        // The dialog itself may be in front: what counts is the window the menu belongs to.
        self.window = aim::owner(self.ctx, &tree, start);
        if let Some(window) = &self.window
            && let Some(modal) = blocking_modal(window, &self.ctx.desktop.windows.list()?)
        {
            return Err(modal_blocking(window, modal));
        }
        let mut tree = tree;
        let mut at = start;
        // Elements from the bar down to the leaf.
        let mut chain: Vec<Element> = Vec::new();
        for part in &parts[skip..] {
            let mut list = entries(&tree, at);
            if list.is_empty() && !chain.is_empty() {
                // Filled only when it opens: open every level down to here.
                tree = self.open(&chain)?;
                at = 0;
                list = entries(&tree, at);
            }
            let Some(found) = pick(&tree, &list, part) else {
                return Err(self.missing(part, &tree, &list));
            };
            at = found;
            chain.push(tree.nodes[at].element.clone());
            self.path.push(tree.nodes[at].element.name.trim().to_owned());
        }
        let leaf = chain.last().cloned().ok_or_else(|| wrong("path", "names only the application"))?;
        self.pid = Some(leaf.pid);
        let leaf = self.check_enabled(&chain, leaf)?;
        self.pick(&chain, &leaf)
    }

    /// The bar the path starts at; how many parts name the application.
    fn start(&self, tree: Tree, parts: &[String]) -> Result<(Tree, usize, usize)> {
        let bars = bars(&tree);
        let has = |bar: usize, part: &str| pick(&tree, &entries(&tree, bar), part).is_some();
        if let Some(bar) = bars.iter().copied().find(|b| has(*b, &parts[0])) {
            return Ok((tree, bar, 0));
        }
        if parts.len() > 1
            && let Some(bar) = bars.iter().copied().find(|b| has(*b, &parts[1]))
            && self.names_app(&tree, &parts[0])
        {
            return Ok((tree, bar, 1));
        }
        let Some(bar) = bars.first().copied() else {
            return Err(Error::new(
                ErrorCode::ElementNotFound,
                format!("there is no menu bar among {} elements", tree.nodes.len()),
            )
            .hint(
                "the application may have no menus, or not tell of them: use hotkey, or click by coordinates",
            )
            .detail("frontmost", frontmost(self.ctx.desktop)));
        };
        Err(self.missing(&parts[0], &tree, &entries(&tree, bar)))
    }

    /// Whether a label names the application (or its window).
    fn names_app(&self, tree: &Tree, part: &str) -> bool {
        let wanted = plain(part);
        let front =
            self.ctx.route.window.clone().or_else(|| self.ctx.desktop.windows.active().ok().flatten());
        let pid = front.as_ref().and_then(|w| w.pid);
        let running = self.ctx.desktop.apps.running().unwrap_or_default();
        let names = running.iter().filter(|a| Some(a.pid) == pid).flat_map(|a| [&a.name, &a.program]);
        let same = |name: &str| {
            let name = plain(name);
            !name.is_empty() && (name == wanted || name.contains(&wanted) || wanted.contains(&name))
        };
        names.chain(front.iter().flat_map(|w| [&w.app, &w.title])).any(|n| same(n))
            || tree.nodes.first().is_some_and(|n| same(&n.element.name))
    }

    fn missing(&self, part: &str, tree: &Tree, list: &[usize]) -> Error {
        let place = if self.path.is_empty() {
            "the menu bar".to_owned()
        } else {
            format!("{:?}", self.path.join(" > "))
        };
        Error::new(ErrorCode::ElementNotFound, format!("there is no menu entry {part:?} in {place}"))
            .hint("use one of details.entries")
            .detail("entries", labels(tree, list))
            .detail("level", self.path.len() + 1)
            .detail("frontmost", frontmost(self.ctx.desktop))
    }

    /// Some applications bring entries up to date only when the menu opens.
    fn check_enabled(&mut self, chain: &[Element], leaf: Element) -> Result<Element> {
        if leaf.states.enabled {
            return Ok(leaf);
        }
        let now = match chain.split_last() {
            Some((_, above)) if !above.is_empty() => {
                let tree = self.open(above)?;
                pick(&tree, &entries(&tree, 0), &leaf.name).map(|i| tree.nodes[i].element.clone())
            }
            _ => None,
        };
        now.filter(|e| e.states.enabled).ok_or_else(|| {
            aim::not_actionable(&format!("menu entry {:?}", self.path.join(" > ")), "disabled")
        })
    }

    /// Opens the menus of a chain that are not open yet and reads what lies below the last one.
    fn open(&mut self, chain: &[Element]) -> Result<Tree> {
        for (i, menu) in chain.iter().enumerate() {
            if self.opened.iter().any(|o| o.handle == menu.handle) {
                continue;
            }
            self.ctx.scope.check("opening a menu")?;
            self.ctx.notebook.before()?;
            self.show(menu)?;
            self.opened.push(menu.clone());
            let below = self.filled(menu)?;
            if i + 1 == chain.len() {
                return Ok(below);
            }
        }
        match chain.last() {
            Some(menu) => self.filled(menu),
            None => Err(wrong("path", "is empty")),
        }
    }

    /// Opens one menu: by the pointer where it shows, else by its own actions (Qt has one of its own).
    fn show(&self, menu: &Element) -> Result<()> {
        let now = self.ctx.desktop.elements.read(&menu.handle, self.ctx.scope)?;
        if let Some(point) = shown_at(&now) {
            return self.click(point, &now);
        }
        for action in [ElementAction::Press, ElementAction::Named("ShowMenu".to_owned())] {
            match self.ctx.desktop.elements.act(&menu.handle, &action, &self.ctx.scope.within(ANSWER)) {
                Ok(done) if done.done == Some(false) => {}
                Ok(_) | Err(PlatformError::Timeout { .. } | PlatformError::AppUnresponsive { .. }) => {
                    return Ok(self.ctx.scope.check("opening a menu")?);
                }
                Err(PlatformError::NotActionable { .. }) => {}
                Err(e) => return Err(e.into()),
            }
        }
        Err(aim::not_actionable(&aim::words(menu), "it cannot be opened"))
    }

    fn click(&self, point: Point, entry: &Element) -> Result<()> {
        let spot = Spot::in_menu(self.ctx, point, entry, self.window.as_ref(), self.opened.is_empty())?;
        let how = Click { button: Button::Left, count: 1, modifiers: &[], smooth: false };
        pointer::click(self.ctx, &spot, &how).map(|_| ())
    }

    /// Waits until a menu has entries that show.
    fn filled(&self, menu: &Element) -> Result<Tree> {
        let wait = self.ctx.scope.within(OPENS);
        loop {
            let tree = aim::read(self.ctx, Root::Element(menu.handle.clone()), false)?;
            let list = entries(&tree, 0);
            let shows = list.iter().any(|i| tree.nodes[*i].element.states.showing);
            if shows || wait.sleep(Duration::from_millis(20), "waiting for a menu").is_err() {
                self.ctx.scope.check("waiting for a menu")?;
                return Ok(tree);
            }
        }
    }

    /// Picks the entry as a person does: its menus are opened and it is clicked. An accessibility
    /// action would do, but GTK 3 applications that open a dialog from one block inside it and stop
    /// for good at the next key press; it is kept for menus that cannot be opened.
    fn pick(&mut self, chain: &[Element], leaf: &Element) -> Result<Done<Output>> {
        let ctx = self.ctx;
        ctx.notebook.before()?;
        let shown = match self.open(&chain[..chain.len() - 1]) {
            Ok(tree) => pick(&tree, &entries(&tree, 0), &leaf.name).map(|i| tree.nodes[i].element.clone()),
            Err(e) if matches!(e.code, ErrorCode::Aborted | ErrorCode::Timeout) => return Err(e),
            Err(_) => None,
        };
        if let Some((point, entry)) = shown.as_ref().and_then(|e| Some((shown_at(e)?, e))) {
            ctx.mark_now();
            let marks = (None, ctx.desktop.elements.mark().ok());
            self.click(point, entry)?;
            return match self.sign(marks, false)? {
                Some(Sign::Window(why) | Sign::Event(why)) => Ok(self.done(Some((Effect::Confirmed, why)))),
                _ => Ok(self.unclear()),
            };
        }
        self.press_it(chain, leaf)
    }

    /// Picks the entry by its own action.
    fn press_it(&mut self, chain: &[Element], leaf: &Element) -> Result<Done<Output>> {
        let ctx = self.ctx;
        ctx.mark_now();
        let marks = (ctx.desktop.screen.mark().ok(), ctx.desktop.elements.mark().ok());
        ctx.scope.check("picking a menu entry")?;
        let direct = self.opened.is_empty();
        let answered = self.press(leaf)?;
        match self.sign(marks, direct)? {
            Some(Sign::Window(why)) => Ok(self.done(Some((Effect::Confirmed, why)))),
            Some(Sign::Event(why)) => Ok(self.done(Some((Effect::Confirmed, why)))),
            Some(Sign::Something) => Ok(self.done(None)),
            None if direct && chain.len() > 1 && answered => {
                // Nothing at all happened: an application whose entries answer only while they show.
                let tree = match self.open(&chain[..chain.len() - 1]) {
                    Ok(tree) => tree,
                    Err(e) if e.code == ErrorCode::Aborted => return Err(e),
                    // It was picked once already: that is what is told, not that a second way failed.
                    Err(_) => {
                        return Ok(self.done(Some((
                            Effect::SuspectedNoop,
                            "nothing changed, and the menu cannot be opened".into(),
                        ))));
                    }
                };
                let shown =
                    pick(&tree, &entries(&tree, 0), &leaf.name).map(|i| tree.nodes[i].element.clone());
                let Some(shown) = shown else {
                    self.close_menus();
                    return Ok(self.done(Some((
                        Effect::SuspectedNoop,
                        "nothing changed, and the entry is gone when its menu opens".into(),
                    ))));
                };
                ctx.mark_now();
                let marks = (None, ctx.desktop.elements.mark().ok());
                self.press(&shown)?;
                match self.sign(marks, false)? {
                    Some(Sign::Window(why) | Sign::Event(why)) => {
                        Ok(self.done(Some((Effect::Confirmed, why))))
                    }
                    _ => Ok(self.unclear()),
                }
            }
            None if !answered => Ok(self
                .done(Some((Effect::Unverifiable, "no answer came, and nothing was seen to change".into())))),
            None if direct => Ok(self.done(Some((Effect::SuspectedNoop, "nothing changed".into())))),
            None => Ok(self.unclear()),
        }
    }

    /// Presses; false when no answer came, so that it may have happened.
    fn press(&self, leaf: &Element) -> Result<bool> {
        match self.ctx.desktop.elements.act(
            &leaf.handle,
            &ElementAction::Press,
            &self.ctx.scope.within(ANSWER),
        ) {
            Ok(_) => Ok(true),
            Err(PlatformError::Timeout { .. } | PlatformError::AppUnresponsive { .. }) => {
                self.ctx.scope.check("picking a menu entry")?;
                Ok(false)
            }
            Err(e) => Err(e.into()),
        }
    }

    /// Waits for something to happen. With menus open only what cannot come from the menu itself counts.
    fn sign(&self, marks: (Option<Mark>, Option<Mark>), direct: bool) -> Result<Option<Sign>> {
        let until = Instant::now() + SIGN;
        let mut since = marks.1;
        let mut something = false;
        loop {
            if let Some(news) = self.seen.news(self.ctx)? {
                return Ok(Some(Sign::Window(news)));
            }
            // A window may follow shortly after the first sign.
            let over = Instant::now() >= until;
            if over || (something && Instant::now() + SIGN * 2 / 3 >= until) {
                return Ok(something.then_some(Sign::Something));
            }
            let slice = self.ctx.scope.within(Duration::from_millis(25));
            if let Some(mark) = since {
                // The entry is picked already: a stream that fails now is no reason to call it failed.
                let event = match self.ctx.desktop.elements.wait_event(mark, self.pid, &slice) {
                    Err(e @ PlatformError::Cancelled) => return Err(e.into()),
                    other => other.ok().flatten(),
                };
                if let Some(event) = event {
                    since = Some(event.mark);
                    let content =
                        matches!(event.kind, ElementEventKind::TextChanged | ElementEventKind::ValueChanged);
                    if content {
                        return Ok(Some(Sign::Event(format!("the application says {}", event.detail))));
                    }
                    something |= direct;
                }
            } else {
                self.ctx.scope.sleep(Duration::from_millis(25), "waiting for the menu entry")?;
            }
            if let (Some(mark), true) = (marks.0, direct) {
                let now = self.ctx.scope.within(Duration::ZERO);
                something |= self.ctx.desktop.screen.wait_change(mark, None, &now).is_ok_and(|c| c.is_some());
            }
            self.ctx.scope.check("waiting for the menu entry")?;
        }
    }

    fn unclear(&self) -> Done<Output> {
        self.done(Some((Effect::Unverifiable, "picked; only the menu itself was seen to change".into())))
    }

    fn done(&self, verdict: Option<(Effect, String)>) -> Done<Output> {
        let output = Output { success: true, path: self.path.clone(), opened: !self.opened.is_empty() };
        let mut report = EffectReport::new(Effect::Unverifiable, "the entry was picked");
        report.layer = Some(Layer::Semantic);
        report.hit = Some(format!("menu entry {:?}", self.path.join(" > ")));
        match verdict {
            Some((effect, why)) => {
                (report.effect, report.why) = (effect, why);
                let output = Output { success: effect != Effect::SuspectedNoop, ..output };
                Done::own(output, report)
            }
            None => Done::watch(output, report, self.pid, None),
        }
    }

    /// Leaves no menu open; not after an abort, when nothing more may be sent.
    fn close_menus(&self) {
        let Some(first) = self.opened.first() else { return };
        let shows = || {
            let tree = aim::read(self.ctx, Root::Element(first.handle.clone()), false);
            tree.is_ok_and(|t| entries(&t, 0).iter().any(|i| t.nodes[*i].element.states.showing))
        };
        // A key that comes while a menu is still opening is lost: look after each.
        for _ in 0..self.opened.len() * 2 {
            let wait = self.ctx.scope.within(CLOSES);
            while shows() {
                if wait.sleep(Duration::from_millis(20), "closing a menu").is_err() {
                    break;
                }
            }
            if self.ctx.scope.check("closing a menu").is_err() || !shows() {
                return;
            }
            let _ = self.ctx.desktop.input.chord(&[Key::Named(NamedKey::Escape)], self.ctx.scope);
        }
    }
}

/// Where an element that shows can be clicked.
fn shown_at(e: &Element) -> Option<Point> {
    e.rect.filter(|r| !r.is_empty() && e.states.showing).map(|r| r.center())
}

/// What showed that something happened.
enum Sign {
    /// A window came, went or was renamed.
    Window(String),
    /// The application told of new contents.
    Event(String),
    /// Something moved; the host should judge.
    Something,
}
