//! A language model by what WasmEdge added, in the ways in which its users ask: the whole answer, piece by piece, and all in one context.
//!
//!   text NAME CONFIG PROMPT
//!
//! Prints "whole TEXT", "tokens JSON", "pieces N TEXT", "end ERROR", "info JSON", "embedding JSON", "begun TEXT", "again TEXT" and "unloaded
//! ERROR", with texts in hexadecimal digits. CONFIG has "embedding":false.

use wasi_nn::{
    BackendError, Error, ExecutionTarget, Graph, GraphBuilder, GraphEncoding, GraphExecutionContext, TensorType,
};

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn output(context: &GraphExecutionContext, index: usize) -> Result<Vec<u8>, Error> {
    let mut buffer = vec![0u8; 1 << 16];
    let written = context.get_output(index, &mut buffer)?;
    buffer.truncate(written);
    Ok(buffer)
}

fn json(context: &GraphExecutionContext, index: usize) -> Result<String, Error> {
    Ok(String::from_utf8_lossy(&output(context, index)?).into_owned())
}

fn piece(context: &mut GraphExecutionContext, text: &mut Vec<u8>) -> Result<(), Error> {
    context.compute_single()?;
    let mut buffer = vec![0u8; 256];
    let written = context.get_output_single(0, &mut buffer)?;
    text.extend_from_slice(&buffer[..written]);
    Ok(())
}

fn whole(graph: &Graph, prompt: &str) -> Result<(), Error> {
    let mut context = graph.init_execution_context()?;
    context.set_input(0, TensorType::U8, &[1], prompt.as_bytes())?;
    context.compute()?;
    println!("whole {}", hex(&output(&context, 0)?));
    println!("tokens {}", json(&context, 1)?);
    Ok(())
}

fn by_pieces(graph: &Graph, prompt: &str) -> Result<(), Error> {
    let mut context = graph.init_execution_context()?;
    context.set_input(0, TensorType::U8, &[1], prompt.as_bytes())?;
    let mut text = Vec::new();
    let mut count = 0;
    let end = loop {
        match piece(&mut context, &mut text) {
            Ok(()) => count += 1,
            Err(Error::BackendError(end @ (BackendError::EndOfSequence | BackendError::ContextFull))) => break end,
            Err(error) => return Err(error),
        }
    };
    context.fini_single()?;
    println!("pieces {count} {}", hex(&text));
    println!("end {end}");
    Ok(())
}

/// As LlamaEdge's server does: it asks what serves the model before the first question, gives another configuration as the second input, and
/// leaves answers unread.
fn in_one_context(graph: &Graph, config: &str, prompt: &str) -> Result<(), Error> {
    let mut context = graph.init_execution_context()?;
    println!("info {}", json(&context, 1)?);
    let embedding = config.replace("\"embedding\":false", "\"embedding\":true");
    context.set_input(1, TensorType::U8, &[1], embedding.as_bytes())?;
    context.set_input(0, TensorType::U8, &[1], prompt.as_bytes())?;
    context.compute()?;
    println!("embedding {}", json(&context, 0)?);
    context.set_input(1, TensorType::U8, &[1], config.as_bytes())?;
    context.set_input(0, TensorType::U8, &[1], prompt.as_bytes())?;
    let mut begun = Vec::new();
    piece(&mut context, &mut begun)?;
    context.fini_single()?;
    println!("begun {}", hex(&begun));
    context.set_input(0, TensorType::U8, &[1], prompt.as_bytes())?;
    context.compute()?;
    println!("again {}", hex(&output(&context, 0)?));
    Ok(())
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let graph = GraphBuilder::new(GraphEncoding::Ggml, ExecutionTarget::AUTO)
        .config(args[2].clone())
        .build_from_cache(&args[1])
        .expect("a model of this name");
    whole(&graph, &args[3]).unwrap();
    by_pieces(&graph, &args[3]).unwrap();
    in_one_context(&graph, &args[2], &args[3]).unwrap();
    graph.unload().unwrap();
    println!("unloaded {}", graph.init_execution_context().err().map_or("nothing".to_string(), |e| e.to_string()));
}
