//! `deskhand call`.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::builder::{FalseyValueParser, PossibleValue};
use clap::{ArgAction, ValueEnum};
use deskhand_bridge::{CallRequest, Client};
use deskhand_protocol::{Error, ErrorCode, EvidenceLevel, MAX_REQUEST_BYTES, RequestId, Route};
use serde_json::{Value, json};

use crate::connect;
use crate::ctx::Ctx;
use crate::fail::{self, FAILED, Fail, Run};
use crate::image;
use crate::quote::quote;

/// How long to wait for a call that names no limit; its tool has one of its own.
const PATIENCE: Duration = Duration::from_secs(600);
/// What a call may wait for its lane, beside its own limit.
const QUEUE: Duration = Duration::from_secs(300);

/// Tools whose arguments are a text of their own, perhaps a secret one: it is not printed, and not
/// suggested for a command line, which a shell's history and other users (`ps`) would see.
const TEXT_TOOLS: [&str; 2] = ["type_text", "clipboard_write"];

/// Run one tool.
#[derive(clap::Args)]
#[command(
    after_help = "Tools that act answer DESKTOP_CONFIRM_REQUIRED with a phrase; send it back with --confirm.\nExit code 0 means that the call ran, not that it changed anything: look at `effect`. An action whose\neffect is suspected_noop (sent, and nothing changed) ends with 0, too.\n\nExamples:\n  deskhand call system_info\n  deskhand call screenshot '{\"mode\":\"fullscreen\"}' -o shot.jpg\n  deskhand call left_click '{\"x\":200,\"y\":120}' --confirm 'PHRASE'"
)]
pub(crate) struct Args {
    /// The tool; `deskhand tools` lists them.
    tool: String,
    /// Its arguments, a JSON object; `-` reads them from standard input.
    #[arg(value_name = "JSON")]
    args: Option<String>,
    /// The project whose policy applies.
    #[arg(long, env = "DESKHAND_PROJECT", value_name = "P")]
    project: Option<String>,
    /// The phrase the first call was answered with.
    #[arg(long, env = "DESKHAND_CONFIRM", value_name = "PHRASE")]
    confirm: Option<String>,
    /// Hard limit in milliseconds. Default: the tool's own.
    #[arg(long, env = "DESKHAND_TIMEOUT", value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    timeout: Option<u64>,
    /// Where it is meant to go: {"app","window","display","focusPolicy"}.
    #[arg(long, env = "DESKHAND_ROUTE", value_name = "JSON")]
    route: Option<String>,
    /// Answer at once, without looking at what changed.
    #[arg(long, env = "DESKHAND_NO_VERIFY", action = ArgAction::SetTrue, value_parser = FalseyValueParser::new())]
    no_verify: bool,
    /// How much evidence to keep. Default: what the tool declares.
    #[arg(long, env = "DESKHAND_EVIDENCE", value_name = "LEVEL")]
    evidence: Option<Keep>,
    /// Fetch the confirmation phrase and send it at once. Only for your own scripts; it never stands
    /// for an approval.
    #[arg(long, env = "DESKHAND_YES", action = ArgAction::SetTrue, value_parser = FalseyValueParser::new())]
    yes: bool,
    /// An id of your own for the request; it names the evidence bundle.
    #[arg(long, env = "DESKHAND_REQUEST_ID", value_name = "ID")]
    request_id: Option<String>,
    /// Write the picture of the result into this file.
    #[arg(short, long, env = "DESKHAND_CALL_OUTPUT", value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Keep {
    /// Only what must be kept.
    Minimal,
    /// Before, after, tree, candidates.
    Full,
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let request = request(args)?;
    let client = connect::client(&ctx.home()?)?;
    let mut outcome = send(&client, &request, args.yes)?;
    let failed = outcome.get("error").is_some_and(|error| !error.is_null());
    let written = match (&args.output, failed) {
        (Some(path), false) => Some(write_picture(&outcome, path)?),
        _ => None,
    };
    if ctx.json {
        ctx.json(&outcome)?;
    }
    if failed {
        let error: Error = connect::read("call", outcome["error"].clone())?;
        tell_failure(ctx, args, &request, error);
        return Ok(FAILED);
    }
    if !ctx.json {
        tell_result(ctx, &mut outcome, args.output.is_some())?;
    }
    if let (Some(bytes), Some(path)) = (written, &args.output) {
        ctx.note(&ctx.lang.image_written(path.display(), image::kilobytes(bytes)));
    }
    Ok(0)
}

