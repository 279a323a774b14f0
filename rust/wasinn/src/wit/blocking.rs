//! Functions that may block, defined once for both kinds of callers.

use std::ptr;

use wasinn_sys::{wasinn_guest, wasinn_status, wasinn_wit_result};
use wasmtime::Result;
use wasmtime::component::{ComponentNamedList, Lift, Lower, ResourceType};

use crate::begun::{Begun, Call, Close, Wake};
use crate::wit::calls::{Calls, Find, FindAsync, Library};
use crate::wit::types::{Instance, Store};

/// Calls a function of the table. Its arguments are its own or in the guest's memory, so it runs before the guest
/// continues. It returns a result and, for some functions, a second value.
pub trait TableCall<M>:
    FnMut(*mut wasinn_guest, &mut wasinn_wit_result, &mut M) -> *mut wasinn_status + 'static
{
}
impl<M, C: FnMut(*mut wasinn_guest, &mut wasinn_wit_result, &mut M) -> *mut wasinn_status + 'static> TableCall<M>
    for C
{
}

/// Drops a resource: a function of the table.
pub type Drop = unsafe extern "C" fn(*mut wasinn_guest, u32) -> *mut wasinn_status;

/// The guests of a linker, and how they wait while a function blocks.
pub trait Callers<T: 'static>: Copy + Send + Sync + 'static {
    /// Notifies the thread that polls a guest's future.
    type Wake: Wake;

    /// Whether functions may compute on the guest's thread and stack.
    const MAY_STAY: bool;

