//! wasinn_component_link: puts wasi:nn into a linker of the C API.

use std::ffi::{c_char, c_void};
use wasmtime::{Result, bail, format_err};
use wasmtime_c_api::{wasmtime_component_linker_new, wasmtime_component_linker_t, wasmtime_error_t};

use crate::calls::{CallerOf, Callers, Calls, GuestOf};
use crate::define::define;
use crate::types::Linker;
use crate::wit::{Functions, Guest, Status};

/// `wasinn_component_link_options` of component_link.cc.
#[repr(C)]
pub struct LinkOptions {
    struct_size: u32,
    /// The address that the caller's calls of wasmtime_component_linker_new go to.
    linker_new: *const c_void,
    functions: *const Functions,
    /// None for asynchronous callers.
    guest_of: Option<GuestOf>,
    user: *mut c_void,
    status_message: unsafe extern "C" fn(*const Status) -> *const c_char,
    status_free: unsafe extern "C" fn(*mut Status),
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<LinkOptions>() == 56);

/// `wasinn_component_async_options` of component_link.cc.
#[repr(C)]
pub struct AsyncOptions {
    struct_size: u32,
    caller_of: CallerOf,
    guest_close: unsafe extern "C" fn(*mut Guest),
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<AsyncOptions>() == 24);

pub const TOO_OLD: &str = "this Wasmtime library is newer than this wasinn";

/// # Safety
/// `linker` comes from the C API, and `options` are valid; the memory behind their pointers outlives the linker.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_link(
    linker: *mut wasmtime_component_linker_t,
    options: *const LinkOptions,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: this function's caller guarantees it.
    to_c(unsafe {
        checked(options).and_then(|options| {
            let guest_of = options.guest_of.ok_or_else(|| format_err!("guest_of is NULL: it finds the guest"))?;
            link(linker, options, Callers::Wait(guest_of))
        })
    })
}

/// For stores whose guests are called by functions that return futures.
///
/// # Safety
/// Like wasinn_component_link.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_link_async(
    linker: *mut wasmtime_component_linker_t,
    options: *const LinkOptions,
    more: *const AsyncOptions,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: this function's caller guarantees it.
    to_c(unsafe {
        checked(options).and_then(|options| {
            let size = (&raw const (*more).struct_size).read() as usize;
            if size < size_of::<AsyncOptions>() {
                bail!("{TOO_OLD} (options of {size} bytes)");
            }
            let (caller_of, close) = ((*more).caller_of, (*more).guest_close);
            link(linker, options, Callers::Rest { caller_of, close })
        })
    })
}

/// Makes no reference to a struct before its size is checked.
unsafe fn checked<'a>(options: *const LinkOptions) -> Result<&'a LinkOptions> {
    // SAFETY: the caller guarantees it; every struct begins with its size.
    let options_size = unsafe { (&raw const (*options).struct_size).read() } as usize;
    if options_size < size_of::<LinkOptions>() {
        bail!("{TOO_OLD} (options of {options_size} bytes)");
    }
    // SAFETY: the caller guarantees it.
    let options = unsafe { &*options };
    // Before the linker is read: another library's may have another layout.
    if !std::ptr::eq(options.linker_new, wasmtime_component_linker_new as *const c_void) {
        bail!("two Wasmtime libraries are loaded: the linker belongs to one, and wasi:nn to the other");
    }
    // SAFETY: as above.
    let functions_size = unsafe { (&raw const (*options.functions).struct_size).read() } as usize;
    if functions_size < size_of::<Functions>() {
        bail!("{TOO_OLD} (functions of {functions_size} bytes)");
    }
    Ok(options)
}

unsafe fn link(linker: *mut wasmtime_component_linker_t, options: &LinkOptions, callers: Callers) -> Result<()> {
    let calls = Calls {
        // SAFETY: the caller guarantees it.
        functions: unsafe { &*options.functions },
        callers,
        user: options.user,
        status_message: options.status_message,
        status_free: options.status_free,
    };
    // SAFETY: the C API's type is a transparent wrapper, and it is this library's.
    define(unsafe { &mut *linker.cast::<Linker>() }, calls)
}

pub fn to_c(result: Result<()>) -> Option<Box<wasmtime_error_t>> {
    result.err().map(|error| Box::new(error.into()))
}
