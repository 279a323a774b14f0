//! For handler03_test.py: what it does, the last word of the path says. Most of it no guest should do.

mod attacks;
mod infer;

use std::sync::atomic::{AtomicU32, Ordering};

use wasip3::cli::environment;
use wasip3::filesystem::preopens::get_directories;
use wasip3::filesystem::types::{DescriptorFlags, OpenFlags, PathFlags};
use wasip3::http::client;
use wasip3::http::types::{ErrorCode, Fields, Request, Response, Scheme};
use wasip3::wit_bindgen::rt::async_support::{StreamReader, StreamWriter};
use wasip3::{spawn_local, wit_future, wit_stream};

struct Handler;
wasip3::http::service::export!(Handler);

impl wasip3::exports::http::handler::Guest for Handler {
    async fn handle(request: Request) -> Result<Response, ErrorCode> {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let path = request.get_path_with_query().unwrap_or_default();
        let (path, query) = path.split_once('?').unwrap_or((&path, ""));
        match path.rsplit('/').next().unwrap_or_default() {
            "show" => Ok(answer(200, &[], describe(&request).into_bytes())),
            "echo" => {
                let body = read_body(request).collect().await;
                Ok(answer(200, &[("Content-Type", "a/b")], body))
            }
            // The answer's body is the request's, which the host copies.
            "through" => Ok(respond(200, &[], Some(read_body(request)))),
            "count" => Ok(answer(200, &[], (RUNS.fetch_add(1, Ordering::Relaxed) + 1).to_string().into_bytes())),
            "status" => Ok(answer(query.parse().unwrap(), &[], b"body".to_vec())),
            "nothing" => Ok(respond(204, &[], None)),
            "error" => Err(ErrorCode::InternalError(Some(query.into()))),
            "events" => Ok(events()),
            "read" => Ok(read_file(query).await),
            "fetch" => fetch(&request).await,
            "infer" => Ok(infer::all(query).await),
            "infer-kept" => Ok(infer::kept(query).await),
            "infer-first" => Ok(infer::first(query).await),
            "infer-left" => Ok(infer::left(query).await),
            "infer-work" => Ok(infer::work(query).await),
            "infer-trap" => infer::trap(query).await,
            "speak" => Ok(infer::speak(query, request).await),
            attack => attacks::run(attack, query, request).await,
        }
    }
}

fn describe(request: &Request) -> String {
    let mut text = format!("method {:?}\nscheme {:?}\n", request.get_method(), request.get_scheme());
    text += &format!("authority {}\n", request.get_authority().unwrap_or_default());
    text += &format!("path {}\n", request.get_path_with_query().unwrap_or_default());
    let (arguments, environment) = (environment::get_arguments(), environment::get_environment());
    text += &format!("arguments {arguments:?}, environment {environment:?}\n");
    for (name, value) in request.get_headers().copy_all() {
        text += &format!("{name}: {}\n", String::from_utf8_lossy(&value));
    }
    text
}

fn read_body(request: Request) -> StreamReader<u8> {
    let (result, received) = wit_future::new(|| Ok(()));
    drop(result);
    Request::consume_body(request, received).0
}

fn respond(status: u16, headers: &[(&str, &str)], body: Option<StreamReader<u8>>) -> Response {
    let fields = Fields::new();
    for (name, value) in headers {
        fields.append(name, value.as_bytes()).unwrap();
    }
    let (_, trailers) = wit_future::new(|| Ok(None));
    let (response, _) = Response::new(fields, body, trailers);
    response.set_status_code(status).unwrap();
    response
}

/// A task writes the body after the response is given.
fn begin(status: u16, headers: &[(&str, &str)]) -> (Response, StreamWriter<u8>) {
    let (writer, reader) = wit_stream::new();
    (respond(status, headers, Some(reader)), writer)
}

fn answer(status: u16, headers: &[(&str, &str)], bytes: Vec<u8>) -> Response {
    let (response, mut writer) = begin(status, headers);
    spawn_local(async move {
        writer.write_all(bytes).await;
    });
    response
}

fn events() -> Response {
    let (response, mut writer) = begin(200, &[("Content-Type", "text/event-stream")]);
    spawn_local(async move {
        for event in ["data: 1\n\n", "data: 2\n\n"] {
            writer.write_all(event.into()).await;
        }
    });
    response
}

/// A file in the first folder.
async fn read_file(name: &str) -> Response {
    let Some((folder, _)) = get_directories().into_iter().next() else { return respond(404, &[], None) };
    let file = folder.open_at(PathFlags::SYMLINK_FOLLOW, name.into(), OpenFlags::empty(), DescriptorFlags::READ).await;
    match file {
        Ok(file) => answer(200, &[], file.read_via_stream(0).0.collect().await),
        Err(error) => answer(403, &[], format!("{error:?}").into_bytes()),
    }
}

/// Passes the client's request on to X-To, "SCHEME://AUTHORITY/PATH", and its answer back.
async fn fetch(request: &Request) -> Result<Response, ErrorCode> {
    let to = String::from_utf8(request.get_headers().get("X-To").remove(0)).unwrap();
    let (scheme, rest) = to.split_once("://").unwrap();
    let (authority, path) = rest.split_once('/').unwrap();
    let (_, trailers) = wit_future::new(|| Ok(None));
    let (request, _) = Request::new(Fields::new(), None, trailers, None);
    request.set_scheme(Some(&if scheme == "https" { Scheme::Https } else { Scheme::Http })).unwrap();
    request.set_authority(Some(authority)).unwrap();
    request.set_path_with_query(Some(&format!("/{path}"))).unwrap();
    let response = client::send(request).await?;
    let (result, received) = wit_future::new(|| Ok(()));
    drop(result);
    let status = response.get_status_code();
    Ok(respond(status, &[], Some(Response::consume_body(response, received).0)))
}
