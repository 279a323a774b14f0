//! A call of the table that goes on while its guest does, as a future or by polls.

use std::ffi::c_void;
use std::future::poll_fn;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use wasinn_sys::{wasinn_guest, wasinn_status, wasinn_wit_done, wasinn_wit_result, wasinn_wit_task};
use wasmtime::Result;

use crate::begun::Wake;
use crate::notify::Notify;
use crate::wit::calls::Library;
use crate::wit::views::Shown;

/// Dropping it cancels the work.
pub struct Task<W> {
    task: *mut wasinn_wit_task,
    guest: *mut wasinn_guest, // valid as long as the task
    library: Library,
    wake: W,
    report: Option<Arc<Report<W>>>, // none: no work goes on
}

/// The report of the end of work. The table has one reference to it until it calls `notify`.
struct Report<W> {
    is_done: AtomicBool,
    waker: Notify,
    wake: W,
}

// SAFETY: any thread may use a task, one at a time.
unsafe impl<W: Send> Send for Task<W> {}

impl<W: Wake> Task<W> {
    /// `begin` is a function of the table that begins work at once.
    pub fn begin(
        library: Library,
        guest: *mut wasinn_guest,
        wake: W,
        begin: impl FnOnce(wasinn_wit_done, *mut *mut wasinn_wit_task) -> Result<*mut wasinn_status>,
    ) -> Result<Self> {
        let mut task = ptr::null_mut();
        let report = report(&library, &wake, |done| begin(done, &mut task))?;
        Ok(Task { task, guest, library, wake, report: Some(report) })
    }

    /// A generation; `begin` makes it.
    pub fn generation(
        library: Library,
        guest: *mut wasinn_guest,
        wake: W,
        begin: impl FnOnce(*mut *mut wasinn_wit_task) -> *mut wasinn_status,
    ) -> Result<Self> {
        let mut task = ptr::null_mut();
        library.check(begin(&mut task))?;
        Ok(Task { task, guest, library, wake, report: None })
    }

    /// Begins the next step of a generation.
    pub fn step(&mut self) -> Result<()> {
        let (functions, task) = (self.library.functions, self.task);
        // SAFETY: the task exists.
        let step = |done| Ok(unsafe { (functions.task_step)(task, done) });
        self.report = Some(report(&self.library, &self.wake, step)?);
        Ok(())
    }

    pub fn goes_on(&self) -> bool {
        self.report.is_some()
    }

    /// Ready when the work is over, and when there is none.
    pub fn poll(&mut self, context: &Context<'_>) -> Poll<()> {
        if let Some(report) = &self.report {
            if !report.is_done() {
                report.waker.register(context.waker());
                report.wake.register(context.waker());
                if !report.is_done() {
                    return Poll::Pending;
                }
            }
            self.report = None;
        }
        Poll::Ready(())
    }

    /// The result, once the work is over.
    pub fn take<M>(&mut self) -> Result<(wasinn_wit_result, Shown<M>)> {
        let (mut out, mut values) = (wasinn_wit_result::default(), Shown::empty());
        // SAFETY: the task exists, and the values are of the type that its kind makes.
        let status = unsafe { (self.library.functions.task_take)(self.task, &mut out, values.out()) };
        self.library.check(status)?;
        Ok((out, values))
    }

    /// As above, when it is over.
    pub async fn end<M>(mut self) -> Result<(wasinn_wit_result, Shown<M>)> {
        poll_fn(|context| self.poll(context)).await;
        self.take()
    }

    /// Drops an error of the guest.
    pub fn drop_error(&self, error: u32) {
        // SAFETY: the guest is valid, and the function accepts any rep.
        let _ = self.library.check(unsafe { (self.library.functions.error_drop)(self.guest, error) });
    }
}

impl<W> Drop for Task<W> {
    fn drop(&mut self) {
        // SAFETY: it is freed once, at any time.
        unsafe { (self.library.functions.task_free)(self.task) };
    }
}

impl<W> Report<W> {
    fn is_done(&self) -> bool {
        self.is_done.load(Ordering::Acquire)
    }
}

fn report<W: Wake>(
    library: &Library,
    wake: &W,
    begin: impl FnOnce(wasinn_wit_done) -> Result<*mut wasinn_status>,
) -> Result<Arc<Report<W>>> {
    let report = Arc::new(Report { is_done: AtomicBool::new(false), waker: Notify::default(), wake: wake.clone() });
    let user = Arc::into_raw(report.clone());
    let begun = begin(wasinn_wit_done { notify: Some(notify::<W>), user: user.cast_mut().cast() });
    if let Err(error) = begun.and_then(|status| library.check(status)) {
        // SAFETY: nothing has begun, so the table does not use it.
        drop(unsafe { Arc::from_raw(user) });
        return Err(error);
    }
    Ok(report)
}

/// Called once, on any thread.
unsafe extern "C" fn notify<W: Wake>(report: *mut c_void) {
    // SAFETY: this reference was the table's.
    let report = unsafe { Arc::from_raw(report.cast::<Report<W>>()) };
    let (waker, wake) = (report.waker.clone(), report.wake.clone());
    report.is_done.store(true, Ordering::Release);
    waker.wake();
    wake.wake();
}
