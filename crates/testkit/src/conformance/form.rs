//! The form in the hands of a case, and words cases share.

use std::time::{Duration, Instant};

use deskhand_platform::{
    Button, Desktop, Element, Key, Modifier, PlatformError, Root, Scope, Tree, TreeQuery, Window,
    WindowChange, WindowId,
};
use deskhand_protocol::{Point, Role};

use super::{FORM_APP, FormApp, Stage};

pub(crate) type Outcome<T = ()> = Result<T, String>;

/// Long enough for a loaded machine; waits end as soon as what they wait for is there.
pub(crate) const PATIENCE: Duration = Duration::from_secs(15);

/// Leaves the case with words when a condition does not hold.
macro_rules! ensure {
    ($cond:expr, $($said:tt)+) => {
        if !$cond {
            return Err(format!($($said)+));
        }
    };
}
pub(crate) use ensure;

/// Leaves the case unless the result is an error of this kind.
macro_rules! ensure_err {
    ($result:expr, $pattern:pat) => {
        match $result {
            Err($pattern) => {}
            Err(other) => return Err(format!("expected {}, got the error {other:?}", stringify!($pattern))),
            Ok(_) => return Err(format!("expected {}, got an answer", stringify!($pattern))),
        }
    };
}
pub(crate) use ensure_err;

/// Errors as words, with what was being done.
pub(crate) trait Say<T> {
    fn say(self, doing: &str) -> Outcome<T>;
}

impl<T> Say<T> for Result<T, PlatformError> {
    fn say(self, doing: &str) -> Outcome<T> {
        self.map_err(|e| format!("{doing}: {e} ({e:?})"))
    }
}

impl<T> Say<T> for Option<T> {
    fn say(self, doing: &str) -> Outcome<T> {
        self.ok_or_else(|| format!("{doing}: nothing"))
    }
}

/// A scope that ends after [`PATIENCE`].
pub(crate) fn patient() -> Scope {
    Scope::timeout(PATIENCE)
}

/// A scope of milliseconds.
pub(crate) fn ms(time: u64) -> Scope {
    Scope::timeout(Duration::from_millis(time))
}

/// Asks again and again until there is an answer.
pub(crate) fn until<T>(what: &str, mut ask: impl FnMut() -> Outcome<Option<T>>) -> Outcome<T> {
    let end = Instant::now() + PATIENCE;
    let mut last = String::new();
    loop {
        match ask() {
            Ok(Some(found)) => return Ok(found),
            Ok(None) => {}
            Err(e) => last = format!(" (last: {e})"),
        }
        if Instant::now() > end {
            return Err(format!("waited in vain until {what}{last}"));
        }
        std::thread::sleep(Duration::from_millis(15));
    }
}

/// A query without tight bounds.
pub(crate) fn query(root: Root) -> TreeQuery {
    TreeQuery {
        root,
        max_depth: 64,
        max_nodes: 5000,
        max_wall: PATIENCE,
        include_text: true,
        visible_only: false,
    }
}

/// The running form.
pub(crate) struct Form<'a> {
    pub(crate) desktop: &'a Desktop,
    pub(crate) app: FormApp,
    pub(crate) window: WindowId,
}

