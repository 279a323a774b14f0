//! Calls that return futures, whether or not the engine has the component model's asynchronous functions.

use std::future::Future;
use std::pin::Pin;
use wasmtime::component::{Func, Instance, Val};
use wasmtime_c_api::{wasmtime_call_future_t, wasmtime_component_val_t, wasmtime_error_t};

use crate::instance_pre::Pre;
use crate::types::Store;

type Inner<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;
type ErrorOut<'a> = &'a mut *mut wasmtime_error_t;

const _: () = assert!(size_of::<wasmtime_call_future_t<'static>>() == size_of::<Inner<'static>>());

fn to_c<'a>(
    future: impl Future<Output = wasmtime::Result<()>> + 'a,
    error: ErrorOut<'a>,
) -> Box<wasmtime_call_future_t<'a>> {
    let inner: Inner<'a> = Box::pin(async move {
        if let Err(failed) = future.await {
            *error = Box::into_raw(Box::new(failed.into()));
        }
    });
    // SAFETY: the C API's type is a transparent wrapper.
    unsafe { Box::from_raw(Box::into_raw(Box::new(inner)).cast()) }
}

#[unsafe(no_mangle)]
pub extern "C" fn wasinn_component_pre_instantiate_async<'a>(
    pre: &'a Pre,
    store: Store<'a>,
    out: &'a mut Instance,
    error: ErrorOut<'a>,
) -> Box<wasmtime_call_future_t<'a>> {
    let instantiate = async move {
        *out = pre.instantiate_async(store).await?;
        Ok(())
    };
    to_c(instantiate, error)
}

/// # Safety
/// Like wasmtime_component_func_call, until the future is deleted.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_func_call_async<'a>(
    func: &'a Func,
    store: Store<'a>,
    args: *const wasmtime_component_val_t,
    args_size: usize,
    results: *mut wasmtime_component_val_t,
    results_size: usize,
    error: ErrorOut<'a>,
) -> Box<wasmtime_call_future_t<'a>> {
    // SAFETY: the caller guarantees it.
    let args: Vec<_> = (0..args_size).map(|i| Val::from(unsafe { &*args.add(i) })).collect();
    let call = async move {
        let mut values = vec![Val::Bool(false); results_size];
        func.call_async(store, &args, &mut values).await?;
        for (i, value) in values.iter().enumerate() {
            // SAFETY: the caller guarantees it; the memory is not initialized.
            unsafe { results.add(i).write(value.into()) };
        }
        Ok(())
    };
    to_c(call, error)
}
