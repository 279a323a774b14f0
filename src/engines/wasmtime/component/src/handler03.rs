//! Handlers of WASI 0.3: wasi:http/handler. The response comes as the result of the call, and tasks of the guest write
//! its body afterwards.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tokio::sync::oneshot;
use wasmtime::Result;
use wasmtime_c_api::WasmtimeStoreData;
use wasmtime_wasi_http::p3;
use wasmtime_wasi_http::p3::bindings::ServicePre;

use crate::exchange::HttpAnswer;
use crate::handler::{end_of, words_of};
use crate::http_state::view_of;
use crate::types::Store;

pub async fn handle(
    handler: &ServicePre<WasmtimeStoreData>,
    mut store: Store<'_>,
    request: Request<Full<Bytes>>,
    answer: &HttpAnswer,
    is_whole: &mut bool,
) -> Result<()> {
    let (sender, receiver) = oneshot::channel();
    let view = view_of(store.data_mut());
    let (request, sent) = p3::Request::from_http(view.hooks, request);
    let request = view.table.push(request)?;
    let call = async {
        let service = handler.instantiate_async(&mut store).await?;
        store
            .run_concurrent(async |tasks| -> Result<()> {
                let given = service.wasi_http_handler().call_handle(tasks, request).await?;
                let given = tasks.with(|mut store| -> Result<_> {
                    Ok(match given {
                        Ok(response) => {
                            let response = view_of(store.data_mut()).table.delete(response)?;
                            Ok(response.into_http_with_getter(&mut store, sent, view_of)?)
                        }
                        Err(error) => Err(words_of(&error)),
                    })
                })?;
                let _ = sender.send(given);
                std::future::pending().await // while the body is passed on
            })
            .await?
    };
    end_of(call, async { receiver.await.ok() }, answer, is_whole).await
}