fn request(args: &Args) -> Result<CallRequest, Fail> {
    let mut request = CallRequest::new(&args.tool, arguments(args.args.as_deref())?);
    request.request_id = args.request_id.as_deref().map(RequestId::from);
    request.timeout_ms = args.timeout;
    request.confirm = args.confirm.clone();
    request.project = args.project.clone();
    request.options.verify = args.no_verify.then_some(false);
    request.options.evidence = args.evidence.map(|keep| match keep {
        Keep::Minimal => EvidenceLevel::Minimal,
        Keep::Full => EvidenceLevel::Full,
    });
    request.route = args.route.as_deref().map(route).transpose()?;
    Ok(request)
}

fn route(text: &str) -> Result<Route, Fail> {
    // An array would be taken for the fields in their order, so it is read as an object first.
    let read = serde_json::from_str::<serde_json::Map<String, Value>>(text);
    read.and_then(|fields| serde_json::from_value(Value::Object(fields))).map_err(|error| {
        Fail::usage(
            format!("--route is not a route: {error}"),
            r#"such as --route '{"window":{"titlePattern":"Notes"}}'"#,
        )
    })
}

fn arguments(given: Option<&str>) -> Result<Value, Fail> {
    let text = match given {
        None => return Ok(json!({})),
        Some("-") => read_stdin()?,
        Some(text) => text.to_owned(),
    };
    let hint = r#"give one object, such as '{"x":200,"y":120}'; `deskhand describe TOOL` shows the fields"#;
    match serde_json::from_str(&text) {
        Ok(value @ Value::Object(_)) => Ok(value),
        Ok(_) => Err(Fail::usage("the arguments are not a JSON object", hint)),
        Err(error) => Err(Fail::usage(format!("the arguments are not JSON: {error}"), hint)),
    }
}

fn read_stdin() -> Result<String, Fail> {
    let mut text = String::new();
    let most = MAX_REQUEST_BYTES as u64;
    std::io::stdin().take(most + 1).read_to_string(&mut text).map_err(|error| {
        Fail::usage(format!("standard input cannot be read: {error}"), "give the arguments as text")
    })?;
    if text.len() as u64 > most {
        let error =
            Error::new(ErrorCode::FrameTooLarge, format!("the arguments are longer than {most} bytes"));
        return Err(error.detail("limitBytes", most).into());
    }
    Ok(text)
}

/// Sends a call and waits for its outcome. With `yes` a phrase that is asked for is sent back.
pub(crate) fn send(client: &Client, request: &CallRequest, yes: bool) -> Result<Value, Error> {
    let limit = request.timeout_ms.map_or(PATIENCE, |ms| Duration::from_millis(ms) + QUEUE);
    let first = client.call(request.clone(), limit);
    if !yes || request.confirm.is_some() {
        return first;
    }
    let error = match &first {
        Ok(outcome) => outcome.get("error").cloned().and_then(|error| serde_json::from_value(error).ok()),
        Err(error) => Some(error.clone()),
    };
    let asked = error.filter(|error: &Error| error.code == ErrorCode::ConfirmRequired);
    match asked.as_ref().and_then(phrase) {
        Some(phrase) => {
            client.call(CallRequest { confirm: Some(phrase.to_owned()), ..request.clone() }, limit)
        }
        None => first,
    }
}

/// The phrase an error asks for.
fn phrase(error: &Error) -> Option<&str> {
    error.details.get("phrase").and_then(Value::as_str)
}

fn write_picture(outcome: &Value, path: &Path) -> Result<usize, Fail> {
    let picture = outcome.get("result").and_then(image::decode).ok_or_else(|| {
        Error::new(ErrorCode::NotFound, format!("the result has no picture to write to {}", path.display()))
            .hint("only results with `image` or `screenshot.image` have one; leave -o out")
    })?;
    std::fs::write(path, &picture).map_err(|error| fail::file("write", path, &error))?;
    Ok(picture.len())
}

fn tell_result(ctx: &Ctx, outcome: &mut Value, written: bool) -> Result<(), Fail> {
    let mut result = outcome["result"].take();
    let hidden = |kilobytes| if written { "…".to_owned() } else { ctx.lang.image_hidden(kilobytes) };
    image::hide(&mut result, hidden);
    let text = serde_json::to_string_pretty(&result).map_err(std::io::Error::from)?;
    ctx.line(&ctx.out.foreign(&text))?;
    if let Some(effect) = outcome.get("effect").filter(|effect| effect.is_object()) {
        let word = |key: &str| effect.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let verdict = match word("effect").as_str() {
            good @ "confirmed" => ctx.err.green(good),
            bad @ ("suspected_noop" | "refused") => ctx.err.red(bad),
            other => ctx.err.yellow(other),
        };
        ctx.note(&format!("{}: {verdict} {}", ctx.lang.label_effect(), ctx.err.dim(&word("why"))));
    }
    if let Some(path) = outcome.pointer("/evidence/path").and_then(Value::as_str) {
        ctx.note(&format!("{}: {}", ctx.lang.label_evidence(), ctx.err.foreign(path)));
    }
    Ok(())
}

