//! What a tool is, and how the host runs one without knowing its types.

use deskhand_protocol::{Error, ErrorCode, Result, Risk, ToolInfo, ToolMeta};
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::aim::short;
use crate::route::windows_json;
use crate::{Ctx, Done, Watch};

/// What the arguments of one call show about its risk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assess {
    /// A risk above the tool's own.
    pub raise_to: Option<Risk>,
    /// Why.
    pub why: Vec<String>,
}

/// A tool. The doc comment of `Input` is the description a model reads.
pub trait Tool: 'static {
    /// The arguments.
    type Input: DeserializeOwned + JsonSchema + Send;
    /// The result.
    type Output: Serialize + JsonSchema;
    /// Everything the gate must know.
    const META: ToolMeta;

    /// What can be said about the arguments without a desktop; called before anybody is asked to
    /// confirm the call.
    fn check(_input: &Self::Input) -> Result<()> {
        Ok(())
    }

    /// Raises the risk from the arguments.
    fn assess(_input: &Self::Input) -> Assess {
        Assess::default()
    }

    /// Does it.
    fn run(input: Self::Input, ctx: &Ctx<'_>) -> Result<Done<Self::Output>>;
}

/// Arguments that were parsed; knows its tool.
pub trait Parsed: Send {
    /// What the arguments show.
    fn assess(&self) -> Assess;
    /// Runs the tool.
    fn run(self: Box<Self>, ctx: &Ctx<'_>) -> Result<(Value, Watch)>;
}

/// A tool without its types.
pub trait AnyTool: Sync {
    /// What it declares.
    fn meta(&self) -> &'static ToolMeta;
    /// What it declares, with description and schemas.
    fn info(&self) -> ToolInfo;
    /// Reads the arguments; an error names the field, the value and the fix.
    fn parse(&self, args: Value) -> Result<Box<dyn Parsed>>;
}

/// Hides a tool's types.
pub(crate) struct Erased<T>(std::marker::PhantomData<fn() -> T>);

impl<T> Erased<T> {
    pub(crate) const fn new() -> Self {
        Self(std::marker::PhantomData)
    }
}

struct Ready<T: Tool>(T::Input);

impl<T: Tool> Parsed for Ready<T> {
    fn assess(&self) -> Assess {
        T::assess(&self.0)
    }

    fn run(self: Box<Self>, ctx: &Ctx<'_>) -> Result<(Value, Watch)> {
        let done = T::run(self.0, ctx).map_err(|e| complete(e, ctx))?;
        let value = serde_json::to_value(&done.output)
            .map_err(|e| Error::new(ErrorCode::Internal, format!("{}: {e}", T::META.name)))?;
        Ok((value, done.watch))
    }
}

impl<T: Tool> AnyTool for Erased<T> {
    fn meta(&self) -> &'static ToolMeta {
        const { &T::META }
    }

    fn info(&self) -> ToolInfo {
        let meta = self.meta();
        let schema = |generator: SchemaGenerator, root: fn(SchemaGenerator) -> schemars::Schema| {
            let mut value = root(generator).to_value();
            if let Some(map) = value.as_object_mut() {
                map.remove("$schema");
                map.remove("title");
            }
            value
        };
        let generator =
            || SchemaSettings::draft2020_12().with(|s| s.inline_subschemas = true).into_generator();
        let mut input_schema = schema(looped(generator()), |g| g.into_root_schema_for::<T::Input>());
        let output_schema = schema(looped(generator()), |g| g.into_root_schema_for::<T::Output>());
        let description = input_schema
            .as_object_mut()
            .and_then(|m| m.remove("description"))
            .and_then(|d| d.as_str().map(str::to_owned))
            .unwrap_or_default();
        ToolInfo {
            name: meta.name.to_owned(),
            title: meta.title.to_owned(),
            title_zh: meta.title_zh.to_owned(),
            description,
            risk: meta.risk,
            category: meta.category,
            category_zh: meta.category.names().1.to_owned(),
            level: meta.level,
            read_only: meta.read_only,
            lane: meta.lane,
            needs: meta.needs.to_vec(),
            evidence: meta.evidence,
            platforms: meta.platforms.to_vec(),
            local_only: meta.local_only,
            timeout_ms: meta.timeout_ms,
            roles: meta.roles.iter().map(|r| (*r).to_owned()).collect(),
            input_schema,
            output_schema,
        }
    }

