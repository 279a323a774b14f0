//! A program for Spin, on nothing but its SDK: it asks a language model, or for embeddings of the lines of a text. The path is the model's
//! name.

use std::fmt::Write;

use spin_sdk::http::{IntoResponse, Request, Response};
use spin_sdk::http_component;
use spin_sdk::llm::{self, EmbeddingModel, Error, InferencingModel, InferencingParams};

#[http_component]
fn handle(request: Request) -> anyhow::Result<impl IntoResponse> {
    let name = request.path().rsplit('/').next().unwrap_or_default().to_owned();
    let query = request.query().to_owned();
    let text = String::from_utf8(request.into_body())?;
    let told = if query == "embed" { embed(&name, &text) } else { infer(&name, &text, &query) };
    Ok(match told {
        Ok(told) => Response::new(200, told),
        Err(Error::ModelNotSupported) => Response::new(404, "not supported"),
        Err(Error::InvalidInput(why)) => Response::new(400, why),
        Err(Error::RuntimeError(why)) => Response::new(500, why),
    })
}

fn infer(name: &str, prompt: &str, tokens: &str) -> Result<String, Error> {
    let params = InferencingParams { max_tokens: tokens.parse().unwrap_or(8), temperature: 0.0, ..Default::default() };
    let told = llm::infer_with_options(InferencingModel::Other(name), prompt, params)?;
    Ok(format!("{}\n{} {}", told.text, told.usage.prompt_token_count, told.usage.generated_token_count))
}

fn embed(name: &str, text: &str) -> Result<String, Error> {
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let told = llm::generate_embeddings(EmbeddingModel::Other(name.into()), &lines)?;
    let mut out = String::new();
    for embedding in told.embeddings {
        let _ = writeln!(out, "{} {:?}", embedding.len(), &embedding[..2]);
    }
    let _ = write!(out, "{}", told.usage.prompt_token_count);
    Ok(out)
}
