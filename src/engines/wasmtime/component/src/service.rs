//! An instance of wasi:http/handler that answers several requests, also at once. It has no thread: those that wait for
//! an answer drive it in turns, each until it has its own.

use futures_util::stream::{FuturesUnordered, StreamExt};
use http::Request;
use std::ffi::c_void;
use std::future::{pending, poll_fn};
use std::mem::{ManuallyDrop, transmute};
use std::pin::Pin;
use std::sync::Mutex;
use std::task::{Context, Poll};
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::unconstrained;
use tokio::time::{Interval, MissedTickBehavior, interval};
use wasmtime::component::Accessor;
use wasmtime::{AsContextMut, Result, bail, format_err};
use wasmtime_c_api::{WasmtimeStoreData, wasmtime_error_t};
use wasmtime_wasi_http::p3::bindings::ServicePre;

use crate::alone::{LOOK_AGAIN, MOST_RESOURCES, Waits, caught, new_runtime};
use crate::exchange::{Allows, HttpAnswer, HttpRequest, Permission};
use crate::handler::{Handler, pass_on};
use crate::handler03::{Given, call_handle};
use crate::http_state::set_up;
use crate::lent::Lent;
use crate::link::{TOO_OLD, to_c};
use crate::outgoing::Outgoing;
use crate::types::Store;
use crate::wasi03::limit_tasks;

/// `wasinn_http_service_options`
#[repr(C)]
pub struct Options {
    struct_size: u32,
    /// The fuel of one request; 0: it is not counted. The first one has what the store has.
    fuel: u64,
    user: *mut c_void,
    /// Whether the guest should end. Called on the thread that drives.
    is_interrupted: unsafe extern "C" fn(*mut c_void) -> bool,
    allows: Option<Allows>,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Options>() == 40);

/// A call of the guest.
struct Call {
    request: Request<Lent>,
    sender: oneshot::Sender<Given>,
    /// Requests whose answers are not complete.
    n_others: u64,
}

/// A request that no thread has seen yet.
struct Begun {
    request: Request<Lent>,
    asks: Asks,
    /// For the embedder.
    is_begun: *mut bool,
}

/// The embedder's side of a request. The body ends with it.
struct Asks {
    body: Lent,
    answer: HttpAnswer,
    end: unsafe extern "C" fn(*mut c_void, bool),
}

impl Drop for Asks {
    fn drop(&mut self) {
        self.body.end();
    }
}

/// An answer that is on its way.
struct Passing {
    passed: Pin<Box<dyn Future<Output = bool>>>,
    asks: Asks,
}

impl Passing {
    fn new(asks: Asks, given: oneshot::Receiver<Given>) -> Self {
        let answer = asks.answer;
        let passed = async move { pass_on(async { given.await.ok() }, &answer).await };
        Passing { passed: Box::pin(unconstrained(passed)), asks }
    }

    fn end(self, is_whole: bool) {
        let (end, user) = (self.asks.end, self.asks.answer.user());
        drop(self);
        // SAFETY: the embedder guarantees it.
        unsafe { end(user, is_whole) }
    }
}

/// For the thread that drives.
struct Driven {
    /// The instance's end. None: it has ended.
    work: Option<Pin<Box<dyn Future<Output = Result<()>>>>>,
    begun: UnboundedReceiver<Begun>,
    calls: UnboundedSender<Call>,
    passing: Vec<Passing>,
    options: Options,
}

/// For any thread: a store may go on on another one, and so may what is between the embedder and the guest.
pub struct Service {
    driven: Mutex<Driven>,
    begun: UnboundedSender<Begun>,
    runtime: ManuallyDrop<Runtime>,
}

impl Drop for Service {
    fn drop(&mut self) {
        {
            let _within = self.runtime.enter();
            self.driven.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).leave();
        }
        // SAFETY: nothing uses it afterwards.
        unsafe { ManuallyDrop::take(&mut self.runtime) }.shutdown_background();
    }
}

