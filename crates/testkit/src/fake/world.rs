//! The state of the fake desktop, behind one lock.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskhand_platform::{Button, Display, ElementEventKind, Handle, Highlight, Key, Mark, WindowId};
use deskhand_protocol::{Point, Rect, Role, Size};

use super::layout;
use super::log::{InputEvent, Log};
use crate::scene::{Effect, ElementSpec, Scene};

/// Height of a window's title bar and width of its border.
pub(crate) const TITLE: i32 = 20;
pub(crate) const BORDER: i32 = 1;

/// Places in a stream that are kept; older ones are forgotten, as a real event queue does.
const STREAM: usize = 4096;

/// A bounded stream of things that happened.
pub(crate) struct Stream<T> {
    next: u64,
    items: VecDeque<(u64, Instant, T)>,
}

impl<T> Stream<T> {
    fn new() -> Self {
        Self { next: 0, items: VecDeque::new() }
    }

    pub(crate) fn push(&mut self, item: T) {
        self.next += 1;
        if self.items.len() == STREAM {
            self.items.pop_front();
        }
        self.items.push_back((self.next, Instant::now(), item));
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark(self.next)
    }

    pub(crate) fn since(&self, mark: Mark) -> impl Iterator<Item = &(u64, Instant, T)> {
        self.items.iter().filter(move |(at, ..)| *at > mark.0)
    }
}

/// A program that runs.
pub(crate) struct Proc {
    pub(crate) pid: u32,
    pub(crate) app: String,
    /// The class of its windows.
    pub(crate) class: String,
    pub(crate) desktop_id: Option<String>,
    pub(crate) program: String,
    pub(crate) frozen: bool,
    /// Answers nothing until then: a frozen program costs its time only once.
    pub(crate) skip_until: Option<Instant>,
}

/// An element of an open window.
pub(crate) struct El {
    pub(crate) id: u64,
    pub(crate) spec: ElementSpec,
    /// Relative to the window's top left corner.
    pub(crate) rect: Rect,
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) shown: bool,
    pub(crate) enabled: bool,
    pub(crate) checked: bool,
    pub(crate) selected: bool,
    pub(crate) expanded: bool,
    pub(crate) gone: bool,
    /// In characters.
    pub(crate) caret: usize,
    /// Ctrl+A was pressed: the next text replaces everything.
    pub(crate) all_selected: bool,
    /// Pixels that were scrolled down.
    pub(crate) scroll: i32,
}

impl El {
    pub(crate) fn is_edit(&self) -> bool {
        matches!(
            self.spec.role,
            Role::TextField | Role::TextArea | Role::PasswordField | Role::Terminal | Role::SpinButton
        ) || (self.spec.role == Role::ComboBox && self.spec.value.is_some())
    }

    pub(crate) fn focusable(&self) -> bool {
        self.is_edit()
            || matches!(
                self.spec.role,
                Role::Button
                    | Role::CheckBox
                    | Role::RadioButton
                    | Role::ToggleButton
                    | Role::ComboBox
                    | Role::Slider
                    | Role::Link
                    | Role::List
                    | Role::ListItem
                    | Role::Tab
                    | Role::TreeItem
                    | Role::Cell
            )
    }

    pub(crate) fn secure(&self) -> bool {
        self.spec.role == Role::PasswordField
    }
}

/// An open window.
pub(crate) struct Win {
    pub(crate) id: WindowId,
    /// Index in `Scene::windows`.
    pub(crate) spec: usize,
    pub(crate) title: String,
    pub(crate) pid: u32,
    pub(crate) bounds: Rect,
    /// Bounds to go back to.
    pub(crate) normal: Rect,
    pub(crate) minimized: bool,
    pub(crate) maximized: bool,
    pub(crate) modal: bool,
    pub(crate) dialog: bool,
    pub(crate) owner: Option<WindowId>,
    pub(crate) els: Vec<El>,
    pub(crate) focus: Option<usize>,
}

