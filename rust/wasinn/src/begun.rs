//! A call that runs on a thread of the host while the guest's future is pending.

use std::cell::UnsafeCell;
use std::ffi::c_void;
use std::future::Future;
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

use wasinn_sys::wasinn_guest;

/// Notifies the thread that polls a guest's future.
pub trait Wake: Clone + Send + Sync + Unpin + 'static {
    /// Called before each look at a call that goes on.
    fn register(&self, waker: &Waker);
    /// Called once the call is over, on any thread. The future may have ended already.
    fn wake(self);
}

/// For hosts that are notified by their wakers alone.
impl Wake for () {
    fn register(&self, _: &Waker) {}
    fn wake(self) {}
}

/// `wasinn_guest_close`
pub type Close = unsafe extern "C" fn(*mut wasinn_guest);

/// Ready with the work when the call is over. Dropping it earlier closes the guest, which waits for the call: a guest
/// whose future is deleted never continues, so nothing is lost.
pub struct Begun<W, N> {
    call: *mut Call<W, N>, // null once it is taken
    guest: *mut wasinn_guest,
    close: Close,
}

/// Until `done` is set, the host's thread owns the work.
pub struct Call<W, N> {
    work: UnsafeCell<W>,
    wake: N,
    done: AtomicBool,
}

// SAFETY: the work may point to the guest's memory, which stays in place until the guest continues, and only this call
// uses it; any thread may use the rest, one at a time.
unsafe impl<W, N: Send> Send for Begun<W, N> {}

impl<W, N: Wake> Begun<W, N> {
    /// `begin` starts the call with a pointer to it, and returns false if the call will never run. If it runs, `end` is
    /// called once, before a closing of the guest returns.
    ///
    /// # Safety
    /// `begin` keeps this promise, and `close` closes `guest`.
    pub unsafe fn new(
        work: W,
        wake: N,
        guest: *mut wasinn_guest,
        close: Close,
        begin: impl FnOnce(*mut Call<W, N>) -> bool,
    ) -> Self {
        let call = Box::new(Call { work: UnsafeCell::new(work), wake, done: AtomicBool::new(false) });
        let begun = Begun { call: Box::into_raw(call), guest, close };
        if !begin(begun.call) {
            // SAFETY: no other thread has it.
            *unsafe { &mut *begun.call }.done.get_mut() = true;
        }
        begun
    }
}

impl<W, N> Begun<W, N> {
    fn is_done(&self) -> bool {
        // SAFETY: the call exists, and `done` is atomic.
        unsafe { (*self.call).done.load(Ordering::Acquire) }
    }

    fn take(&mut self) -> W {
        // SAFETY: the call exists, and once it is done no other thread uses it.
        unsafe { Box::from_raw(std::mem::replace(&mut self.call, ptr::null_mut())) }.work.into_inner()
    }
}

impl<W, N: Wake> Call<W, N> {
    /// The work of the call behind `user`, for the thread that does it.
    ///
    /// # Safety
    /// The call has begun, and is not over.
    pub unsafe fn work<'a>(user: *mut c_void) -> &'a mut W {
        // SAFETY: until `done` is set, this thread owns the work.
        unsafe { &mut *(*user.cast::<Self>()).work.get() }
    }

    /// Ends the call.
    ///
    /// # Safety
    /// As above; afterwards the call may be freed.
    pub unsafe fn end(user: *mut c_void) {
        let call = user.cast::<Self>();
        // SAFETY: other threads read only `done` and `wake` until `done` is set.
        let wake = unsafe { (*call).wake.clone() };
        // SAFETY: as above; from here on the call may be freed.
        unsafe { (*call).done.store(true, Ordering::Release) };
        wake.wake();
    }
}

impl<W, N: Wake> Future for Begun<W, N> {
    type Output = W;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<W> {
        if !self.is_done() {
            // SAFETY: the call exists, and its end only clones `wake`.
            unsafe { (*self.call).wake.register(context.waker()) };
            if !self.is_done() {
                return Poll::Pending;
            }
        }
        Poll::Ready(self.take())
    }
}

impl<W, N> Drop for Begun<W, N> {
    fn drop(&mut self) {
        if self.call.is_null() {
            return;
        }
        if !self.is_done() {
            // SAFETY: the call has a guest; this thread is not inside a call of that guest.
            unsafe { (self.close)(self.guest) };
        }
        self.take();
    }
}
