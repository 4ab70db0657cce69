//! `deskhand batch`: many calls over one warm connection.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::PathBuf;

use clap::ArgAction;
use clap::builder::FalseyValueParser;
use deskhand_bridge::{CallRequest, Client};
use deskhand_config::Home;
use deskhand_protocol::{CallOptions, Error, ErrorCode, MAX_REQUEST_BYTES, RequestId, Route};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::call;
use crate::connect;
use crate::ctx::{Ctx, for_stream};
use crate::fail::{self, FAILED, Fail, Run};

/// Run many tools: JSON Lines in, one outcome per line out, in order.
#[derive(clap::Args)]
#[command(
    after_help = "A line: {\"tool\",\"args\"?,\"route\"?,\"confirm\"?,\"timeoutMs\"?,\"project\"?,\"options\"?,\"requestId\"?}\nA line that cannot be read gives an error line; empty lines are skipped. Exit code 1 if any failed.\n\nExample:\n  printf '%s\\n' '{\"tool\":\"system_info\"}' '{\"tool\":\"app_list\"}' | deskhand batch -"
)]
pub(crate) struct Args {
    /// The file with the calls; `-` or nothing reads standard input.
    file: Option<PathBuf>,
    /// Fetch each confirmation phrase and send it at once. Only for your own scripts; it never stands
    /// for an approval.
    #[arg(long, env = "DESKHAND_YES", action = ArgAction::SetTrue, value_parser = FalseyValueParser::new())]
    yes: bool,
    /// Go on after a call that failed. This is the default; it overrides --fail-fast.
    #[arg(long, env = "DESKHAND_BATCH_KEEP_GOING", action = ArgAction::SetTrue, value_parser = FalseyValueParser::new())]
    keep_going: bool,
    /// After a call that failed send no more; the rest answers DESKTOP_ABORTED.
    #[arg(long, env = "DESKHAND_BATCH_FAIL_FAST", action = ArgAction::SetTrue, value_parser = FalseyValueParser::new())]
    fail_fast: bool,
}

/// One line of the input.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Line {
    tool: String,
    #[serde(default)]
    args: Option<Map<String, Value>>,
    #[serde(default)]
    route: Option<Route>,
    #[serde(default)]
    confirm: Option<String>,
    #[serde(default)]
    timeout_ms: Option<u64>,
    #[serde(default)]
    project: Option<String>,
    #[serde(default)]
    options: CallOptions,
    #[serde(default)]
    request_id: Option<RequestId>,
}

impl From<Line> for CallRequest {
    fn from(line: Line) -> Self {
        Self {
            tool: line.tool,
            args: Value::Object(line.args.unwrap_or_default()),
            request_id: line.request_id,
            timeout_ms: line.timeout_ms,
            route: line.route,
            confirm: line.confirm,
            project: line.project,
            options: line.options,
        }
    }
}

pub(crate) fn run(args: &Args, ctx: &Ctx) -> Run {
    let mut input: Box<dyn BufRead> = match &args.file {
        Some(path) if path.as_os_str() != "-" => {
            Box::new(BufReader::new(File::open(path).map_err(|error| fail::file("open", path, &error))?))
        }
        _ => Box::new(BufReader::new(io::stdin())),
    };
    let mut host = Host { home: ctx.home()?, client: None };
    // Known before the first line is read, so that nothing waits for input in vain.
    host.client()?;
    let fail_fast = args.fail_fast && !args.keep_going;
    let (mut done, mut failed, mut broken_at) = (0u64, 0u64, None);
    let mut number = 0u64;
    let mut out = io::stdout().lock();
    while let Some(line) = read_line(&mut *input, MAX_REQUEST_BYTES)? {
        number += 1;
        if matches!(&line, Ok(line) if line.trim_ascii().is_empty()) {
            continue;
        }
        let parsed = line.and_then(|line| parse(&line));
        let outcome = match (broken_at, parsed) {
            (Some(at), parsed) if fail_fast => {
                let error = Error::new(ErrorCode::Aborted, format!("not sent, because line {at} failed"))
                    .hint("mend that line, or use --keep-going");
                error_line(number, parsed.ok().as_ref(), &error)
            }
            (_, Err(error)) => error_line(number, None, &error),
            (_, Ok(request)) => host
                .send(&request, args.yes)
                .unwrap_or_else(|error| error_line(number, Some(&request), &error)),
        };
        if outcome.get("error").is_some_and(|error| !error.is_null()) {
            failed += 1;
            broken_at.get_or_insert(number);
        } else {
            done += 1;
        }
        let text = outcome.to_string();
        writeln!(out, "{}", for_stream(&out, &text)).and_then(|()| out.flush())?;
    }
    if !ctx.json {
        ctx.note(&ctx.err.dim(&ctx.lang.batch_summary(done, failed)));
    }
    Ok(if failed > 0 { FAILED } else { 0 })
}

