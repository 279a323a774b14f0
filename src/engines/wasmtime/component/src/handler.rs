//! Components that answer HTTP requests: wasi:http/handler, or wasi:http/incoming-handler of WASI 0.2. The embedder runs
//! the server; this file passes one request to an instance and returns its answer.

use bytes::Bytes;
use http::Response;
use http_body_util::{BodyExt, Full};
use hyper::body::Body;
use std::fmt::{Debug, Display};
use std::pin::pin;
use tokio::task::unconstrained;
use tokio::time::{MissedTickBehavior, interval};
use wasmtime::component::Component;
use wasmtime::{Result, bail};
use wasmtime_c_api::{WasmtimeStoreData, wasmtime_component_linker_t, wasmtime_component_t, wasmtime_error_t};
use wasmtime_wasi_http::p2::bindings::ProxyPre;
use wasmtime_wasi_http::p3::bindings::ServicePre;

use crate::alone::{LOOK_AGAIN, MOST_RESOURCES, Waits, alone};
use crate::exchange::{HttpAnswer, HttpRequest};
use crate::http_state::set_up;
use crate::link::to_c;
use crate::outgoing::Outgoing;
use crate::types::{Linker, Store};
use crate::wasi03::limit_tasks;
use crate::{handler02, handler03};

/// The limit of a guest's error text.
const MOST_ERROR: usize = 500;

pub enum Handler {
    Of02(ProxyPre<WasmtimeStoreData>),
    Of03(ServicePre<WasmtimeStoreData>),
}

impl Handler {
    /// Accepts any compatible version: Wasmtime looks exports up by semver.
    fn new(linker: &Linker, component: &Component) -> Result<Self> {
        let pre = linker.instantiate_pre(component)?;
        let is_of_03 = component.get_export_index(None, "wasi:http/handler@0.3.0").is_some();
        Ok(match is_of_03 {
            true => Handler::Of03(ServicePre::new(pre)?),
            false => Handler::Of02(ProxyPre::new(pre)?),
        })
    }
}

/// # Safety
/// `linker` and `component` come from this library's C API; the linker has the functions of wasinn_component_link_http or
/// wasinn_component_link_wasi03.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_handler_new(
    linker: *const wasmtime_component_linker_t,
    component: *const wasmtime_component_t,
    out: &mut *mut Handler,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: the C API's types are transparent wrappers.
    let (linker, component) = unsafe { (&*linker.cast::<Linker>(), &*component.cast::<Component>()) };
    to_c(Handler::new(linker, component).map(|handler| *out = Box::into_raw(Box::new(handler))))
}

#[unsafe(no_mangle)]
pub extern "C" fn wasinn_component_handler_delete(_handler: Option<Box<Handler>>) {}

/// Whether its instances can answer several requests: wasinn_component_service_new.
#[unsafe(no_mangle)]
pub extern "C" fn wasinn_component_handler_may_stay(handler: &Handler) -> bool {
    matches!(handler, Handler::Of03(_))
}

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

async unsafe fn handle(
    handler: &Handler,
    mut store: Store<'_>,
    request: &HttpRequest,
    answer: &HttpAnswer,
    is_whole: &mut bool,
) -> Result<()> {
    // SAFETY: the store runs nothing after this call.
    set_up(store.data_mut(), Outgoing::new(unsafe { answer.permission() }), MOST_RESOURCES)?;
    limit_tasks(&mut store, MOST_RESOURCES);
    // SAFETY: the caller guarantees it.
    let request = match unsafe { request.read(|body| Full::new(Bytes::from_static(body))) } {
        Ok(request) => request,
        Err(error) => {
            answer.refuse(&error.to_string());
            return Ok(());
        }
    };
    match handler {
        Handler::Of02(pre) => handler02::handle(pre, store, request, answer, is_whole).await,
        Handler::Of03(pre) => handler03::handle(pre, store, request, answer, is_whole).await,
    }
}

/// Runs a guest's call, and passes on what it gives: a response, the words of its error, or nothing. Once the answer is
/// complete, the guest ends at its next wait.
pub async fn end_of<B>(
    call: impl Future<Output = Result<()>>,
    given: impl Future<Output = Option<std::result::Result<Response<B>, String>>>,
    answer: &HttpAnswer,
    is_whole: &mut bool,
) -> Result<()>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Display,
{
    let mut call = pin!(call);
    let mut passing = pin!(unconstrained(pass_on(given, answer)));
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

/// Returns whether the answer was passed on completely.
pub async fn pass_on<B>(
    given: impl Future<Output = Option<std::result::Result<Response<B>, String>>>,
    answer: &HttpAnswer,
) -> bool
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Display,
{
    let (head, mut body) = match given.await {
        Some(Ok(response)) => response.into_parts(),
        Some(Err(error)) => {
            answer.fail(&format!("answered with an error: {error}"));
            return false;
        }
        None => {
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

pub fn words_of(error: &impl Debug) -> String {
    format!("{error:?}").chars().take(MOST_ERROR).collect()
}