    fn parse(&self, args: Value) -> Result<Box<dyn Parsed>> {
        let args = if args.is_null() { Value::Object(serde_json::Map::new()) } else { args };
        // A list would fill the fields by position, and what hides secrets goes by their names.
        if !args.is_object() {
            let name = self.meta().name;
            return Err(Error::new(
                ErrorCode::InvalidInput,
                format!("{name}: the arguments are {}; give an object with named fields", in_words(&args)),
            )
            .hint(format!("`deskhand describe {name}` shows the fields"))
            .detail("field", "."));
        }
        let given = args.clone();
        match serde_path_to_error::deserialize::<_, T::Input>(args) {
            Ok(input) => {
                T::check(&input)?;
                Ok(Box::new(Ready::<T>(input)))
            }
            Err(e) => Err(wrong_field(self.meta().name, &given, &e)),
        }
    }
}

/// Selectors contain selectors (`near`), so subschemas cannot all be inlined; schemars then keeps a
/// definition for the recursive one by itself.
fn looped(generator: SchemaGenerator) -> SchemaGenerator {
    generator
}

/// Facts every error of a tool carries: whether something was sent before it, and the windows its hint
/// speaks of.
fn complete(error: Error, ctx: &Ctx<'_>) -> Error {
    let mut error = error;
    if ctx.sent() {
        error = error.detail("sent", true);
    }
    if error.hint.contains("details.windows")
        && !error.details.contains_key("windows")
        && let Ok(all) = ctx.desktop.windows.list()
    {
        error = error.detail("windows", windows_json(&all));
    }
    error
}

fn wrong_field(tool: &str, given: &Value, e: &serde_path_to_error::Error<serde_json::Error>) -> Error {
    let path = e.path().to_string();
    let mut what = e.inner().to_string();
    let pointer = format!("/{}", path.replace(['.', '['], "/").replace(']', ""));
    let secret = pointer.split('/').any(is_private);
    if secret {
        // The reader quotes what it could not take; only what it wanted is told.
        what = what
            .split_once("expected ")
            .map_or_else(|| "it cannot be taken".to_owned(), |(_, wanted)| format!("expected {wanted}"));
    }
    let value = given.pointer(&pointer).map(|v| match v {
        Value::String(text) if !secret => format!("{:?}", short(text, 80)),
        Value::Null | Value::Bool(_) | Value::Number(_) if !secret => v.to_string(),
        // What lies in a list or an object may be anything.
        v => in_words(v),
    });
    let place = if path == "." { "arguments".to_owned() } else { format!("argument `{path}`") };
    let message = match &value {
        Some(value) if path != "." => format!("{tool}: {place} is {value}: {what}"),
        _ => format!("{tool}: {place}: {what}"),
    };
    Error::new(ErrorCode::InvalidInput, message)
        .hint(format!("`deskhand describe {tool}` shows the fields"))
        .detail("field", path)
        .detail("value", value.unwrap_or_default())
}

/// A value's kind and length, without the value.
fn in_words(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "a truth value".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::String(text) => format!("a text of {} characters", text.chars().count()),
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(fields) => format!("an object of {} fields", fields.len()),
    }
}

/// Fields whose value is nobody's business, by name: what is typed, and what is named like a secret.
fn is_private(field: &str) -> bool {
    const WHOLE: &[&str] = &["text", "body", "args", "pwd", "pass", "pin", "otp", "auth"];
    const PARTS: &[&str] =
        &["passw", "passphrase", "passcode", "secret", "token", "key", "credential", "cookie"];
    let plain: String = field.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    WHOLE.contains(&plain.as_str()) || (plain != "keys" && PARTS.iter().any(|part| plain.contains(part)))
}