/// The connection, made again when it broke.
struct Host {
    home: Home,
    client: Option<Client>,
}

impl Host {
    fn client(&mut self) -> Result<&Client, Error> {
        let client = match self.client.take() {
            Some(client) => client,
            None => connect::client(&self.home)?,
        };
        Ok(self.client.insert(client))
    }

    fn send(&mut self, request: &CallRequest, yes: bool) -> Result<Value, Error> {
        let sent = call::send(self.client()?, request, yes);
        if let Err(error) = &sent {
            // This line is not sent again: it may have happened. The next one gets a new connection.
            if matches!(error.code, ErrorCode::HostNotRunning | ErrorCode::FrameTooLarge) {
                self.client = None;
            }
        }
        sent
    }
}

fn parse(line: &[u8]) -> Result<CallRequest, Error> {
    let wrong = |why: String| {
        Error::new(ErrorCode::InvalidInput, format!("the line is not a call: {why}"))
            .hint(r#"one object per line, such as {"tool":"left_click","args":{"x":200,"y":120}}"#)
    };
    // An array would be taken for the fields in their order.
    if line.trim_ascii_start().first() != Some(&b'{') {
        return Err(wrong("it is not a JSON object".to_owned()));
    }
    serde_json::from_slice::<Line>(line).map(CallRequest::from).map_err(|error| wrong(error.to_string()))
}

/// An outcome for a line that got none from the host.
fn error_line(number: u64, request: Option<&CallRequest>, error: &Error) -> Value {
    let mut line = json!({ "line": number, "error": fail::wire(error) });
    if let Some(request) = request {
        line["tool"] = json!(request.tool);
        if let Some(id) = &request.request_id {
            line["requestId"] = json!(id);
        }
    }
    line
}

/// Reads a line of at most `limit` bytes; a longer one is skipped and told. `None` at the end.
fn read_line(input: &mut dyn BufRead, limit: usize) -> Result<Option<Result<Vec<u8>, Error>>, Fail> {
    let cannot = |error: &io::Error| {
        Fail::Failed(Error::new(ErrorCode::Internal, format!("the calls cannot be read: {error}")))
    };
    let mut line = Vec::new();
    let count =
        (&mut *input).take(limit as u64 + 1).read_until(b'\n', &mut line).map_err(|error| cannot(&error))?;
    if count == 0 {
        return Ok(None);
    }
    if line.last() == Some(&b'\n') || count <= limit {
        return Ok(Some(Ok(line)));
    }
    input.skip_until(b'\n').map_err(|error| cannot(&error))?;
    Ok(Some(Err(Error::new(ErrorCode::FrameTooLarge, format!("the line is longer than {limit} bytes"))
        .detail("limitBytes", limit))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_bounded_and_the_next_one_is_whole() {
        let mut input: &[u8] = b"short\n0123456789\nlast";
        let mut next = || read_line(&mut input, 6).unwrap();
        assert_eq!(next().unwrap().unwrap(), b"short\n");
        assert_eq!(next().unwrap().unwrap_err().code, ErrorCode::FrameTooLarge);
        assert_eq!(next().unwrap().unwrap(), b"last");
        assert!(next().is_none());
    }

    #[test]
    fn a_wrong_line_says_what_is_wrong() {
        for (line, words) in [
            ("{", "EOF"),
            ("[]", "not a JSON object"),
            ("nonsense", "not a JSON object"),
            (r#"{"args":{}}"#, "missing field `tool`"),
            (r#"{"tool":"x","arg":{}}"#, "unknown field `arg`"),
            (r#"{"tool":"x","args":[1]}"#, "expected a map"),
            (r#"{"tool":"x","timeoutMs":-1}"#, "-1"),
        ] {
            let error = parse(line.as_bytes()).unwrap_err();
            assert!(error.message.contains(words), "{line}: {}", error.message);
        }
        assert_eq!(parse(br#"{"tool":"x"}"#).unwrap().args, json!({}));
    }
}
