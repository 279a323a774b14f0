//! For nn03_test.py: what it does, its first argument says.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

use futures::future::{join_all, poll_fn};
use wasip3::cli::environment::get_arguments;
use wasip3::clocks::monotonic_clock::{now, wait_for};

mod pieces;

mod october {
    wit_bindgen::generate!({
        path: ["../../../guest/wit/deps/wasi-nn", "../../../guest/wit/deps/wasinn-ext"],
        inline: "
            package test:october;
            world october {
                include wasi:nn/ml@0.2.0-rc-2024-10-28;
                import wasinn:ext/generate@0.1.0;
            }
        ",
        world: "test:october/october",
        generate_all,
    });
}
mod draft {
    wit_bindgen::generate!({ path: "../../../guest/wit/nn-0.3", world: "ml" });
}
use draft::wasi::nn::errors::Error;
use draft::wasi::nn::graph::{Graph, load_by_name};
use draft::wasi::nn::inference::GraphExecutionContext as Context;
use draft::wasi::nn::tensor::{Tensor, TensorType};

struct Program;
wasip3::cli::command::export!(Program);

impl wasip3::exports::cli::run::Guest for Program {
    async fn run() -> Result<(), ()> {
        let arguments = get_arguments();
        let words: Vec<&str> = arguments.iter().skip(1).map(String::as_str).collect();
        match words[..] {
            ["same", model, input, dims] => same(model, input, dims).await,
            ["drop", model, slow] => drop_some(model, slow).await,
            ["speak", model, input, text] => speak(model, input, text).await,
            ["orphan", model, input, text] => orphan(model, input, text).await,
            ["hoard", model] => hoard(model).await,
            ["generate", model, tokens, prompt] => pieces::generate(model, tokens, prompt),
            ["stream", model, tokens, prompt] => pieces::stream(model, tokens, prompt).await,
            ["time", model, input, dims, times] => time(model, input, dims, times.parse().unwrap()).await,
            _ => Err(()),
        }
    }
}

fn said(error: Error) {
    println!("{}", error.data());
}

async fn load(name: &str) -> Graph {
    load_by_name(name.into()).await.map_err(said).expect("the model loads")
}

async fn open(name: &str) -> Context {
    load(name).await.init_execution_context().map_err(said).expect("a context is made")
}

fn bytes(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}

fn floats(values: &[f32]) -> Tensor {
    Tensor::new(&[values.len() as u32], TensorType::Fp32, &bytes(values))
}

type Outputs = Vec<(String, Tensor)>;

fn shown(outputs: &Outputs) -> Vec<(String, Vec<u32>, Vec<u8>)> {
    outputs.iter().map(|(name, tensor)| (name.clone(), tensor.dimensions(), tensor.data())).collect()
}

/// The two versions of wasi:nn compute the same; and an output is an input of the next model.
async fn same(model: &str, input: &str, dims: &str) -> Result<(), ()> {
    let dims: Vec<u32> = dims.split(',').map(|dim| dim.parse().unwrap()).collect();
    let values: Vec<f32> = (0..dims.iter().product()).map(|i| i as f32 * 0.5).collect();
    use october::wasi::nn::{graph, tensor};
    let context = graph::load_by_name(model).unwrap().init_execution_context().unwrap();
    let old = tensor::Tensor::new(&dims, tensor::TensorType::Fp32, &bytes(&values));
    let old = context.compute(vec![(input.into(), old)]).unwrap();
    let old: Vec<_> = old.iter().map(|(name, tensor)| (name.clone(), tensor.dimensions(), tensor.data())).collect();
    let context = open(model).await;
    for _ in 0..3 {
        let new = Tensor::new(&dims, TensorType::Fp32, &bytes(&values));
        let new = context.compute(vec![(input.into(), new)]).await.map_err(said)?;
        assert_eq!(shown(&new), old);
    }
    println!("{} bytes are the same", old[0].2.len());
    Ok(())
}

