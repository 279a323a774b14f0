//! Handlers of WASI 0.2: wasi:http/incoming-handler.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use tokio::sync::oneshot;
use wasmtime::Result;
use wasmtime_c_api::WasmtimeStoreData;
use wasmtime_wasi_http::p2::bindings::ProxyPre;
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, Scheme};
use wasmtime_wasi_http::p2::body::HyperOutgoingBody;

use crate::exchange::HttpAnswer;
use crate::handler::{end_of, words_of};
use crate::http_state::view_of;
use crate::types::Store;

type Given = std::result::Result<http::Response<HyperOutgoingBody>, ErrorCode>;

pub async fn handle(
    handler: &ProxyPre<WasmtimeStoreData>,
    mut store: Store<'_>,
    request: Request<Full<Bytes>>,
    answer: &HttpAnswer,
    is_whole: &mut bool,
) -> Result<()> {
    let scheme = if request.uri().scheme_str() == Some("https") { Scheme::Https } else { Scheme::Http };
    let (sender, receiver) = oneshot::channel::<Given>();
    let mut view = view_of(store.data_mut());
    let request = view.new_incoming_request(scheme, request)?;
    let out = view.new_response_outparam(sender)?;
    let call = async {
        let proxy = handler.instantiate_async(&mut store).await?;
        proxy.wasi_http_incoming_handler().call_handle(&mut store, request, out).await
    };
    let given = async { receiver.await.ok().map(|given| given.map_err(|error| words_of(&error))) };
    end_of(call, given, answer, is_whole).await
}
