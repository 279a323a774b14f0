//! wasi-nn for core modules, in Wasmtime's [`Linker`]: the standard's functions (`wasi_ephemeral_nn`), those that
//! WasmEdge and WAMR added, and wasinn's own (`wasinn_ext_0`).

mod begun;
mod memory;

use std::ffi::CStr;
use std::slice;

use wasinn_sys::{WASINN_FUNCTION_MAY_BLOCK, wasinn_function, wasinn_functions};
use wasmtime::{Caller, Linker, Result, bail};

use crate::host::Guest;

/// Calls `$define!` with a name for each parameter of a function.
macro_rules! with_params {
    ($function:ident, $define:ident) => {
        match $function.params().len() {
            1 => $define!(a),
            2 => $define!(a, b),
            3 => $define!(a, b, c),
            4 => $define!(a, b, c, d),
            5 => $define!(a, b, c, d, e),
            6 => $define!(a, b, c, d, e, f),
            7 => $define!(a, b, c, d, e, f, g),
            8 => $define!(a, b, c, d, e, f, g, h),
            n => bail!("wasinn: {} has {n} parameters", $function.name()),
        }
    };
}

/// Puts all functions into `linker`, once for any number of stores and guests. `guest` finds the guest in a store's data.
///
/// A module's call runs on its thread, and returns when it is done. For modules that run in `call_async` use
/// [`add_to_linker_async`]. A module's memory is its export `memory`.
///
/// Fails if the linker has a function of that name already.
pub fn add_to_linker<T: 'static>(
    linker: &mut Linker<T>,
    guest: impl Fn(&mut T) -> &mut Guest + Copy + Send + Sync + 'static,
) -> Result<()> {
    for function in functions() {
        define(linker, function, guest)?;
    }
    Ok(())
}

/// The same, for modules that run in functions such as `call_async`: a call that may block runs on a thread of the host,
/// and the module's future is pending meanwhile. The setting `call_threads` is the number of these threads.
///
/// Dropping a future during such a call closes the guest, and waits until the call is over. So a guest must be part of its
/// store's data: it is closed before the store's memory goes. Do not leak such a future (`std::mem::forget`) and then take
/// the guest out of its store: nobody would wait for the call.
pub fn add_to_linker_async<T: Send + 'static>(
    linker: &mut Linker<T>,
    guest: impl Fn(&mut T) -> &mut Guest + Copy + Send + Sync + 'static,
) -> Result<()> {
    for function in functions() {
        if !function.may_block() {
            define(linker, function, guest)?;
            continue;
        }
        macro_rules! define {
            ($($param:ident),*) => {
                linker.func_wrap_async(
                    function.module(),
                    function.name(),
                    move |mut caller: Caller<'_, T>, ($($param,)*): ($(word!($param),)*)| {
                        let memory = memory::of(&mut caller);
                        Box::new(begun::begin(function, guest(caller.data_mut()), memory, &[$($param),*]))
                    },
                )
            };
        }
        with_params!(function, define)?;
    }
    Ok(())
}

/// The type of every parameter.
macro_rules! word {
    ($param:ident) => {
        u32
    };
}
use word;

fn define<T: 'static>(
    linker: &mut Linker<T>,
    function: Function,
    guest: impl Fn(&mut T) -> &mut Guest + Copy + Send + Sync + 'static,
) -> Result<()> {
    let call = function.0.call;
    macro_rules! define {
        ($($param:ident),*) => {
            linker.func_wrap(
                function.module(),
                function.name(),
                move |mut caller: Caller<'_, T>, $($param: u32),*| -> u32 {
                    let memory = memory::of(&mut caller);
                    let guest = guest(caller.data_mut()).as_ptr();
                    let params = [$($param),*];
                    // SAFETY: all is valid for the call; the memory stays in place, for the guest waits.
                    unsafe { call(guest, &memory, params.as_ptr().cast(), size_of::<u32>()) }
                },
            )
        };
    }
    with_params!(function, define)?;
    Ok(())
}

/// A function of libwasinn's table, which lives as long as the process.
#[derive(Clone, Copy)]
struct Function(&'static wasinn_function);

// SAFETY: the table is constant.
unsafe impl Send for Function {}
// SAFETY: as above.
unsafe impl Sync for Function {}

impl Function {
    fn module(self) -> &'static str {
        // SAFETY: strings of the table end in a NUL.
        unsafe { CStr::from_ptr(self.0.module) }.to_str().unwrap_or_default()
    }

    fn name(self) -> &'static str {
        // SAFETY: as above.
        unsafe { CStr::from_ptr(self.0.name) }.to_str().unwrap_or_default()
    }

    /// A letter for each.
    fn params(self) -> &'static [u8] {
        // SAFETY: as above.
        unsafe { CStr::from_ptr(self.0.params) }.to_bytes()
    }

    fn may_block(self) -> bool {
        self.0.flags & WASINN_FUNCTION_MAY_BLOCK != 0
    }
}

fn functions() -> impl Iterator<Item = Function> {
    let mut count = 0;
    // SAFETY: the table has `count` functions, and lives as long as the process.
    let table = unsafe { slice::from_raw_parts(wasinn_functions(&mut count), count) };
    // SAFETY: as above.
    table.iter().map(|function| Function(unsafe { &**function }))
}