impl Win {
    pub(crate) fn content(&self) -> Rect {
        let b = self.bounds;
        Rect::new(b.x + BORDER, b.y + TITLE, b.width - 2 * BORDER, b.height - TITLE - BORDER)
    }
}

/// An accessibility event as it is kept.
pub(crate) struct AxEvent {
    pub(crate) kind: ElementEventKind,
    pub(crate) handle: Handle,
    pub(crate) pid: u32,
    pub(crate) detail: String,
}

/// Something held down.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    Key(Key),
    Button(Button),
}

/// Everything.
pub(crate) struct World {
    pub(crate) scene: Arc<Scene>,
    pub(crate) displays: Vec<Display>,
    /// Open windows, topmost first.
    pub(crate) wins: Vec<Win>,
    pub(crate) active: Option<WindowId>,
    pub(crate) procs: Vec<Proc>,
    pub(crate) pointer: Point,
    pub(crate) held: Vec<Held>,
    /// What the left button went down on.
    pub(crate) pressed: Option<(WindowId, u64)>,
    pub(crate) last_input: Option<Instant>,
    pub(crate) started: Instant,
    pub(crate) clipboard: Vec<(String, Vec<u8>)>,
    pub(crate) times_read: u64,
    pub(crate) notifications: Vec<(String, String)>,
    pub(crate) broken: BTreeSet<String>,
    pub(crate) highlights: Vec<(Instant, Highlight)>,
    pub(crate) damage: Stream<Rect>,
    pub(crate) events: Stream<AxEvent>,
    pub(crate) log: Log,
    /// Effects that come later; started by whoever lets go of the lock.
    pub(crate) later: Vec<(Duration, Vec<Effect>, Option<WindowId>)>,
    next_id: u64,
    next_pid: u32,
}

impl World {
    pub(crate) fn new(scene: Scene) -> Self {
        let mut displays: Vec<Display> = scene
            .displays
            .iter()
            .map(|d| Display {
                id: d.id,
                name: format!("FAKE-{}", d.id),
                bounds: d.bounds,
                scale: f64::from(d.scale),
                primary: d.primary,
            })
            .collect();
        displays.sort_by_key(|d| !d.primary);
        let centre = displays[0].bounds.center();
        let clipboard = scene.clipboard.as_deref().map(text_formats).unwrap_or_default();
        let broken = scene.broken.iter().cloned().collect();
        let scene = Arc::new(scene);
        let mut world = World {
            displays,
            wins: Vec::new(),
            active: None,
            procs: Vec::new(),
            pointer: centre,
            held: Vec::new(),
            pressed: None,
            last_input: None,
            started: Instant::now(),
            clipboard,
            times_read: 0,
            notifications: Vec::new(),
            broken,
            highlights: Vec::new(),
            damage: Stream::new(),
            events: Stream::new(),
            log: Log::default(),
            later: Vec::new(),
            next_id: 1,
            next_pid: 2000,
            scene: scene.clone(),
        };
        for (i, _) in scene.windows.iter().enumerate().filter(|(_, w)| !w.hidden) {
            world.open(i);
        }
        // Opening puts a window on top, but the first written shall be there; dialogs above their windows.
        world.wins.reverse();
        for i in 0..world.wins.len() {
            let owner = world.wins[i].owner.and_then(|o| world.win(o)).filter(|o| *o < i);
            if let Some(owner) = owner {
                let dialog = world.wins.remove(i);
                world.wins.insert(owner, dialog);
            }
        }
        world.active = world.wins.iter().find(|w| !w.minimized).map(|w| w.id);
        if let Some(i) = scene.windows.iter().position(|w| w.focused && !w.hidden) {
            let id = world.wins.iter().find(|w| w.spec == i).map(|w| w.id);
            world.active = id;
            if let Some(id) = id {
                world.raise(id);
            }
        }
        world.damage = Stream::new();
        world.events = Stream::new();
        world
    }