/// Computes that are dropped while they go on hold up no other, and leave their contexts free.
async fn drop_some(model: &str, slow: &str) -> Result<(), ()> {
    let contexts = join_all((0..8).map(|_| open(slow))).await;
    let begun: Vec<_> = contexts.iter().map(|context| context.compute(vec![("x".into(), floats(&[1.0]))])).collect();
    let mut begun: Vec<_> = begun.into_iter().map(Box::pin).collect();
    poll_fn(|cx| {
        assert!(begun.iter_mut().all(|compute| compute.as_mut().poll(cx).is_pending()));
        Poll::Ready(())
    })
    .await;
    let busy = contexts[0].compute(vec![("x".into(), floats(&[1.0]))]).await.err().expect("the context is in use");
    said(busy);
    let other = open(model).await;
    let chained = other.compute(vec![("x".into(), floats(&[2.0]))]).await.map_err(said)?;
    let (_, output) = chained.into_iter().next().unwrap();
    drop(begun);
    let outputs = other.compute(vec![("x".into(), output)]).await.map_err(said)?;
    assert_eq!(outputs[0].1.data(), bytes(&[2.0]));
    // It ends soon, and until then its context is in use.
    let is_free = async || {
        let mut again = pin!(contexts[0].compute(vec![("x".into(), floats(&[1.0]))]));
        poll_fn(|cx| Poll::Ready(again.as_mut().poll(cx).is_pending())).await
    };
    while !is_free().await {
        wait_for(1_000_000).await;
    }
    println!("dropped");
    Ok(())
}

/// The pieces of a text, and how the generation ended.
async fn speak(model: &str, input: &str, text: &str) -> Result<(), ()> {
    let context = open(model).await;
    let prompt = Tensor::new(&[1], TensorType::U8, text.as_bytes());
    let (mut pieces, outcome) = context.compute_stream(vec![(input.into(), prompt)]);
    while let Some((name, piece)) = pieces.next().await {
        println!("{name}: {}", String::from_utf8(piece).unwrap());
    }
    outcome.await.map_err(said)
}

/// A stream whose context is dropped after the first piece.
async fn orphan(model: &str, input: &str, text: &str) -> Result<(), ()> {
    let context = open(model).await;
    let prompt = Tensor::new(&[1], TensorType::U8, text.as_bytes());
    let (mut pieces, outcome) = context.compute_stream(vec![(input.into(), prompt)]);
    println!("{}", String::from_utf8(pieces.next().await.expect("a piece").1).unwrap());
    drop(context);
    assert!(pieces.next().await.is_none());
    outcome.await.map_err(said)
}

/// Begins computes until the host says that it is enough.
async fn hoard(model: &str) -> Result<(), ()> {
    let graph = load(model).await;
    let mut begun = Vec::new();
    loop {
        let context = match graph.init_execution_context() {
            Ok(context) => context,
            Err(error) => {
                println!("{} go on", begun.len());
                said(error);
                return Ok(());
            }
        };
        let mut compute = Box::pin(async move { context.compute(vec![("x".into(), floats(&[1.0]))]).await });
        poll_fn(|cx| {
            assert!(compute.as_mut().poll(cx).is_pending());
            Poll::Ready(())
        })
        .await;
        begun.push(compute);
    }
}

/// The time of an inference with each version, for docs/wasi-nn-0.3.md: in turns, the median of 21.
async fn time(model: &str, input: &str, dims: &str, times: u32) -> Result<(), ()> {
    let dims: Vec<u32> = dims.split(',').map(|dim| dim.parse().unwrap()).collect();
    let values = bytes(&vec![0.5; dims.iter().product::<u32>() as usize]);
    use october::wasi::nn::{graph, tensor};
    let context = graph::load_by_name(model).unwrap().init_execution_context().unwrap();
    let old = || {
        let tensor = tensor::Tensor::new(&dims, tensor::TensorType::Fp32, &values);
        context.compute(vec![(input.into(), tensor)]).unwrap()[0].1.data()
    };
    let draft = open(model).await;
    let new = async || {
        let tensor = Tensor::new(&dims, TensorType::Fp32, &values);
        draft.compute(vec![(input.into(), tensor)]).await.unwrap()[0].1.data()
    };
    let (mut of_old, mut of_new) = (Vec::new(), Vec::new());
    for _ in 0..21 {
        let begin = now();
        for _ in 0..times {
            std::hint::black_box(old());
        }
        let middle = now();
        for _ in 0..times {
            std::hint::black_box(new().await);
        }
        of_old.push((middle - begin) / u64::from(times));
        of_new.push((now() - middle) / u64::from(times));
    }
    of_old.sort();
    of_new.sort();
    println!("0.2.0-rc-2024-10-28: {} ns, 0.3.0-draft: {} ns", of_old[10], of_new[10]);
    Ok(())
}
