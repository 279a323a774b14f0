//! Each by its name.

use std::mem::forget;

use wasip2::clocks::monotonic_clock::subscribe_duration;
use wasip2::filesystem::preopens::get_directories;
use wasip2::http::types::{
    Fields, IncomingRequest, Method, OutgoingBody, OutgoingRequest, OutgoingResponse, ResponseOutparam, Scheme,
};
use wasip2::io::streams::OutputStream;
use wasip2::sockets::network::IpAddressFamily;
use wasip2::sockets::tcp_create_socket::create_tcp_socket;
use wasip2::sockets::udp_create_socket::create_udp_socket;

use crate::{answer, begin, end, write};

const HOUR: u64 = 3_600_000_000_000; // ns
const FLOOD: [u8; 4096] = [b'x'; 4096];

fn spin() -> ! {
    loop {
        std::hint::black_box(0);
    }
}

fn sleep() {
    subscribe_duration(HOUR).block();
}

/// A response of which the body is there before it is set, written by so many bytes at once.
fn written_before(bytes: &[u8], at_once: usize) -> (OutgoingResponse, OutputStream, OutgoingBody) {
    let response = OutgoingResponse::new(Fields::new());
    let body = response.body().unwrap();
    let stream = body.write().unwrap();
    bytes.chunks(at_once).for_each(|piece| stream.blocking_write_and_flush(piece).unwrap());
    (response, stream, body)
}

/// "BYTES,BYTES AT ONCE,end|go-on": the body ends before the response is set, or goes on afterwards with as much again, and "end".
fn early(query: &str, out: ResponseOutparam) {
    let [size, at_once, then] = query.split(',').collect::<Vec<_>>()[..] else { panic!("{query}") };
    let bytes: Vec<u8> = (0..size.parse().unwrap()).map(|i: usize| (i % 251) as u8).collect();
    let (response, stream, body) = written_before(&bytes, at_once.parse().unwrap());
    if then == "end" {
        end(stream, body).unwrap();
        return ResponseOutparam::set(out, Ok(response));
    }
    ResponseOutparam::set(out, Ok(response));
    write(&stream, &bytes).unwrap();
    write(&stream, b"end").unwrap();
    end(stream, body).unwrap();
}

