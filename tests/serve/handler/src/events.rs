//! Answers that come piece by piece. Each by its name.

use std::mem::forget;

use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::http::types::{IncomingRequest, ResponseOutparam};

use crate::{begin, end, fetch, write};

const HOUR: u64 = 3_600_000_000_000; // ns

pub fn run(what: &str, query: &str, request: &IncomingRequest, out: ResponseOutparam) {
    let content_type = if query.is_empty() { "text/event-stream; charset=utf-8" } else { query };
    let mut headers = vec![("Content-Type", content_type), ("X-A", "1")];
    if what == "events-length" {
        headers.push(("Content-Length", "18"));
    }
    let status = if what == "events-none" { 204 } else { 200 };
    let (stream, body) = begin(out, status, &headers);
    if what == "events-empty" || what == "events-none" {
        return end(stream, body).unwrap();
    }
    write(&stream, b"data: 1\n\n").unwrap();
    match what {
        "events-trap" => panic!("as it should"),
        "events-open" => return forget((stream, body)),
        "events-sleep" => subscribe_duration(HOUR).block(),
        "events-flood" => loop {
            write(&stream, &[b'x'; 4096]).unwrap();
        },
        "events-fetch" => drop(fetch::fetch(request).unwrap()),
        "events-large" => (0..6000).for_each(|_| write(&stream, &[b'x'; 4096]).unwrap()),
        _ => {}
    }
    write(&stream, b"data: 2\n\n").unwrap();
    end(stream, body).unwrap();
}