impl<'a> Form<'a> {
    /// Starts it, waits for its window and its tree, and gives it the focus.
    pub(crate) fn open(stage: &'a dyn Stage) -> Outcome<Form<'a>> {
        let app = stage.launch_form()?;
        let desktop = stage.desktop();
        let pid = app.pid;
        let window = until("the form's window shows", || {
            Ok(desktop
                .windows
                .list()
                .say("list")?
                .into_iter()
                .find(|w| w.title == FORM_APP && w.pid == Some(pid)))
        })?;
        let form = Form { desktop, app, window: window.id };
        form.find(Role::Button, "Apply")?;
        until("the form has the focus", || {
            desktop.windows.activate(form.window, &patient()).say("activate")?;
            Ok(desktop.windows.active().say("active")?.filter(|w| w.id == form.window))
        })?;
        form.put_at(Point::new(200, 150))?;
        Ok(form)
    }

    /// Puts the window at a known place and waits until the toolkit knows. On X11 this also waits for
    /// a window manager that still has the last form's window under the same id: X gives ids again at
    /// once, and until the manager has seen the end of the old window the new one is not managed.
    fn put_at(&self, at: Point) -> Outcome {
        let place = WindowChange::Bounds { x: Some(at.x), y: Some(at.y), width: None, height: None };
        until("the form's window is put in its place", || {
            self.desktop.windows.change(self.window, place, &patient()).say("move")?;
            let me = self.me()?;
            Ok((me.bounds.x == at.x && me.bounds.y == at.y).then_some(()))
        })?;
        until("the form's parts are inside its window", || {
            let (content, button) = (self.me()?.content, self.find(Role::Button, "Apply")?.rect);
            Ok(button.filter(|r| content.contains_rect(r)).map(|_| ()))
        })
    }

    pub(crate) fn tree(&self) -> Outcome<Tree> {
        self.desktop.elements.tree(&query(Root::App(self.app.pid)), &patient()).say("tree of the form")
    }

    /// The element of a role and name, as soon as it is there. `…` and `...` are the same.
    pub(crate) fn find(&self, role: Role, name: &str) -> Outcome<Element> {
        let plain = |s: &str| s.replace("...", "…").trim().to_owned();
        until(&format!("the form has a {role} {name:?}"), || {
            let fits = |e: &Element| e.role == role && plain(&e.name) == plain(name);
            Ok(self.tree()?.nodes.into_iter().map(|n| n.element).find(fits))
        })
    }

    /// The same that also shows at a place.
    pub(crate) fn shown(&self, role: Role, name: &str) -> Outcome<Element> {
        until(&format!("the {role} {name:?} shows"), || {
            Ok(Some(self.find(role, name)?)
                .filter(|e| e.states.showing && e.rect.is_some_and(|r| !r.is_empty())))
        })
    }

    pub(crate) fn at(&self, role: Role, name: &str) -> Outcome<Point> {
        self.shown(role, name)?.rect.map(|r| r.center()).say("its place")
    }

    /// Clicks in the middle of an element with the mouse.
    pub(crate) fn click(&self, role: Role, name: &str) -> Outcome {
        self.click_at(self.at(role, name)?)
    }

    pub(crate) fn click_at(&self, at: Point) -> Outcome {
        let (input, scope) = (&self.desktop.input, patient());
        input.move_to(at, &scope).say("move")?;
        input.button(Button::Left, true, &scope).say("press")?;
        input.button(Button::Left, false, &scope).say("release")
    }

    /// Clicks into the name field and waits until it has the focus; tells what has it instead.
    pub(crate) fn focus_name(&self) -> Outcome<Element> {
        self.click(Role::TextField, "Name")?;
        let focused = until("the name field has the focus", || {
            Ok(Some(self.find(Role::TextField, "Name")?).filter(|e| e.states.focused))
        });
        focused.map_err(|e| {
            let active = self.desktop.windows.active().ok().flatten().map(|w| (w.title, w.pid));
            let has_it =
                self.desktop.elements.focused(&patient()).ok().flatten().map(|e| (e.role, e.name, e.pid));
            let pointer = self.desktop.input.pointer().ok();
            format!(
                "{e}: the active window is {active:?}, the focus is on {has_it:?}, the pointer at {pointer:?}"
            )
        })
    }

    pub(crate) fn text(&self, element: &Element) -> Outcome<String> {
        Ok(self.desktop.elements.text(&element.handle, 1 << 20, &patient()).say("text")?.text)
    }

    /// Waits until an element's text is this; tells what it was instead.
    pub(crate) fn until_text(&self, element: &Element, wanted: &str) -> Outcome {
        let mut last = String::new();
        let came = until("the text is as wanted", || {
            last = self.text(element)?;
            Ok((last == wanted).then_some(()))
        });
        came.map_err(|e| format!("{e}: wanted {wanted:?}, has {last:?}"))
    }

    /// Waits until the label says what was applied.
    pub(crate) fn until_result(&self, wanted: &str) -> Outcome {
        let wanted = format!("Result: {wanted}");
        self.find(Role::Label, wanted.trim()).map(|_| ())
    }

    /// Opens the dialog by its menu entry and returns its window.
    pub(crate) fn open_dialog(&self) -> Outcome<Window> {
        self.pick("Save As…")?;
        self.window_titled("Save As")
    }

    pub(crate) fn pick(&self, entry: &str) -> Outcome {
        let item = self.find(Role::MenuItem, entry)?;
        let act = deskhand_platform::ElementAction::Press;
        self.desktop.elements.act(&item.handle, &act, &patient()).say("picking the entry").map(|_| ())
    }

    /// Waits for a window of the form.
    pub(crate) fn window_titled(&self, title: &str) -> Outcome<Window> {
        until(&format!("the window {title:?} shows"), || {
            let list = self.desktop.windows.list().say("list")?;
            Ok(list.into_iter().find(|w| w.title == title && w.pid == Some(self.app.pid)))
        })
    }

    pub(crate) fn me(&self) -> Outcome<Window> {
        self.desktop
            .windows
            .list()
            .say("list")?
            .into_iter()
            .find(|w| w.id == self.window)
            .say("the form's window")
    }
}

/// Ctrl and a letter.
pub(crate) fn ctrl(c: char) -> [Key; 2] {
    [Key::Modifier(Modifier::Ctrl), Key::Char(c)]
}