    /// The guest that is calling.
    fn guest(&self, store: Store<'_, T>) -> *mut wasinn_guest;

    /// The same for a call that goes on while the guest does.
    fn caller(&self, store: Store<'_, T>) -> (*mut wasinn_guest, Self::Wake);

    /// Defines a function. `prepare` reads the arguments, `finish` makes the return value from the results.
    fn define<P, C, M, R>(
        calls: Calls<Self>,
        instance: &mut Instance<'_, T>,
        name: &str,
        prepare: impl Fn(&mut Store<'_, T>, P) -> Result<C> + Send + Sync + 'static,
        finish: impl Fn(wasinn_wit_result, M) -> Result<R> + Copy + Send + Sync + 'static,
    ) -> Result<()>
    where
        P: ComponentNamedList + Lift + 'static,
        C: TableCall<M>,
        M: Default + 'static,
        R: 'static,
        (R,): ComponentNamedList + Lower;

    /// Defines a resource whose destructor may block.
    fn define_resource(
        calls: Calls<Self>,
        instance: &mut Instance<'_, T>,
        name: &str,
        ty: ResourceType,
        drop: Drop,
    ) -> Result<()>;
}

/// The guest's thread waits.
#[derive(Clone, Copy)]
pub struct Waits<F>(pub F);

impl<T: 'static, F: Find<T>> Callers<T> for Waits<F> {
    type Wake = ();

    const MAY_STAY: bool = true;

    fn guest(&self, store: Store<'_, T>) -> *mut wasinn_guest {
        self.0.guest(store)
    }

    fn caller(&self, store: Store<'_, T>) -> (*mut wasinn_guest, ()) {
        (self.0.guest(store), ())
    }

    fn define<P, C, M, R>(
        calls: Calls<Self>,
        instance: &mut Instance<'_, T>,
        name: &str,
        prepare: impl Fn(&mut Store<'_, T>, P) -> Result<C> + Send + Sync + 'static,
        finish: impl Fn(wasinn_wit_result, M) -> Result<R> + Copy + Send + Sync + 'static,
    ) -> Result<()>
    where
        P: ComponentNamedList + Lift + 'static,
        C: TableCall<M>,
        M: Default + 'static,
        R: 'static,
        (R,): ComponentNamedList + Lower,
    {
        instance.func_wrap(name, move |mut store: Store<'_, T>, params: P| {
            let guest = calls.guest(&mut store);
            let mut call = prepare(&mut store, params)?;
            let (mut out, mut more) = (wasinn_wit_result::default(), M::default());
            calls.check(call(guest, &mut out, &mut more))?;
            Ok((finish(out, more)?,))
        })
    }

    fn define_resource(
        calls: Calls<Self>,
        instance: &mut Instance<'_, T>,
        name: &str,
        ty: ResourceType,
        drop: Drop,
    ) -> Result<()> {
        instance.resource(name, ty, move |mut store, rep| {
            // SAFETY: the function accepts any rep.
            calls.check(unsafe { drop(calls.guest(&mut store), rep) })
        })
    }
}

/// The function runs on a thread of the host, and the guest's future is pending.
#[derive(Clone, Copy)]
pub struct Rests<F> {
    /// Finds the guest.
    pub find: F,
    /// `wasinn_guest_close`
    pub close: Close,
}

impl<T: Send + 'static, F: FindAsync<T>> Callers<T> for Rests<F> {
    type Wake = F::Wake;

    const MAY_STAY: bool = false;

    fn guest(&self, store: Store<'_, T>) -> *mut wasinn_guest {
        self.find.guest(store)
    }

    fn caller(&self, store: Store<'_, T>) -> (*mut wasinn_guest, F::Wake) {
        self.find.caller(store)
    }

    fn define<P, C, M, R>(
        calls: Calls<Self>,
        instance: &mut Instance<'_, T>,
        name: &str,
        prepare: impl Fn(&mut Store<'_, T>, P) -> Result<C> + Send + Sync + 'static,
        finish: impl Fn(wasinn_wit_result, M) -> Result<R> + Copy + Send + Sync + 'static,
    ) -> Result<()>
    where
        P: ComponentNamedList + Lift + 'static,
        C: TableCall<M>,
        M: Default + 'static,
        R: 'static,
        (R,): ComponentNamedList + Lower,
    {
        instance.func_wrap_async(name, move |mut store: Store<'_, T>, params: P| {
            let call = prepare(&mut store, params);
            let begun = call.map(|call| begin(calls, store, call));
            Box::new(async move {
                let (out, more) = begun?.await.finish()?;
                Ok((finish(out, more)?,))
            })
        })
    }

    fn define_resource(
        calls: Calls<Self>,
        instance: &mut Instance<'_, T>,
        name: &str,
        ty: ResourceType,
        drop: Drop,
    ) -> Result<()> {
        instance.resource_async(name, ty, move |store, rep| {
            // SAFETY: the function accepts any rep.
            let call = move |guest, _: &mut wasinn_wit_result, _: &mut ()| unsafe { drop(guest, rep) };
            let begun = begin(calls, store, call);
            Box::new(async move { begun.await.finish().map(|_| ()) })
        })
    }
}

/// A call of the table, for a thread of the host.
struct Work<C, M> {
    call: C,
    guest: *mut wasinn_guest,
    library: Library,
    status: *mut wasinn_status,
    out: wasinn_wit_result,
    more: M,
}

fn begin<T: 'static, F: FindAsync<T>, C: TableCall<M>, M: Default>(
    calls: Calls<Rests<F>>,
    store: Store<'_, T>,
    call: C,
) -> Begun<Work<C, M>, F::Wake> {
    let (guest, wake) = calls.callers.find.caller(store);
    let (status, out) = (ptr::null_mut(), wasinn_wit_result::default());
    let work = Work { call, guest, library: calls.library, status, out, more: M::default() };
    let begin = |call: *mut Call<_, _>| {
        // SAFETY: `run` is called at most once, and returns before the guest's closing does; the call lives as long.
        let status = unsafe { (calls.library.functions.begin)(guest, Some(run::<C, M, F::Wake>), call.cast()) };
        if status.is_null() {
            return true;
        }
        // SAFETY: `run` was not called and never will be.
        unsafe { Call::<Work<C, M>, F::Wake>::work(call.cast()) }.status = status;
        false
    };
    // SAFETY: as above.
    unsafe { Begun::new(work, wake, guest, calls.callers.close, begin) }
}

/// Runs on a thread of the host.
unsafe extern "C" fn run<C: TableCall<M>, M, N: Wake>(call: *mut std::ffi::c_void) {
    // SAFETY: the call has begun.
    let work = unsafe { Call::<Work<C, M>, N>::work(call) };
    work.status = (work.call)(work.guest, &mut work.out, &mut work.more);
    // SAFETY: nothing uses the work after this.
    unsafe { Call::<Work<C, M>, N>::end(call) };
}

impl<C, M: Default> Work<C, M> {
    fn finish(mut self) -> Result<(wasinn_wit_result, M)> {
        self.library.check(std::mem::replace(&mut self.status, ptr::null_mut()))?;
        Ok((self.out, std::mem::take(&mut self.more)))
    }
}

impl<C, M> std::ops::Drop for Work<C, M> {
    fn drop(&mut self) {
        let _ = self.library.check(self.status); // frees it, if nobody has asked for it
    }
}
