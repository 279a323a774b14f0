//! Requests of its own: what the client asks, it asks of X-To, and answers what it is answered.

use wasip2::http::outgoing_handler;
use wasip2::http::types::{
    ErrorCode, Fields, FutureIncomingResponse, IncomingBody, IncomingRequest, IncomingResponse, Method,
    OutgoingRequest, RequestOptions, ResponseOutparam, Scheme,
};
use wasip2::io::streams::StreamError;

use crate::{answer, end, read_body, write};

fn header(request: &IncomingRequest, name: &str) -> Option<String> {
    let value = request.headers().get(name).into_iter().next()?;
    Some(String::from_utf8(value).unwrap())
}

/// The parts of "SCHEME://AUTHORITY/PATH".
fn new_request(to: &str) -> OutgoingRequest {
    let (scheme, rest) = to.split_once("://").unwrap();
    let (authority, path) = rest.split_once('/').unwrap();
    let request = OutgoingRequest::new(Fields::from_list(&[("X-From".into(), b"guest".into())]).unwrap());
    let scheme = match scheme {
        "http" => Scheme::Http,
        "https" => Scheme::Https,
        other => Scheme::Other(other.into()),
    };
    request.set_scheme(Some(&scheme)).unwrap();
    request.set_authority(Some(authority)).unwrap();
    let path = if path == "empty" { String::new() } else { format!("/{path}") };
    request.set_path_with_query(Some(&path)).unwrap();
    request
}

fn await_response(response: &FutureIncomingResponse) -> Result<IncomingResponse, ErrorCode> {
    response.subscribe().block();
    response.get().unwrap().unwrap()
}

pub fn fetch(request: &IncomingRequest) -> Result<(u16, Vec<u8>), String> {
    let outgoing = new_request(&header(request, "X-To").unwrap());
    outgoing.set_method(&header(request, "X-Method").map_or_else(|| request.method(), Method::Other)).unwrap();
    let options = RequestOptions::new();
    if let Some(ms) = header(request, "X-Timeout-Ms") {
        let ns = Some(ms.parse::<u64>().unwrap() * 1_000_000);
        options.set_connect_timeout(ns).unwrap();
        options.set_first_byte_timeout(ns).unwrap();
        options.set_between_bytes_timeout(ns).unwrap();
    }
    let body = outgoing.body().unwrap();
    let stream = body.write().unwrap();
    if header(request, "X-Early").is_some() {
        write(&stream, &read_body(request)).unwrap();
        end(stream, body).unwrap();
        let response = outgoing_handler::handle(outgoing, Some(options)).map_err(|code| format!("at once {code:?}"))?;
        return answer_of(&response);
    }
    let response = outgoing_handler::handle(outgoing, Some(options)).map_err(|code| format!("at once {code:?}"))?;
    // A refused origin gets no connection.
    if write(&stream, &read_body(request)).is_ok() {
        end(stream, body).map_err(|code| format!("{code:?}"))?;
    } else {
        drop((stream, body));
    }
    answer_of(&response)
}

fn answer_of(response: &FutureIncomingResponse) -> Result<(u16, Vec<u8>), String> {
    let response = await_response(response).map_err(|code| format!("{code:?}"))?;
    let status = response.status();
    Ok((status, read(response.consume().unwrap())?))
}

fn read(body: IncomingBody) -> Result<Vec<u8>, String> {
    let stream = body.stream().unwrap();
    let mut bytes = Vec::new();
    loop {
        match stream.blocking_read(1 << 16) {
            Ok(piece) => bytes.extend(piece),
            Err(StreamError::Closed) => return Ok(bytes),
            Err(error) => return Err(format!("after {} bytes {error:?}", bytes.len())),
        }
    }
}

pub fn run(request: &IncomingRequest, out: ResponseOutparam) {
    match fetch(request) {
        Ok((status, bytes)) => answer(out, status, &[], &bytes),
        Err(why) => answer(out, 424, &[], why.as_bytes()),
    }
}

/// So many at once, and what becomes of the last one; none of them is read.
pub fn run_many(request: &IncomingRequest, count: &str, out: ResponseOutparam) {
    let to = header(request, "X-To").unwrap();
    let send = |_| outgoing_handler::handle(new_request(&to), None).unwrap();
    let sent: Vec<FutureIncomingResponse> = (0..count.parse::<usize>().unwrap()).map(send).collect();
    let said = await_response(sent.last().unwrap()).map(|response| response.status());
    answer(out, 200, &[], format!("{said:?}").as_bytes());
}

/// So many, one after another, each of which is answered; how many there were.
pub fn run_again(request: &IncomingRequest, count: &str, out: ResponseOutparam) {
    let to = header(request, "X-To").unwrap();
    let send = || {
        let response = outgoing_handler::handle(new_request(&to), Some(RequestOptions::new())).unwrap();
        await_response(&response).unwrap()
    };
    let is_held = header(request, "X-Hold").is_some();
    let mut held = Vec::new();
    for _ in 0..count.parse::<usize>().unwrap() {
        let response = send();
        if is_held {
            held.push(response);
        }
    }
    answer(out, 200, &[], count.as_bytes());
}