    pub(crate) fn new_id(&mut self) -> u64 {
        self.next_id += 1;
        self.next_id
    }

    /// The rectangle around all displays.
    pub(crate) fn desktop(&self) -> Rect {
        self.displays.iter().skip(1).fold(self.displays[0].bounds, |all, d| all.union(&d.bounds))
    }

    pub(crate) fn win(&self, id: WindowId) -> Option<usize> {
        self.wins.iter().position(|w| w.id == id)
    }

    pub(crate) fn proc(&mut self, pid: u32) -> Option<&mut Proc> {
        self.procs.iter_mut().find(|p| p.pid == pid)
    }

    /// The window and index of `#id` in an open window, topmost first.
    pub(crate) fn by_scene_id(&self, id: &str) -> Option<(usize, usize)> {
        self.wins
            .iter()
            .enumerate()
            .find_map(|(w, win)| win.els.iter().position(|e| e.spec.id == id && !e.gone).map(|e| (w, e)))
    }

    /// Window `w` and what its element `e` are called on the bus.
    pub(crate) fn handle(&self, w: usize, e: Option<usize>) -> Handle {
        let win = &self.wins[w];
        match e {
            Some(e) => Handle(format!("el:{}:{}", win.id.0, win.els[e].id)),
            None => Handle(format!("win:{}", win.id.0)),
        }
    }

    pub(crate) fn event(&mut self, kind: ElementEventKind, w: usize, e: Option<usize>, detail: &str) {
        let handle = self.handle(w, e);
        let pid = self.wins[w].pid;
        self.events.push(AxEvent { kind, handle, pid, detail: detail.to_owned() });
    }

    /// Opens window number `spec` of the scene afresh and makes it active; an open one comes forward.
    pub(crate) fn open(&mut self, spec: usize) -> WindowId {
        if let Some(win) = self.wins.iter().find(|w| w.spec == spec) {
            let id = win.id;
            self.activate(id);
            return id;
        }
        let scene = self.scene.clone();
        let s = &scene.windows[spec];
        let owner =
            s.owner.as_ref().and_then(|t| self.wins.iter().find(|w| w.title == *t)).map(|w| (w.id, w.pid));
        let app = scene.apps.iter().find(|a| a.launches.as_ref() == Some(&s.title));
        let pid = match (s.pid, owner) {
            (Some(pid), _) | (None, Some((_, pid))) => pid,
            _ => self.procs.iter().find(|p| p.class == s.app).map_or_else(
                || {
                    self.next_pid += 1;
                    self.next_pid
                },
                |p| p.pid,
            ),
        };
        if self.proc(pid).is_none() {
            self.procs.push(Proc {
                pid,
                app: app.map_or(s.app.as_str(), |a| &a.name).to_owned(),
                class: s.app.clone(),
                desktop_id: app.map(|a| a.desktop_id.clone()),
                program: app.map_or_else(|| s.app.clone(), |a| a.program.clone()),
                frozen: s.frozen,
                skip_until: None,
            });
        }
        let bounds = layout::window(s, spec, self.displays[0].bounds);
        let rects = layout::elements(s, bounds);
        let els = s.elements.iter().zip(rects).map(|(e, rect)| self.element(e, rect)).collect::<Vec<_>>();
        let id = WindowId(self.new_id());
        let focus = els.iter().position(|e| e.spec.focused);
        let mut win = Win {
            id,
            spec,
            title: s.title.clone(),
            pid,
            bounds,
            normal: bounds,
            minimized: s.minimized,
            maximized: s.maximized,
            modal: s.modal,
            dialog: s.dialog,
            owner: owner.map(|(id, _)| id),
            els,
            focus,
        };
        if s.maximized {
            win.bounds = self.displays[0].bounds;
        }
        let damaged = win.bounds;
        self.wins.insert(0, win);
        if !s.minimized {
            self.active = Some(id);
            self.damage.push(damaged);
        }
        self.event(ElementEventKind::WindowChanged, 0, None, "window:create");
        id
    }