/// Why it failed; with --json the outcome on standard output has said it already. Then how to
/// confirm it, if that is what it wants: the phrase, and the line to type.
fn tell_failure(ctx: &Ctx, args: &Args, request: &CallRequest, mut error: Error) {
    let phrase = phrase(&error).filter(|_| error.code == ErrorCode::ConfirmRequired).map(str::to_owned);
    if phrase.is_some() {
        // Told below, in words for people.
        error.hint.clear();
        error.details.clear();
    }
    if !ctx.json {
        fail::tell_people(ctx, &error);
    }
    let Some(phrase) = phrase.as_deref() else { return };
    ctx.note(&ctx.lang.confirm_needed(ctx.err.bold(phrase)));
    let (line, by_stdin) = again(args, request, phrase);
    ctx.note(&format!("{}\n  {}", ctx.lang.confirm_command(), ctx.err.foreign(&line)));
    if by_stdin {
        ctx.note(&format!("  {}", ctx.err.dim(&ctx.lang.confirm_stdin())));
    }
}

/// The same call with its phrase, as it is typed: all that the phrase is bound to, and all else that
/// was asked for. Whether its arguments come by standard input, since they are a text that may be
/// secret, or came that way the first time.
fn again(args: &Args, request: &CallRequest, phrase: &str) -> (String, bool) {
    let by_stdin = args.args.as_deref() == Some("-") || TEXT_TOOLS.contains(&args.tool.as_str());
    let json = if by_stdin { "-".to_owned() } else { quote(&request.args.to_string()) };
    let mut line = format!("deskhand call {} {json}", quote(&args.tool));
    let mut flag = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            line.push_str(&format!(" {name} {}", quote(value)));
        }
    };
    flag("--project", args.project.as_deref());
    flag("--route", args.route.as_deref());
    flag("--timeout", args.timeout.map(|ms| ms.to_string()).as_deref());
    let keep = args.evidence.and_then(|keep| keep.to_possible_value());
    flag("--evidence", keep.as_ref().map(PossibleValue::get_name));
    flag("--request-id", args.request_id.as_deref());
    flag("--output", args.output.as_ref().map(|path| path.to_string_lossy()).as_deref());
    flag("--confirm", Some(phrase));
    if args.no_verify {
        line.push_str(" --no-verify");
    }
    (line, by_stdin)
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    /// What is suggested, read again as a command line, is the same call with its phrase.
    #[test]
    fn the_suggested_line_keeps_everything() {
        let typed = [
            "call",
            "left_click",
            r#"{"x":1}"#,
            "--project",
            "my app",
            "--route",
            r#"{"app":{"pid":4}}"#,
            "--timeout",
            "900",
            "--no-verify",
            "--evidence",
            "full",
            "--request-id",
            "mine",
            "-o",
            "a b.png",
        ];
        let args = Line::parse_from(typed).args;
        let sent = request(&args).unwrap();
        let (line, by_stdin) = again(&args, &sent, "it's mine");
        assert!(!by_stdin);
        let shell = format!("printf '%s\\0' {}", line.strip_prefix("deskhand ").unwrap());
        let words = std::process::Command::new("sh").arg("-c").arg(shell).output().unwrap().stdout;
        let words = String::from_utf8(words).unwrap();
        let read = Line::parse_from(words.split_terminator('\0')).args;
        assert_eq!(read.output, args.output);
        let expected = CallRequest { confirm: Some("it's mine".to_owned()), ..sent };
        assert_eq!(format!("{:?}", request(&read).unwrap()), format!("{expected:?}"));
    }

    #[test]
    fn text_is_not_suggested_for_a_command_line() {
        for (tool, json) in
            [("type_text", r#"{"text":"hunter2"}"#), ("clipboard_write", r#"{"text":"hunter2"}"#)]
        {
            let args = Line::parse_from(["call", tool, json]).args;
            let (line, by_stdin) = again(&args, &request(&args).unwrap(), "p");
            assert!(by_stdin && !line.contains("hunter2"), "{line}");
            assert_eq!(line, format!("deskhand call {tool} - --confirm p"));
        }
    }

    #[test]
    fn arguments_must_be_an_object() {
        assert_eq!(arguments(None).unwrap(), json!({}));
        assert_eq!(arguments(Some(r#"{"x":1}"#)).unwrap(), json!({ "x": 1 }));
        for (wrong, words) in [("[1]", "not a JSON object"), ("{x}", "column 2"), ("", "EOF")] {
            match arguments(Some(wrong)) {
                Err(Fail::Usage(error)) => {
                    assert!(error.message.contains(words), "{wrong}: {}", error.message)
                }
                other => panic!("{wrong}: {other:?}"),
            }
        }
    }
}
