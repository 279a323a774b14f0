//! For incoming_handler_test.py and handler_events_test.py: what it does, the last word of the path says. Most of it no guest should do.

mod attacks;
mod events;
mod fetch;

use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering};

use wasip2::cli::environment;
use wasip2::exports::http::incoming_handler::Guest;
use wasip2::http::types::{ErrorCode, Fields, IncomingRequest, OutgoingBody, OutgoingResponse, ResponseOutparam};
use wasip2::io::streams::{OutputStream, StreamError};

struct Handler;
wasip2::http::proxy::export!(Handler);

impl Guest for Handler {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let path = request.path_with_query().unwrap_or_default();
        let (path, query) = path.split_once('?').unwrap_or((&path, ""));
        match path.rsplit('/').next().unwrap_or_default() {
            "show" => answer(out, 200, &[], describe(&request).as_bytes()),
            "echo" => {
                let body = read_body(&request);
                answer(out, 200, &[("Content-Type", "a/b")], &body);
            }
            "count" => answer(out, 200, &[], (RUNS.fetch_add(1, Ordering::Relaxed) + 1).to_string().as_bytes()),
            "status" => answer(out, query.parse().unwrap(), &[], b"body"),
            "headers" => answer(out, 200, &[("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-A", "\u{fc}")], b""),
            "read" => match std::fs::read(query) {
                Ok(bytes) => answer(out, 200, &[], &bytes),
                Err(error) => answer(out, 404, &[], error.to_string().as_bytes()),
            },
            "open-many" => {
                let files: Vec<_> = (0..1000).map_while(|_| std::fs::File::open(query).ok()).collect();
                answer(out, 200, &[], files.len().to_string().as_bytes());
            }
            "write" => {
                let status = if std::fs::write(query, "written").is_ok() { 200 } else { 403 };
                answer(out, status, &[], b"");
            }
            "nothing" => answer(out, 204, &[], b""),
            "length" => {
                let fields = Fields::new();
                fields.append("Content-Length", query.as_bytes()).unwrap();
                ResponseOutparam::set(out, Ok(OutgoingResponse::new(fields)));
            }
            "error" => ResponseOutparam::set(out, Err(ErrorCode::InternalError(Some(query.into())))),
            "none" => drop(out),
            "left" => std::mem::forget(out),
            "fetch" => fetch::run(&request, out),
            "fetch-many" => fetch::run_many(&request, query, out),
            "fetch-again" => fetch::run_again(&request, query, out),
            events if events.starts_with("events") => events::run(events, query, &request, out),
            attack => attacks::run(attack, query, &request, out),
        }
    }
}

fn describe(request: &IncomingRequest) -> String {
    let mut text = format!("method {:?}\nscheme {:?}\n", request.method(), request.scheme());
    let _ = writeln!(text, "authority {}", request.authority().unwrap_or_default());
    let _ = writeln!(text, "path {}", request.path_with_query().unwrap_or_default());
    for (name, value) in request.headers().entries() {
        let _ = writeln!(text, "{name}: {}", String::from_utf8_lossy(&value));
    }
    let _ = writeln!(
        text,
        "arguments {:?}, environment {:?}",
        environment::get_arguments(),
        environment::get_environment()
    );
    text
}

fn read_body(request: &IncomingRequest) -> Vec<u8> {
    let body = request.consume().unwrap();
    let stream = body.stream().unwrap();
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(1 << 20) {
            Ok(piece) => bytes.extend(piece),
            Err(StreamError::Closed) => return bytes,
            Err(error) => panic!("{error:?}"),
        }
    }
}

/// The stream comes first, for it has to go first.
fn begin(out: ResponseOutparam, status: u16, headers: &[(&str, &str)]) -> (OutputStream, OutgoingBody) {
    let fields = Fields::new();
    for (name, value) in headers {
        fields.append(name, value.as_bytes()).unwrap();
    }
    let response = OutgoingResponse::new(fields);
    response.set_status_code(status).unwrap();
    let body = response.body().unwrap();
    ResponseOutparam::set(out, Ok(response));
    (body.write().unwrap(), body)
}

fn write(stream: &OutputStream, bytes: &[u8]) -> Result<(), StreamError> {
    bytes.chunks(4096).try_for_each(|piece| stream.blocking_write_and_flush(piece))
}

fn end(stream: OutputStream, body: OutgoingBody) -> Result<(), ErrorCode> {
    drop(stream);
    OutgoingBody::finish(body, None)
}

fn answer(out: ResponseOutparam, status: u16, headers: &[(&str, &str)], bytes: &[u8]) {
    let (stream, body) = begin(out, status, headers);
    write(&stream, bytes).unwrap();
    end(stream, body).unwrap();
}
