//! A filter between clients and a language model: it refuses requests that clients may not make, and hides words that
//! they may not read. A component that exports wasi:http/incoming-handler, for the path /v1/chat/completions of `wasinn
//! serve`.

mod http;
mod model;
mod request;
mod rules;

use serde_json::{Value, json};
use wasip2::http::types::{IncomingRequest, ResponseOutparam};

use http::{Gone, Writing, read_body};
use model::{Answer, Failure};
use request::{Message, Request};
use rules::{Hiding, Rules};

wit_bindgen::generate!({
    path: ["../../guest/wit/deps/wasi-nn", "../../guest/wit/deps/wasinn-ext"],
    inline: "
        package example:guard;
        world guard {
            include wasi:nn/ml@0.2.0-rc-2024-10-28;
            import wasinn:ext/generate@0.1.0;
        }
    ",
    world: "example:guard/guard",
    generate_all,
});
wasip2::http::proxy::export!(Handler);

struct Handler;

impl wasip2::exports::http::incoming_handler::Guest for Handler {
    fn handle(request: IncomingRequest, out: ResponseOutparam) {
        let rules = Rules::read();
        match begin(&read_body(&request), &rules) {
            Ok((asked, answer)) if asked.stream => {
                let writing = Writing::begin(out, 200, "text/event-stream");
                if stream(&asked, &answer, &rules, &writing).is_ok() {
                    writing.end();
                }
            }
            Ok((asked, answer)) => match whole(&asked, &answer, &rules) {
                Ok(body) => send(out, 200, &body),
                Err(failure) => send_failure(out, &failure),
            },
            Err(failure) => send_failure(out, &failure),
        }
    }
}

fn begin(body: &[u8], rules: &Rules) -> Result<(Request, Answer), Failure> {
    let asked: Request = serde_json::from_slice(body).map_err(|error| (400, error.to_string()))?;
    // The model reads both.
    let refusal_of = |message: &Message| rules.refusal_of(&message.role).or_else(|| rules.refusal_of(&message.content));
    if let Some(word) = asked.messages.iter().find_map(refusal_of) {
        return Err((403, format!("a message has the word '{word}'")));
    }
    let answer = Answer::begin(&asked)?;
    Ok((asked, answer))
}

fn whole(asked: &Request, answer: &Answer, rules: &Rules) -> Result<Value, Failure> {
    let mut hiding = Hiding::new(rules);
    let mut text = String::new();
    while let Some(piece) = answer.next()? {
        text += &hiding.add(&piece);
    }
    text += &hiding.end();
    let choice =
        json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": answer.finish_reason()});
    Ok(json!({"object": "chat.completion", "model": asked.model, "choices": [choice]}))
}

fn stream(asked: &Request, answer: &Answer, rules: &Rules, writing: &Writing) -> Result<(), Gone> {
    let write = |data: &Value| writing.write(&format!("data: {data}\n\n"));
    let chunk = |delta: Value, reason: Option<String>| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": reason});
        json!({"object": "chat.completion.chunk", "model": asked.model, "choices": [choice]})
    };
    let mut hiding = Hiding::new(rules);
    write(&chunk(json!({"role": "assistant", "content": ""}), None))?;
    loop {
        let (text, is_last) = match answer.next() {
            Ok(Some(piece)) => (hiding.add(&piece), false),
            Ok(None) => (hiding.end(), true),
            Err((_, why)) => return write(&json!({"error": {"message": why}})),
        };
        if !text.is_empty() {
            write(&chunk(json!({"content": text}), None))?;
        }
        if is_last {
            break;
        }
    }
    write(&chunk(json!({}), Some(answer.finish_reason())))?;
    writing.write("data: [DONE]\n\n")
}

fn send(out: ResponseOutparam, status: u16, body: &Value) {
    let writing = Writing::begin(out, status, "application/json");
    if writing.write(&body.to_string()).is_ok() {
        writing.end();
    }
}

fn send_failure(out: ResponseOutparam, (status, why): &Failure) {
    send(out, *status, &json!({"error": {"message": why, "type": "guard", "code": status}}));
}
