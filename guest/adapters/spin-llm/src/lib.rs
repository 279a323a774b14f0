//! Spin's language models over wasi:nn: plugged into a component that imports fermyon:spin/llm, it turns each call into inferences on
//! a named model of the host. README.md shows how.

use exports::fermyon::spin::llm::{
    EmbeddingsResult, EmbeddingsUsage, Error, Guest, InferencingParams, InferencingResult, InferencingUsage,
};
use serde_json::{Map, Value, json};
use wasi::nn::errors::{Error as NnError, ErrorCode};
use wasi::nn::graph::{Graph, load_by_name};
use wasi::nn::tensor::{Tensor, TensorType};

wit_bindgen::generate!({
    path: ["../../wit/deps/wasi-nn", "wit"],
    world: "fermyon:spin/llm-over-wasi-nn",
    generate_all,
});

struct Adapter;
export!(Adapter);

impl Guest for Adapter {
    fn infer(model: String, prompt: String, params: Option<InferencingParams>) -> Result<InferencingResult, Error> {
        let answer = ask(&load(&model)?, &prompt, &options(&params.unwrap_or(DEFAULTS)))?;
        let usage = InferencingUsage {
            prompt_token_count: answer.count("input_tokens"),
            generated_token_count: answer.count("output_tokens"),
        };
        Ok(InferencingResult { text: answer.completion, usage })
    }

    fn generate_embeddings(model: String, text: Vec<String>) -> Result<EmbeddingsResult, Error> {
        let graph = load(&model)?;
        let mut embeddings = Vec::new();
        let mut tokens = 0;
        for one in text {
            let answer = ask(&graph, &one, &json!({"embedding": true}))?;
            tokens += answer.count("input_tokens");
            embeddings.push(answer.embedding()?);
        }
        Ok(EmbeddingsResult { embeddings, usage: EmbeddingsUsage { prompt_token_count: tokens } })
    }
}

/// Spin's own defaults, if a program gives no parameters.
const DEFAULTS: InferencingParams = InferencingParams {
    max_tokens: 100,
    repeat_penalty: 1.1,
    repeat_penalty_last_n_token_count: 64,
    temperature: 0.8,
    top_k: 40,
    top_p: 0.9,
};

/// More than any context has, and the highest number of tokens that a host accepts.
const MOST_TOKENS: u32 = 1 << 24;

fn options(params: &InferencingParams) -> Value {
    json!({
        "n-predict": params.max_tokens,
        "repeat-penalty": params.repeat_penalty,
        "repeat-last-n": params.repeat_penalty_last_n_token_count.min(MOST_TOKENS),
        "temp": params.temperature,
        "top-k": params.top_k,
        "top-p": params.top_p,
    })
}

fn load(model: &str) -> Result<Graph, Error> {
    load_by_name(model).map_err(|error| match error.code() {
        ErrorCode::NotFound | ErrorCode::Security => Error::ModelNotSupported,
        _ => spin_error(&error),
    })
}

/// The output of a model, and its metadata.
struct Answer {
    completion: String,
    metadata: Map<String, Value>,
}

impl Answer {
    fn count(&self, key: &str) -> u32 {
        self.metadata.get(key).and_then(Value::as_u64).and_then(|count| count.try_into().ok()).unwrap_or(0)
    }

    fn embedding(&self) -> Result<Vec<f32>, Error> {
        let output: Value = serde_json::from_str(&self.completion).unwrap_or_default();
        let Some(values) = output["embedding"].as_array() else {
            return Err(Error::RuntimeError("the model returns no embedding".into()));
        };
        Ok(values.iter().map(|value| value.as_f64().unwrap_or(f64::NAN) as f32).collect())
    }
}

fn ask(graph: &Graph, prompt: &str, options: &Value) -> Result<Answer, Error> {
    let context = graph.init_execution_context().map_err(|error| spin_error(&error))?;
    let inputs = vec![("prompt".into(), bytes(prompt)), ("options".into(), bytes(&options.to_string()))];
    let outputs = context.compute(inputs).map_err(|error| spin_error(&error))?;
    let text_of = |wanted: &str| {
        let tensor = outputs.iter().find(|(name, _)| name == wanted).map(|(_, tensor)| tensor.data());
        String::from_utf8(tensor.unwrap_or_default()).unwrap_or_default()
    };
    Ok(Answer {
        completion: text_of("completion"),
        metadata: serde_json::from_str(&text_of("metadata")).unwrap_or_default(),
    })
}

fn bytes(text: &str) -> Tensor {
    Tensor::new(&[text.len() as u32], TensorType::U8, text.as_bytes())
}

fn spin_error(error: &NnError) -> Error {
    match error.code() {
        ErrorCode::InvalidArgument | ErrorCode::TooLarge => Error::InvalidInput(error.data()),
        _ => Error::RuntimeError(error.data()),
    }
}