impl Driven {
    fn is_interrupted(&self) -> bool {
        // SAFETY: the embedder guarantees it.
        unsafe { (self.options.is_interrupted)(self.options.user) }
    }

    /// Drops everything that refers to the store or to requests.
    fn leave(&mut self) {
        self.work = None;
        self.passing.clear();
        while self.begun.try_recv().is_ok() {}
    }

    /// Returns after the end of a request: perhaps it is the thread's own.
    fn poll(&mut self, context: &mut Context<'_>, look: &mut Interval) -> Poll<Result<()>> {
        while let Poll::Ready(Some(begun)) = self.begun.poll_recv(context) {
            let (sender, given) = oneshot::channel();
            let n_others = self.passing.len() as u64;
            let _ = self.calls.send(Call { request: begun.request, sender, n_others });
            self.passing.push(Passing::new(begun.asks, given));
            // SAFETY: the embedder guarantees it.
            unsafe { *begun.is_begun = true };
        }
        if self.pass_on(context) {
            return Poll::Ready(Ok(()));
        }
        let Some(work) = &mut self.work else { return Poll::Ready(Err(format_err!("the instance has ended"))) };
        if let Poll::Ready(ended) = work.as_mut().poll(context) {
            self.work = None;
            for mut passing in self.passing.drain(..) {
                match passing.passed.as_mut().poll(context) {
                    Poll::Ready(true) => passing.end(true), // all of it was there
                    Poll::Ready(false) => {}
                    Poll::Pending => passing.asks.answer.fail("ended before its answer was complete"),
                }
            }
            return Poll::Ready(ended);
        }
        while look.poll_tick(context).is_ready() {
            if self.is_interrupted() {
                return Poll::Ready(Err(format_err!("the guest is interrupted")));
            }
            if self.drop_unwanted() {
                return Poll::Ready(Ok(()));
            }
        }
        Poll::Pending
    }

    /// Whether an answer has ended.
    fn pass_on(&mut self, context: &mut Context<'_>) -> bool {
        self.end_those(|passing| match passing.passed.as_mut().poll(context) {
            Poll::Ready(is_whole) => Some(is_whole),
            Poll::Pending => None,
        })
    }

    /// The tasks of these requests may go on.
    fn drop_unwanted(&mut self) -> bool {
        self.end_those(|passing| passing.asks.answer.is_interrupted().then_some(false))
    }

    /// `end_of` returns whether the answer is whole, if it has ended.
    fn end_those(&mut self, mut end_of: impl FnMut(&mut Passing) -> Option<bool>) -> bool {
        let before = self.passing.len();
        let mut i = 0;
        while i < self.passing.len() {
            match end_of(&mut self.passing[i]) {
                Some(is_whole) => self.passing.swap_remove(i).end(is_whole),
                None => i += 1,
            }
        }
        self.passing.len() < before
    }
}

/// Answers calls until a trap.
async fn answer(
    pre: ServicePre<WasmtimeStoreData>,
    mut store: Store<'static>,
    mut calls: UnboundedReceiver<Call>,
    fuel: u64,
) -> Result<()> {
    let service = pre.instantiate_async(&mut store).await?;
    store
        .run_concurrent(async |tasks| -> Result<()> {
            let mut running = FuturesUnordered::new();
            let mut is_first = true;
            loop {
                tokio::select! {
                    biased;
                    Some(answered) = running.next() => answered?,
                    Some(call) = calls.recv() => {
                        if fuel > 0 && !is_first {
                            refuel(tasks, fuel, call.n_others)?;
                        }
                        is_first = false;
                        running.push(call_handle(tasks, &service, call.request, call.sender));
                    }
                    else => pending::<()>().await,
                }
            }
        })
        .await?
}

/// Requests at once use what they have together. What earlier ones left is not kept.
fn refuel(tasks: &Accessor<WasmtimeStoreData>, fuel: u64, n_others: u64) -> Result<()> {
    tasks.with(|mut store| {
        let mut store = store.as_context_mut();
        let left = store.get_fuel()?.min(fuel.saturating_mul(n_others));
        store.set_fuel(left.saturating_add(fuel))
    })
}

