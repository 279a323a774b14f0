//! Each by its name.

use std::mem::forget;

use wasip3::cli::exit::exit_with_code;
use wasip3::clocks::monotonic_clock::wait_for;
use wasip3::http::types::{ErrorCode, Fields, Method, Request, Response};
use wasip3::{spawn_local, wit_future, wit_stream};

use crate::{answer, begin, read_body, respond};

const HOUR: u64 = 3_600_000_000_000; // ns
const FLOOD: [u8; 4096] = [b'x'; 4096];

fn spin() -> ! {
    loop {
        std::hint::black_box(0);
    }
}

fn whole() -> Response {
    answer(200, &[], b"whole".to_vec())
}

pub async fn run(attack: &str, query: &str, request: Request) -> Result<Response, ErrorCode> {
    Ok(match attack {
        "loop" => spin(),
        "sleep" => {
            wait_for(HOUR).await;
            whole()
        }
        "trap" => panic!("as it should"),
        "trap-within" => {
            let (response, mut writer) = begin(200, &[]);
            spawn_local(async move {
                writer.write_all(b"half".to_vec()).await;
                panic!("as it should");
            });
            response
        }
        "exit" => {
            exit_with_code(query.parse().unwrap());
            whole()
        }
        // Attacks with streams and futures.
        "unread" => {
            let (mut writer, reader) = wit_stream::new::<u8>();
            writer.write_all(b"x".to_vec()).await;
            drop(reader);
            whole()
        }
        "never" => {
            let (writer, reader) = wit_future::new::<Result<(), ErrorCode>>(|| Ok(()));
            let _ = reader.await;
            drop(writer);
            whole()
        }
        "request-half" => {
            let mut body = read_body(request);
            let (_, bytes) = body.read(Vec::with_capacity(10)).await;
            drop(body);
            answer(200, &[], bytes.len().to_string().into_bytes())
        }
        "request-ignored" => {
            forget(read_body(request));
            whole()
        }
        "open" => {
            let (response, mut writer) = begin(200, &[]);
            spawn_local(async move {
                writer.write_all(b"half".to_vec()).await;
                wait_for(HOUR).await;
            });
            response
        }
        "short" => {
            let (response, mut writer) = begin(200, &[("Content-Length", "10")]);
            spawn_local(async move {
                writer.write_all(b"short".to_vec()).await;
            });
            response
        }
        "flood" => {
            let (response, mut writer) = begin(200, &[]);
            spawn_local(async move { while writer.write_all(FLOOD.to_vec()).await.is_empty() {} });
            response
        }
        // Attacks with tasks.
        "left" => {
            spawn_local(wait_for(HOUR));
            whole()
        }
        "loop-after" => {
            let (response, mut writer) = begin(200, &[]);
            spawn_local(async move {
                writer.write_all(b"whole".to_vec()).await;
                drop(writer);
                spin();
            });
            response
        }
        "tasks" => {
            for _ in 0..query.parse().unwrap() {
                spawn_local(wait_for(HOUR));
            }
            whole()
        }
        // Attacks on the host's memory.
        "resources" => {
            (0..1_000_000).for_each(|_| forget(Fields::new()));
            whole()
        }
        "streams" => {
            (0..1_000_000).for_each(|_| forget(wit_stream::new::<u8>()));
            whole()
        }
        "words" => {
            let long = "a".repeat(100_000);
            let (_, trailers) = wit_future::new(|| Ok(None));
            let (request, _) = Request::new(Fields::new(), None, trailers, None);
            let taken = [
                request.set_method(&Method::Other(long.clone())).is_ok(),
                request.set_authority(Some(&long)).is_ok(),
                request.set_path_with_query(Some(&format!("/{long}"))).is_ok(),
                request.set_authority(Some("a.example")).is_ok(),
            ];
            answer(200, &[], format!("{taken:?}").into_bytes())
        }
        "memory" => {
            let mut held = Vec::new();
            while held.try_reserve(1 << 20).is_ok() {
                held.resize(held.len() + (1 << 20), 1u8);
            }
            answer(200, &[], held.len().to_string().into_bytes())
        }
        _ => respond(404, &[], None),
    })
}
