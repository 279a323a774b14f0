//! A call that runs on a thread of the host while the guest's future is pending.

use std::ffi::c_void;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use wasmtime::Result;

use crate::blocking::TableCall;
use crate::calls::{AsyncCaller, Calls};
use crate::wit::{Guest, Outcome, WitResult};

type Close = unsafe extern "C" fn(*mut Guest);

/// Ready when the call is over. Dropping it earlier closes the guest, which waits for the call: a guest whose future is
/// deleted never continues, so nothing is lost.
pub struct Begun<C, M> {
    call: *mut Call<C, M>, // null once it is taken
    calls: Calls,
    close: Close,
}

/// Until `done` is set, the host's thread owns everything else here.
struct Call<C, M> {
    call: C,
    caller: AsyncCaller,
    status: Outcome,
    out: WitResult,
    more: M,
    done: AtomicBool,
}

// SAFETY: `call` points to the guest's memory, which stays in place until the guest continues, and only this call uses
// it; any thread may use the rest, one at a time (wit.h).
unsafe impl<C, M> Send for Begun<C, M> {}

impl<C: TableCall<M>, M: Default> Begun<C, M> {
    pub fn new(calls: Calls, caller: AsyncCaller, close: Close, call: C) -> Self {
        let guest = caller.guest;
        let call = Call {
            call,
            caller,
            status: ptr::null_mut(),
            out: WitResult::default(),
            more: M::default(),
            done: AtomicBool::new(false),
        };
        let begun = Begun { call: Box::into_raw(Box::new(call)), calls, close };
        // SAFETY: `run` is called at most once, and returns before the guest's closing does; the call lives as long.
        let status = unsafe { (calls.functions.begin)(guest, run::<C, M>, begun.call.cast()) };
        if !status.is_null() {
            // SAFETY: `run` was not called and never will be.
            let call = unsafe { &mut *begun.call };
            call.status = status;
            *call.done.get_mut() = true;
        }
        begun
    }
}

/// Runs on a thread of the host.
unsafe extern "C" fn run<C: TableCall<M>, M>(user: *mut c_void) {
    let call = user.cast::<Call<C, M>>();
    // SAFETY: until `done` is set, other threads read only `done`; from then on the call may be freed.
    unsafe {
        let (wake, user) = ((*call).caller.wake, (*call).caller.user);
        (*call).status = ((*call).call)((*call).caller.guest, &mut (*call).out, &mut (*call).more);
        (*call).done.store(true, Ordering::Release);
        if let Some(wake) = wake {
            wake(user);
        }
    }
}

impl<C, M> Begun<C, M> {
    fn is_done(&self) -> bool {
        // SAFETY: the call exists, and `done` is atomic.
        unsafe { (*self.call).done.load(Ordering::Acquire) }
    }

    fn take(&mut self) -> Box<Call<C, M>> {
        // SAFETY: the call exists, and once it is done no other thread uses it.
        unsafe { Box::from_raw(std::mem::replace(&mut self.call, ptr::null_mut())) }
    }
}

impl<C, M> Future for Begun<C, M> {
    type Output = Result<(WitResult, M)>;

    // The C API polls with a waker that does nothing: `wake` notifies the embedder.
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        if !self.is_done() {
            return Poll::Pending;
        }
        let call = self.take();
        Poll::Ready(self.calls.check(call.status).map(|()| (call.out, call.more)))
    }
}

impl<C, M> Drop for Begun<C, M> {
    fn drop(&mut self) {
        if self.call.is_null() {
            return;
        }
        if !self.is_done() {
            // SAFETY: the call has a guest, or `begin` had failed; this thread is not inside a call of that guest.
            unsafe { (self.close)((*self.call).caller.guest) };
        }
        let call = self.take();
        drop(self.calls.check(call.status)); // frees it
    }
}
