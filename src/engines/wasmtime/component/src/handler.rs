//! Components that answer HTTP requests: wasi:http/incoming-handler. The embedder runs the server; this file passes one
//! request to an instance and returns its answer.

use http_body_util::BodyExt;
use std::pin::pin;
use tokio::sync::oneshot;
use tokio::task::unconstrained;
use tokio::time::{MissedTickBehavior, interval};
use wasmtime::component::Component;
use wasmtime::{Result, bail};
use wasmtime_c_api::{WasmtimeStoreData, wasmtime_component_linker_t, wasmtime_component_t, wasmtime_error_t};
use wasmtime_wasi_http::p2::bindings::ProxyPre;
use wasmtime_wasi_http::p2::bindings::http::types::{ErrorCode, Scheme};
use wasmtime_wasi_http::p2::body::HyperOutgoingBody;

use crate::alone::{LOOK_AGAIN, MOST_RESOURCES, Waits, alone};
use crate::exchange::{HttpAnswer, HttpRequest};
use crate::http_state::{set_up, view_of};
use crate::link::to_c;
use crate::outgoing::Outgoing;
use crate::types::{Linker, Store};

/// The limit of a guest's error text.
const MOST_ERROR: usize = 500;

pub struct Handler(ProxyPre<WasmtimeStoreData>);

/// # Safety
/// `linker` and `component` come from this library's C API; the linker has the functions of wasinn_component_link_http.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_handler_new(
    linker: *const wasmtime_component_linker_t,
    component: *const wasmtime_component_t,
    out: &mut *mut Handler,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: the C API's types are transparent wrappers.
    let (linker, component) = unsafe { (&*linker.cast::<Linker>(), &*component.cast::<Component>()) };
    let pre = linker.instantiate_pre(component).and_then(ProxyPre::new);
    to_c(pre.map(|pre| *out = Box::into_raw(Box::new(Handler(pre)))))
}

#[unsafe(no_mangle)]
pub extern "C" fn wasinn_component_handler_delete(_handler: Option<Box<Handler>>) {}

/// Answers a request in a new instance, in a new store with WASI. Returns an error if the guest traps or does not
/// start; `answer` receives all other reasons for an incomplete answer.
///
/// # Safety
/// The store comes from the C API; the structs are valid as they document.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_handle(
    handler: &Handler,
    store: Store<'_>,
    request: &HttpRequest,
    answer: &HttpAnswer,
    is_whole: &mut bool,
) -> Option<Box<wasmtime_error_t>> {
    let waits = if answer.may_send() { Waits::TimeAndSockets } else { Waits::Time };
    // SAFETY: the caller guarantees it.
    to_c(alone(waits, |runtime| runtime.block_on(unsafe { handle(handler, store, request, answer, is_whole) })))
}

/// Once the answer is complete, the guest ends at its next wait.
async unsafe fn handle(
    handler: &Handler,
    mut store: Store<'_>,
    request: &HttpRequest,
    answer: &HttpAnswer,
    is_whole: &mut bool,
) -> Result<()> {
    // SAFETY: the store runs nothing after this call.
    set_up(store.data_mut(), Outgoing::new(unsafe { answer.permission() }), MOST_RESOURCES)?;
    // SAFETY: the caller guarantees it.
    let request = match unsafe { request.read() } {
        Ok(request) => request,
        Err(error) => {
            answer.refuse(&error.to_string());
            return Ok(());
        }
    };
    let scheme = if request.uri().scheme_str() == Some("https") { Scheme::Https } else { Scheme::Http };
    let (sender, receiver) = oneshot::channel();
    let mut view = view_of(store.data_mut());
    let request = view.new_incoming_request(scheme, request)?;
    let out = view.new_response_outparam(sender)?;

    let mut call = pin!(async {
        let proxy = handler.0.instantiate_async(&mut store).await?;
        proxy.wasi_http_incoming_handler().call_handle(&mut store, request, out).await
    });
    let mut passing = pin!(unconstrained(pass_on(receiver, answer)));
    let mut look = interval(LOOK_AGAIN);
    look.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let called = loop {
        tokio::select! {
            biased;
            whole = &mut passing => {
                *is_whole = whole;
                return Ok(());
            }
            called = &mut call => break called,
            _ = look.tick() => if answer.is_interrupted() { bail!("the guest is interrupted") },
        }
    };
    // The guest's answer is buffered, and no more will come.
    tokio::select! {
        biased;
        whole = &mut passing => *is_whole = whole,
        _ = std::future::ready(()) => answer.fail("ended before its answer was complete"),
    }
    called
}

type Given = std::result::Result<http::Response<HyperOutgoingBody>, ErrorCode>;

/// Returns whether the answer was passed on completely.
async fn pass_on(receiver: oneshot::Receiver<Given>, answer: &HttpAnswer) -> bool {
    let (head, mut body) = match receiver.await {
        Ok(Ok(response)) => response.into_parts(),
        Ok(Err(error)) => {
            answer.fail(&format!("answered with an error: {}", words_of(&error)));
            return false;
        }
        Err(_) => {
            answer.fail("gave no answer");
            return false;
        }
    };
    if !answer.begin(head.status.as_u16(), &head.headers) {
        return false;
    }
    while let Some(frame) = body.frame().await {
        match frame.map(|frame| frame.into_data()) {
            Ok(Ok(bytes)) if answer.write(&bytes) => {}
            Ok(Ok(_)) => return false,
            Ok(Err(_trailers)) => {} // were not announced to clients
            Err(error) => {
                answer.fail(&format!("broke off its answer: {error}"));
                return false;
            }
        }
    }
    true
}

fn words_of(error: &ErrorCode) -> String {
    format!("{error:?}").chars().take(MOST_ERROR).collect()
}
