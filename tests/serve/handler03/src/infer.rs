//! Computes with wasi:nn@0.3.0-draft on the models that the query names, which take one number.

use futures::future::{join_all, poll_fn, select_all};
use std::borrow::Borrow;
use std::future::Future;
use std::hint::black_box;
use std::pin::Pin;
use std::sync::OnceLock;
use std::task::Poll;

use wasip3::http::types::{Request, Response};
use wasip3::spawn_local;

use crate::{answer, begin, read_body};

mod draft {
    wit_bindgen::generate!({ path: "../../../guest/wit/nn-0.3", world: "ml" });
}
use draft::wasi::nn::errors::Error;
use draft::wasi::nn::graph::load_by_name;
use draft::wasi::nn::inference::GraphExecutionContext as Context;
use draft::wasi::nn::tensor::{Tensor, TensorType};

type Compute = Pin<Box<dyn Future<Output = Result<f32, Error>>>>;

async fn open(model: &str) -> Result<Context, Error> {
    load_by_name(model.into()).await?.init_execution_context()
}

async fn compute(context: impl Borrow<Context>, number: f32) -> Result<f32, Error> {
    let input = Tensor::new(&[1], TensorType::Fp32, &number.to_le_bytes());
    let outputs = context.borrow().compute(vec![("x".into(), input)]).await?;
    Ok(f32::from_le_bytes(outputs[0].1.data().try_into().unwrap()))
}

/// A compute of each model, not begun yet; the first one gets 1, the next one 2.
async fn computes(models: &str) -> Result<Vec<Compute>, Error> {
    let mut computes = Vec::new();
    for (model, i) in models.split(',').zip(1u8..) {
        computes.push(Box::pin(compute(open(model).await?, i.into())) as Compute);
    }
    Ok(computes)
}

fn shown(result: Result<f32, Error>) -> Response {
    match result {
        Ok(number) => answer(200, &[], number.to_string().into_bytes()),
        Err(error) => answer(500, &[], error.data().into_bytes()),
    }
}

/// The sum of all outputs; the computes overlap.
pub async fn all(models: &str) -> Response {
    shown(match computes(models).await {
        Ok(computes) => join_all(computes).await.into_iter().sum(),
        Err(error) => Err(error),
    })
}

/// The output of a context that stays with the instance, for one request after the other.
pub async fn kept(model: &str) -> Response {
    static KEPT: OnceLock<Context> = OnceLock::new();
    let context = match KEPT.get() {
        Some(context) => Ok(context),
        None => open(model).await.map(|context| KEPT.get_or_init(|| context)),
    };
    shown(match context {
        Ok(context) => compute(context, 1.0).await,
        Err(error) => Err(error),
    })
}

/// The output that comes first; the other computes are dropped.
pub async fn first(models: &str) -> Response {
    shown(match computes(models).await {
        Ok(computes) => select_all(computes).await.0,
        Err(error) => Err(error),
    })
}

/// Computes that go on.
async fn begun(models: &str) -> Vec<Compute> {
    let Ok(mut computes) = computes(models).await else { panic!("no contexts") };
    poll_fn(|context| {
        assert!(computes.iter_mut().all(|compute| compute.as_mut().poll(context).is_pending()));
        Poll::Ready(())
    })
    .await;
    computes
}

/// The answer is whole while the computes go on.
pub async fn left(models: &str) -> Response {
    let computes = begun(models).await;
    spawn_local(async { drop(join_all(computes).await) });
    answer(200, &[], b"whole".to_vec())
}

/// The answer has begun before the compute ends, and the guest's own work comes after that.
pub async fn work(model: &str) -> Response {
    let Ok(computes) = computes(model).await else { panic!("no contexts") };
    let (response, mut writer) = begin(200, &[("Content-Type", "text/event-stream")]);
    spawn_local(async move {
        writer.write_all(b"data: begun\n\n".to_vec()).await;
        drop(join_all(computes).await);
        (0..3_000_000).for_each(|i| drop(black_box(i)));
        writer.write_all(b"data: done\n\n".to_vec()).await;
    });
    response
}

pub async fn trap(models: &str) -> ! {
    let _computes = begun(models).await;
    panic!("as it should");
}

/// The body is the prompt, and each piece of the text is an event.
pub async fn speak(model: &str, request: Request) -> Response {
    let prompt = Tensor::new(&[1], TensorType::U8, &read_body(request).collect().await);
    let context = match open(model).await {
        Ok(context) => context,
        Err(error) => return shown(Err(error)),
    };
    let (response, mut writer) = begin(200, &[("Content-Type", "text/event-stream")]);
    let (mut pieces, outcome) = context.compute_stream(vec![("x".into(), prompt)]);
    spawn_local(async move {
        let _context = context;
        while let Some((_, piece)) = pieces.next().await {
            writer.write_all([b"data: ".as_slice(), &piece, b"\n\n"].concat()).await;
        }
        if let Err(error) = outcome.await {
            writer.write_all(format!("error: {}\n\n", error.data()).into_bytes()).await;
        }
    });
    response
}
