//! A language model of the host, through wasi:nn.

use serde_json::{Value, json};

use crate::request::Request;
use crate::wasi::nn::errors::{Error, ErrorCode};
use crate::wasi::nn::graph::load_by_name;
use crate::wasi::nn::inference::GraphExecutionContext;
use crate::wasi::nn::tensor::{Tensor, TensorType};
use crate::wasinn::ext::generate;

/// An answer that is being generated.
pub struct Answer(GraphExecutionContext);

/// A status of HTTP, and the reason.
pub type Failure = (u16, String);

fn failure(error: &Error) -> Failure {
    let status = match error.code() {
        ErrorCode::NotFound | ErrorCode::Security => 404,
        ErrorCode::InvalidArgument | ErrorCode::TooLarge => 400,
        ErrorCode::Timeout => 504,
        _ => 503,
    };
    (status, error.data())
}

fn text(text: &str) -> Tensor {
    Tensor::new(&[text.len() as u32], TensorType::U8, text.as_bytes())
}

impl Answer {
    /// The host puts the messages into the model's chat template.
    pub fn begin(request: &Request) -> Result<Self, Failure> {
        let context = load_by_name(&request.model).and_then(|graph| graph.init_execution_context());
        let context = context.map_err(|error| failure(&error))?;
        let mut options = json!({"chat": true});
        if let Some(tokens) = request.max_tokens {
            options["n-predict"] = tokens.into();
        }
        if let Some(temperature) = request.temperature {
            options["temp"] = temperature.into();
        }
        let messages = serde_json::to_string(&request.messages).expect("texts");
        let inputs = vec![("prompt".into(), text(&messages)), ("options".into(), text(&options.to_string()))];
        generate::start(&context, inputs).map_err(|error| failure(&error))?;
        Ok(Answer(context))
    }

    /// None: the answer is complete.
    pub fn next(&self) -> Result<Option<String>, Failure> {
        let piece = generate::next(&self.0).map_err(|error| failure(&error))?;
        Ok(piece.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The reason in OpenAI's words.
    pub fn finish_reason(&self) -> String {
        let metadata = generate::output(&self.0, "metadata").map(|tensor| tensor.data()).unwrap_or_default();
        let metadata: Value = serde_json::from_slice(&metadata).unwrap_or_default();
        metadata["finish_reason"].as_str().unwrap_or("stop").into()
    }
}
