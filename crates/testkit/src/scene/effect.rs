//! What happens when something is pressed: the words after `->`.

use std::time::Duration;

use super::words::Word;
use super::{PARTS, SceneError};

/// One effect. Texts may hold `{#id}`, which stands for that element's value at that moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// `nothing`
    Nothing,
    /// `set #id "text"`: its value (and its name, for labels).
    Set(String, String),
    /// `rename #id "name"`
    Rename(String, String),
    /// `open ["window"] "Title"`
    Open(String),
    /// `close [window "Title"]`: without a title the window the effect belongs to.
    Close(Option<String>),
    /// `show #id`
    Show(String),
    /// `hide #id`
    Hide(String),
    /// `enable #id`
    Enable(String),
    /// `disable #id`
    Disable(String),
    /// `remove #id`: its handle is stale from then on.
    Remove(String),
    /// `focus #id` (and its window)
    Focus(String),
    /// `activate "Title"`: another window comes to the front.
    Activate(String),
    /// `toggle #id`: checked or not.
    Toggle(String),
    /// `select #id`
    Select(String),
    /// `type "text"` into what has the focus.
    Type(String),
    /// `freeze [app "name"]`: it answers nothing any more.
    Freeze(Option<String>),
    /// `thaw "name"`
    Thaw(String),
    /// `quit [app "name"]`
    Quit(Option<String>),
    /// `break PART`
    Break(String),
    /// `mend PART`
    Mend(String),
    /// `after MS EFFECT`: later, without holding anybody up.
    After(Duration, Box<Effect>),
}

impl Effect {
    /// The `#id` it names, if any.
    pub(crate) fn target(&self) -> Option<&str> {
        match self {
            Effect::Set(id, _)
            | Effect::Rename(id, _)
            | Effect::Show(id)
            | Effect::Hide(id)
            | Effect::Enable(id)
            | Effect::Disable(id)
            | Effect::Remove(id)
            | Effect::Focus(id)
            | Effect::Toggle(id)
            | Effect::Select(id) => Some(id),
            Effect::After(_, inner) => inner.target(),
            _ => None,
        }
    }

    /// The window it names, if any.
    pub(crate) fn window(&self) -> Option<&str> {
        match self {
            Effect::Open(title) | Effect::Close(Some(title)) | Effect::Activate(title) => Some(title),
            Effect::After(_, inner) => inner.window(),
            _ => None,
        }
    }
}

/// The effects after `->`, parted by `;`.
pub(crate) fn effects(line: usize, words: &[Word]) -> Result<Vec<Effect>, SceneError> {
    words.split(|w| *w == Word::Semicolon).map(|part| effect(line, part)).collect()
}

fn effect(line: usize, words: &[Word]) -> Result<Effect, SceneError> {
    let fail = |what: &str| Err(SceneError::new(line, format!("{what} in the effect `{}`", said(words))));
    let Some(Word::Bare(verb)) = words.first() else {
        return fail(
            "a verb (set, open, close, show, hide, focus, toggle, type, freeze, nothing…) is missing",
        );
    };
    // `window` and `app` only help the reader.
    let args: Vec<&Word> =
        words[1..].iter().filter(|w| !matches!(w, Word::Bare(b) if b == "window" || b == "app")).collect();
    Ok(match (verb.as_str(), args.as_slice()) {
        ("nothing", []) => Effect::Nothing,
        ("set", [Word::Id(id), Word::Text(text)]) => Effect::Set(id.clone(), text.clone()),
        ("rename", [Word::Id(id), Word::Text(text)]) => Effect::Rename(id.clone(), text.clone()),
        ("open", [Word::Text(title)]) => Effect::Open(title.clone()),
        ("close", []) => Effect::Close(None),
        ("close", [Word::Text(title)]) => Effect::Close(Some(title.clone())),
        ("show", [Word::Id(id)]) => Effect::Show(id.clone()),
        ("hide", [Word::Id(id)]) => Effect::Hide(id.clone()),
        ("enable", [Word::Id(id)]) => Effect::Enable(id.clone()),
        ("disable", [Word::Id(id)]) => Effect::Disable(id.clone()),
        ("remove", [Word::Id(id)]) => Effect::Remove(id.clone()),
        ("focus", [Word::Id(id)]) => Effect::Focus(id.clone()),
        ("activate", [Word::Text(title)]) => Effect::Activate(title.clone()),
        ("toggle", [Word::Id(id)]) => Effect::Toggle(id.clone()),
        ("select", [Word::Id(id)]) => Effect::Select(id.clone()),
        ("type", [Word::Text(text)]) => Effect::Type(text.clone()),
        ("freeze", []) => Effect::Freeze(None),
        ("freeze", [Word::Text(app)]) => Effect::Freeze(Some(app.clone())),
        ("thaw", [Word::Text(app)]) => Effect::Thaw(app.clone()),
        ("quit", []) => Effect::Quit(None),
        ("quit", [Word::Text(app)]) => Effect::Quit(Some(app.clone())),
        ("break", [Word::Bare(part)]) if PARTS.contains(&part.as_str()) => Effect::Break(part.clone()),
        ("mend", [Word::Bare(part)]) if PARTS.contains(&part.as_str()) => Effect::Mend(part.clone()),
        ("after", [Word::Bare(ms), ..]) => {
            let Ok(ms) = ms.parse() else { return fail("`after` wants milliseconds") };
            Effect::After(Duration::from_millis(ms), Box::new(effect(line, &words[2..])?))
        }
        _ => return fail("unknown verb or wrong arguments"),
    })
}

fn said(words: &[Word]) -> String {
    words.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