pub fn run(attack: &str, query: &str, request: &IncomingRequest, out: ResponseOutparam) {
    match attack {
        "loop" => spin(),
        "sleep" => sleep(),
        "trap" => panic!("as it should"),
        "trap-within" => {
            let (stream, _body) = begin(out, 200, &[]);
            write(&stream, b"half").unwrap();
            panic!("as it should");
        }
        "exit" => std::process::exit(query.parse().unwrap()),
        "trailers" => {
            let (stream, body) = begin(out, 200, &[]);
            write(&stream, b"whole").unwrap();
            drop(stream);
            let trailers = Fields::from_list(&[("X-After".into(), b"1".into())]).unwrap();
            OutgoingBody::finish(body, Some(trailers)).unwrap();
        }
        // After a whole answer.
        "loop-after" => {
            answer(out, 200, &[], b"whole");
            spin();
        }
        "sleep-after" => {
            answer(out, 200, &[], b"whole");
            sleep();
        }
        "trap-after" => {
            answer(out, 200, &[], b"whole");
            panic!("as it should");
        }
        // Answers that never end.
        "open" => {
            let (stream, body) = begin(out, 200, &[]);
            write(&stream, b"half").unwrap();
            forget((stream, body));
        }
        "open-sleep" => {
            let (stream, _body) = begin(out, 200, &[]);
            write(&stream, b"half").unwrap();
            sleep();
        }
        "flood" => {
            let (stream, _body) = begin(out, 200, &[]);
            while write(&stream, &FLOOD).is_ok() {}
            spin();
        }
        "short" => {
            let (stream, body) = begin(out, 200, &[("Content-Length", "10")]);
            write(&stream, b"short").unwrap();
            let _ = end(stream, body);
        }
        "short-dropped" => {
            let (stream, body) = begin(out, 200, &[("Content-Length", "10")]);
            write(&stream, b"short").unwrap();
            drop(stream);
            drop(body);
        }
        "early" => early(query, out),
        "early-many" => {
            let held: Vec<_> = (0..100).map(|_| written_before(&FLOOD.repeat(31), 4096)).collect();
            answer(out, 200, &[], held.len().to_string().as_bytes());
        }
        // More than a body may have, which no client reads any more.
        "early-dropped" => {
            let response = OutgoingResponse::new(Fields::new());
            let body = response.body().unwrap();
            let stream = body.write().unwrap();
            drop(response);
            let written = write(&stream, &FLOOD.repeat(300));
            answer(out, 200, &[], format!("{written:?}").as_bytes());
        }
        "no-body" => {
            let fields = Fields::from_list(&[("Content-Length".into(), b"10".into())]).unwrap();
            ResponseOutparam::set(out, Ok(OutgoingResponse::new(fields)));
        }
        // Attacks with headers.
        "forbidden" => {
            let fields = Fields::new();
            let names = ["Connection", "Transfer-Encoding", "Upgrade", "Keep-Alive", "Host", "a b", "a\nb"];
            let taken: Vec<&str> = names.into_iter().filter(|name| fields.append(name, b"x").is_ok()).collect();
            let value_taken = fields.append("x-a", b"a\r\nX-B: b").is_ok();
            answer(out, 200, &[("TE", "a"), ("Trailer", "b")], format!("{taken:?} {value_taken}").as_bytes());
        }
        "many-headers" => {
            let headers: Vec<_> = (0..200).map(|i| format!("x-{i}")).collect();
            let headers: Vec<_> = headers.iter().map(|name| (name.as_str(), "1")).collect();
            answer(out, 200, &headers, b"");
        }
        "large-header" => answer(out, 200, &[("x-a", &"a".repeat(20_000))], b""),
        "endless-headers" => {
            let fields = Fields::new();
            while fields.append("x-a", &FLOOD).is_ok() {}
        }
        "two-types" => answer(out, 200, &[("Content-Type", "a/b"), ("Content-Type", "a/c")], b""),
        // Attacks on the host's memory.
        "resources" => (0..1_000_000).for_each(|_| forget(Fields::new())),
        "bodies" => {
            for _ in 0..1_000_000 {
                let response = OutgoingResponse::new(Fields::new());
                let body = response.body().unwrap();
                let stream = body.write().unwrap();
                while stream.check_write().unwrap() > 0 {
                    stream.write(&vec![0; stream.check_write().unwrap() as usize]).unwrap();
                }
                forget((stream, body, response));
            }
        }
        // A thousand copies of one text, as the host sees it.
        "copies" => {
            let mut text = vec![b'a'; 1 << 20];
            // SAFETY: they are only looked at, and forgotten.
            let copy = || unsafe { Vec::from_raw_parts(text.as_mut_ptr(), text.len(), text.len()) };
            let copies: Vec<Vec<u8>> = std::iter::repeat_with(copy).take(1000).collect();
            let set = Fields::new().set("x-a", &copies);
            copies.into_iter().for_each(forget);
            answer(out, 200, &[], format!("{set:?}").as_bytes());
        }
        "words" => {
            let long = "a".repeat(100_000);
            let request = OutgoingRequest::new(Fields::new());
            let taken = [
                request.set_method(&Method::Other(long.clone())).is_ok(),
                request.set_authority(Some(&long)).is_ok(),
                request.set_path_with_query(Some(&format!("/{long}"))).is_ok(),
                request.set_scheme(Some(&Scheme::Other(long))).is_ok(),
                request.set_authority(Some("a.example")).is_ok(),
                request.set_method(&Method::Other("SHORT".into())).is_ok(),
            ];
            answer(out, 200, &[], format!("{taken:?}").as_bytes());
        }
        "memory" => {
            let mut held = Vec::new();
            while held.try_reserve(1 << 20).is_ok() {
                held.resize(held.len() + (1 << 20), 1u8);
            }
            answer(out, 200, &[], held.len().to_string().as_bytes());
        }
        // Attacks on the world outside.
        "outside" => {
            let tcp = create_tcp_socket(IpAddressFamily::Ipv4).map(|_| ());
            let udp = create_udp_socket(IpAddressFamily::Ipv6).map(|_| ());
            answer(out, 200, &[], format!("{tcp:?} {udp:?} {}", get_directories().len()).as_bytes());
        }
        "talk" => {
            for line in 0..query.parse().unwrap() {
                eprintln!("line {line}");
                println!("and \u{1b}[31m");
            }
            answer(out, 200, &[], b"");
        }
        "twice" => {
            let first = request.consume().is_ok();
            answer(out, 200, &[], format!("{first} {}", request.consume().is_ok()).as_bytes());
        }
        _ => answer(out, 404, &[], b"no such attack"),
    }
}