impl Service {
    /// # Safety
    /// The store outlives the result, which alone uses it.
    unsafe fn new(handler: &Handler, mut store: Store<'_>, options: Options) -> Result<Self> {
        if (options.struct_size as usize) < size_of::<Options>() {
            bail!(TOO_OLD);
        }
        let Handler::Of03(pre) = handler else { bail!("instances of WASI 0.2 answer one request each") };
        // SAFETY: the embedder guarantees it.
        let permission = options.allows.map(|allows| unsafe { Permission::new(options.user, allows) });
        let waits = if permission.is_some() { Waits::TimeAndSockets } else { Waits::Time };
        set_up(store.data_mut(), Outgoing::new(permission), MOST_RESOURCES)?;
        limit_tasks(&mut store, MOST_RESOURCES);
        // SAFETY: as the caller guarantees.
        let store = unsafe { transmute::<Store<'_>, Store<'static>>(store) };
        let (sender, begun) = unbounded_channel();
        let (calls, to_answer) = unbounded_channel();
        let work = Box::pin(answer(pre.clone(), store, to_answer, options.fuel));
        let driven = Driven { work: Some(work), begun, calls, passing: Vec::new(), options };
        Ok(Service { driven: Mutex::new(driven), begun: sender, runtime: ManuallyDrop::new(new_runtime(waits)?) })
    }

    fn drive(&self) -> Result<()> {
        let mut driven = self.driven.lock().expect("panics are caught within");
        let done = caught(|| {
            self.runtime.block_on(async {
                let mut look = interval(LOOK_AGAIN);
                look.set_missed_tick_behavior(MissedTickBehavior::Delay);
                poll_fn(|context| driven.poll(context, &mut look)).await
            })
        });
        if done.is_err() {
            let _within = self.runtime.enter();
            driven.leave();
        }
        done
    }
}

/// For a new store with WASI, and a handler that may stay. Runs nothing yet.
///
/// # Safety
/// The store comes from the C API, outlives the service, and is used by nothing else; the options are valid as they
/// document.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_service_new(
    handler: &Handler,
    store: Store<'_>,
    options: *const Options,
    out: &mut *mut Service,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: the caller guarantees it.
    let made = unsafe { Service::new(handler, store, options.read()) };
    to_c(made.map(|service| *out = Box::into_raw(Box::new(service))))
}

#[unsafe(no_mangle)]
pub extern "C" fn wasinn_component_service_delete(_service: Option<Box<Service>>) {}

/// Begins a request, for the thread that drives. False: `answer` was given the reason, and `end` is not called.
///
/// # Safety
/// The request is valid during this call. Its body and the answer's functions are valid until `end` is called with the
/// answer's `user`, or until a call of wasinn_component_service_drive has returned an error; so is `is_begun`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_service_begin(
    service: &Service,
    request: &HttpRequest,
    answer: &HttpAnswer,
    end: unsafe extern "C" fn(*mut c_void, bool),
    is_begun: *mut bool,
) -> bool {
    let mut lent = None;
    // SAFETY: the caller guarantees it.
    let request = unsafe { request.read(|bytes| lent.insert(Lent::new(bytes)).clone()) };
    match (request, lent) {
        (Ok(request), Some(body)) => {
            service.begun.send(Begun { request, asks: Asks { body, answer: *answer, end }, is_begun }).is_ok()
        }
        (Err(error), _) => {
            answer.refuse(&error.to_string());
            false
        }
        _ => false,
    }
}

/// Drives all requests on this thread, one thread at a time, until one of them ends. An error is the end of the
/// instance: that of all requests which have not ended before. Afterwards the service may only be deleted.
///
/// # Safety
/// As wasinn_component_service_new says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_service_drive(service: &Service) -> Option<Box<wasmtime_error_t>> {
    to_c(service.drive())
}
