//! Functions that may block, defined once for both kinds of callers.

use wasmtime::Result;
use wasmtime::component::{ComponentNamedList, Lift, Lower, ResourceType};

use crate::begun::Begun;
use crate::calls::{Callers, Calls};
use crate::types::{Instance, Store};
use crate::wit::{Drop, Functions, Guest, Outcome, WitResult};

/// Calls a function of the table. Its arguments are its own or in the guest's memory, so it runs before the guest
/// continues. It returns a result and, for some functions, a second value.
pub trait TableCall<M>: FnMut(*mut Guest, &mut WitResult, &mut M) -> Outcome + 'static {}
impl<M, C: FnMut(*mut Guest, &mut WitResult, &mut M) -> Outcome + 'static> TableCall<M> for C {}

/// `prepare` reads the arguments, `finish` makes the return value from the results.
pub fn define<P, C, M, R>(
    instance: &mut Instance<'_>,
    calls: Calls,
    name: &str,
    prepare: impl Fn(&mut Store<'_>, P) -> Result<C> + Send + Sync + 'static,
    finish: impl Fn(WitResult, M) -> Result<R> + Copy + Send + Sync + 'static,
) -> Result<()>
where
    P: ComponentNamedList + Lift + 'static,
    C: TableCall<M>,
    M: Default + 'static,
    R: 'static,
    (R,): ComponentNamedList + Lower,
{
    match calls.callers {
        Callers::Wait(_) => instance.func_wrap(name, move |mut store: Store<'_>, params: P| {
            let guest = calls.guest(&mut store);
            let mut call = prepare(&mut store, params)?;
            let (mut out, mut more) = (WitResult::default(), M::default());
            calls.check(call(guest, &mut out, &mut more))?;
            Ok((finish(out, more)?,))
        }),
        Callers::Rest { caller_of, close } => {
            instance.func_wrap_async(name, move |mut store: Store<'_>, params: P| {
                let call = prepare(&mut store, params);
                // SAFETY: the embedder guaranteed it when it linked.
                let caller = unsafe { caller_of(store, calls.user) };
                let begun = call.map(|call| Begun::new(calls, caller, close, call));
                Box::new(async move {
                    let (out, more) = begun?.await?;
                    Ok((finish(out, more)?,))
                })
            })
        }
    }
}

/// A resource whose destructor may block.
pub fn define_resource<T: 'static>(
    instance: &mut Instance<'_>,
    calls: Calls,
    name: &str,
    drop_of: fn(&Functions) -> Drop,
) -> Result<()> {
    let (ty, drop) = (ResourceType::host::<T>(), drop_of(calls.functions));
    match calls.callers {
        Callers::Wait(_) => instance.resource(name, ty, move |mut store, rep| {
            // SAFETY: the function accepts any rep.
            calls.check(unsafe { drop(calls.guest(&mut store), rep) })
        }),
        Callers::Rest { caller_of, close } => instance.resource_async(name, ty, move |store, rep| {
            // SAFETY: the embedder guaranteed it when it linked.
            let caller = unsafe { caller_of(store, calls.user) };
            // SAFETY: the function accepts any rep.
            let call = move |guest, _: &mut WitResult, _: &mut ()| unsafe { drop(guest, rep) };
            let begun = Begun::new(calls, caller, close, call);
            Box::new(async move { begun.await.map(|_| ()) })
        }),
    }
}