    fn element(&mut self, spec: &ElementSpec, rect: Rect) -> El {
        El {
            id: self.new_id(),
            rect,
            name: spec.name.clone(),
            value: spec.value.clone().unwrap_or_default(),
            shown: !spec.hidden,
            enabled: !spec.disabled,
            checked: spec.checked,
            selected: spec.selected,
            expanded: false,
            gone: false,
            caret: spec.value.as_deref().unwrap_or_default().chars().count(),
            all_selected: false,
            scroll: 0,
            spec: spec.clone(),
        }
    }

    /// Puts a window (and its dialogs above it) on top.
    pub(crate) fn raise(&mut self, id: WindowId) {
        let Some(at) = self.win(id) else { return };
        let win = self.wins.remove(at);
        self.damage.push(win.bounds);
        self.wins.insert(0, win);
        let dialogs: Vec<WindowId> = self.wins.iter().filter(|w| w.owner == Some(id)).map(|w| w.id).collect();
        for dialog in dialogs {
            self.raise(dialog);
        }
        let scene = self.scene.clone();
        self.wins.sort_by_key(|w| !scene.windows[w.spec].above);
    }

    /// Brings a window to the front with the focus; a modal dialog of it takes the focus instead.
    pub(crate) fn activate(&mut self, id: WindowId) {
        let Some(w) = self.win(id) else { return };
        self.wins[w].minimized = false;
        let id = self.blocker(id).unwrap_or(id);
        if let Some(old) = self.active.and_then(|a| self.win(a)) {
            let bounds = self.wins[old].bounds;
            self.damage.push(bounds);
        }
        self.raise(id);
        if self.active != Some(id) {
            self.active = Some(id);
            if let Some(w) = self.win(id) {
                self.event(ElementEventKind::WindowChanged, w, None, "window:activate");
            }
        }
    }

    /// The modal dialog that keeps input from a window.
    pub(crate) fn blocker(&self, id: WindowId) -> Option<WindowId> {
        self.wins.iter().find(|w| w.modal && w.owner == Some(id)).map(|w| w.id)
    }

    /// Closes a window and its dialogs; a program without windows ends.
    pub(crate) fn close(&mut self, id: WindowId) {
        let Some(w) = self.win(id) else { return };
        self.event(ElementEventKind::WindowChanged, w, None, "window:destroy");
        let win = self.wins.remove(w);
        self.damage.push(win.bounds);
        let dialogs: Vec<WindowId> = self.wins.iter().filter(|d| d.owner == Some(id)).map(|d| d.id).collect();
        for dialog in dialogs {
            self.close(dialog);
        }
        if self.active == Some(id) {
            let owner = win.owner.filter(|o| self.win(*o).is_some());
            self.active = owner.or_else(|| self.wins.iter().find(|w| !w.minimized).map(|w| w.id));
        }
        if !self.wins.iter().any(|w| w.pid == win.pid) {
            self.procs.retain(|p| p.pid != win.pid);
        }
    }

    pub(crate) fn damage_el(&mut self, w: usize, e: usize) {
        if let Some(rect) = self.showing(w, e) {
            self.damage.push(rect);
        }
    }

    pub(crate) fn note(&mut self, event: InputEvent) {
        self.last_input = Some(Instant::now());
        self.log.push(event);
    }

    /// Physical size of an area at a scale.
    pub(crate) fn physical(area: Rect, scale: f64) -> Size {
        let scaled = |v: i32| (f64::from(v) * scale).round().max(0.0) as u32;
        Size { width: scaled(area.width), height: scaled(area.height) }
    }
}

/// The formats a text is offered in.
pub(crate) fn text_formats(text: &str) -> Vec<(String, Vec<u8>)> {
    ["text/plain;charset=utf-8", "UTF8_STRING"].map(|f| (f.to_owned(), text.as_bytes().to_vec())).to_vec()
}
