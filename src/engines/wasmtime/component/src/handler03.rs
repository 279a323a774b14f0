//! Handlers of WASI 0.3: wasi:http/handler. The response comes as the result of the call, and tasks of the guest write
//! its body afterwards.

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::Body;
use std::pin::Pin;
use tokio::sync::oneshot;
use wasmtime::Result;
use wasmtime::component::Accessor;
use wasmtime_c_api::WasmtimeStoreData;
use wasmtime_wasi_http::p3;
use wasmtime_wasi_http::p3::bindings::{Service, ServicePre};

use crate::exchange::HttpAnswer;
use crate::handler::{end_of, words_of};
use crate::http_state::view_of;
use crate::types::Store;

/// A response, or the words of the guest's error.
pub type Given = std::result::Result<Response<UnsyncBoxBody<Bytes, wasmtime_wasi_http::Error>>, String>;

type Sent = Pin<Box<dyn Future<Output = std::result::Result<(), wasmtime_wasi_http::Error>> + Send>>;

pub async fn handle(
    handler: &ServicePre<WasmtimeStoreData>,
    mut store: Store<'_>,
    request: Request<Full<Bytes>>,
    answer: &HttpAnswer,
    is_whole: &mut bool,
) -> Result<()> {
    let (sender, receiver) = oneshot::channel();
    let call = async {
        let service = handler.instantiate_async(&mut store).await?;
        store
            .run_concurrent(async |tasks| -> Result<()> {
                call_handle(tasks, &service, request, sender).await?;
                std::future::pending().await // while the body is passed on
            })
            .await?
    };
    end_of(call, async { receiver.await.ok() }, answer, is_whole).await
}

/// The body of the response is read while the store's tasks go on.
pub async fn call_handle<B>(
    tasks: &Accessor<WasmtimeStoreData>,
    service: &Service,
    request: Request<B>,
    sender: oneshot::Sender<Given>,
) -> Result<()>
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<wasmtime_wasi_http::Error>,
{
    let (request, sent) = tasks.with(|mut store| -> Result<_> {
        let view = view_of(store.data_mut());
        let (request, sent) = p3::Request::from_http(view.hooks, request);
        let sent: Sent = Box::pin(sent); // no borrow of the store
        Ok((view.table.push(request)?, sent))
    })?;
    let given = service.wasi_http_handler().call_handle(tasks, request).await?;
    let given = tasks.with(|mut store| -> Result<Given> {
        Ok(match given {
            Ok(response) => {
                let response = view_of(store.data_mut()).table.delete(response)?;
                Ok(response.into_http_with_getter(&mut store, sent, view_of)?)
            }
            Err(error) => Err(words_of(&error)),
        })
    })?;
    let _ = sender.send(given);
    Ok(())
}
