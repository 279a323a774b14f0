//! A text of a language model, piece by piece, for bench/streams: a line shows its beginning, its first piece and its end.
//! A shorter one comes before, because the context's memory is new.

use crate::october::wasi::nn::{graph, tensor};
use crate::october::wasinn::ext::generate as ext;
use crate::{Tensor, TensorType, open, said};

fn options(tokens: &str) -> String {
    format!(r#"{{"temp":0,"n-predict":{tokens},"cache-prompt":false}}"#)
}

struct Text {
    bytes: Vec<u8>,
    pieces: u32,
}

impl Text {
    fn begin() -> Self {
        println!("begin");
        Text { bytes: Vec::new(), pieces: 0 }
    }

    fn add(&mut self, piece: &[u8]) {
        self.bytes.extend(piece);
        self.pieces += 1;
        if self.pieces == 1 {
            println!("first");
        }
    }

    fn end(self) {
        println!("{} {}", self.pieces, String::from_utf8(self.bytes).unwrap().escape_debug());
    }
}

/// With wasinn:ext.
pub fn generate(model: &str, tokens: &str, prompt: &str) -> Result<(), ()> {
    let context = graph::load_by_name(model).unwrap().init_execution_context().unwrap();
    let text = |text: &str| tensor::Tensor::new(&[text.len() as u32], tensor::TensorType::U8, text.as_bytes());
    for tokens in ["1", tokens] {
        let mut made = Text::begin();
        ext::start(&context, vec![("prompt".into(), text(prompt)), ("options".into(), text(&options(tokens)))])
            .unwrap();
        while let Some(piece) = ext::next(&context).unwrap() {
            made.add(&piece);
        }
        made.end();
    }
    Ok(())
}

/// As a stream.
pub async fn stream(model: &str, tokens: &str, prompt: &str) -> Result<(), ()> {
    let context = open(model).await;
    let text = |text: &str| Tensor::new(&[text.len() as u32], TensorType::U8, text.as_bytes());
    for tokens in ["1", tokens] {
        let mut made = Text::begin();
        let inputs = vec![("prompt".into(), text(prompt)), ("options".into(), text(&options(tokens)))];
        let (mut pieces, outcome) = context.compute_stream(inputs);
        while let Some((_, piece)) = pieces.next().await {
            made.add(&piece);
        }
        outcome.await.map_err(said)?;
        made.end();
    }
    Ok(())
}
