//! wasinn_component_link: puts wasi:nn into a linker of the C API.

use std::ffi::{c_char, c_void};
use std::task::Waker;
use wasinn::wit::raw::{Callers, Calls, Close, Find, FindAsync, Library, Rests, Waits, Wake, define};
use wasinn_sys::{wasinn_guest, wasinn_status, wasinn_wit_functions};
use wasmtime::{Result, bail, format_err};
use wasmtime_c_api::{WasmtimeStoreData, wasmtime_component_linker_new, wasmtime_component_linker_t, wasmtime_error_t};

use crate::types::{Linker, Store};

type GuestOf = unsafe extern "C" fn(Store<'_>, *mut c_void) -> *mut wasinn_guest;
type CallerOf = unsafe extern "C" fn(Store<'_>, *mut c_void) -> AsyncCaller;

/// `wasinn_component_link_options` of component_link.cc.
#[repr(C)]
pub struct LinkOptions {
    struct_size: u32,
    /// The address that the caller's calls of wasmtime_component_linker_new go to.
    linker_new: *const c_void,
    functions: *const wasinn_wit_functions,
    /// None for asynchronous callers.
    guest_of: Option<GuestOf>,
    user: *mut c_void,
    status_message: unsafe extern "C" fn(*const wasinn_status) -> *const c_char,
    status_free: unsafe extern "C" fn(*mut wasinn_status),
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<LinkOptions>() == 56);

/// `wasinn_component_async_options` of component_link.cc.
#[repr(C)]
pub struct AsyncOptions {
    struct_size: u32,
    caller_of: CallerOf,
    guest_close: Close,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<AsyncOptions>() == 24);

/// `wasinn_wasmtime_async_caller` of wasinn/wasmtime.h.
#[repr(C)]
struct AsyncCaller {
    guest: *mut wasinn_guest,
    _memory: *const c_void,
    wake: Option<unsafe extern "C" fn(*mut c_void)>,
    user: *mut c_void,
}

/// Finds a guest by a function of the embedder's.
#[derive(Clone, Copy)]
struct ByFunction<F> {
    of: F,
    user: *mut c_void,
}

// SAFETY: any thread may use a linker; the embedder guarantees it for the function and `user`.
unsafe impl<F> Send for ByFunction<F> {}
// SAFETY: as above.
unsafe impl<F> Sync for ByFunction<F> {}

// SAFETY: the embedder guaranteed it when it linked.
unsafe impl Find<WasmtimeStoreData> for ByFunction<GuestOf> {
    fn guest(&self, store: Store<'_>) -> *mut wasinn_guest {
        // SAFETY: as above.
        unsafe { (self.of)(store, self.user) }
    }
}

// SAFETY: as above.
unsafe impl Find<WasmtimeStoreData> for ByFunction<CallerOf> {
    fn guest(&self, store: Store<'_>) -> *mut wasinn_guest {
        self.caller(store).0
    }
}

// SAFETY: as above.
unsafe impl FindAsync<WasmtimeStoreData> for ByFunction<CallerOf> {
    type Wake = ByC;

    fn caller(&self, store: Store<'_>) -> (*mut wasinn_guest, ByC) {
        // SAFETY: as above.
        let AsyncCaller { guest, wake, user, .. } = unsafe { (self.of)(store, self.user) };
        (guest, ByC { wake, user })
    }
}

/// Notifies the embedder, because the C API polls with a waker that does nothing.
#[derive(Clone)]
struct ByC {
    wake: Option<unsafe extern "C" fn(*mut c_void)>,
    user: *mut c_void,
}

// SAFETY: any thread may call `wake`.
unsafe impl Send for ByC {}
// SAFETY: as above.
unsafe impl Sync for ByC {}

impl Wake for ByC {
    fn register(&self, _: &Waker) {}

    fn wake(self) {
        if let Some(wake) = self.wake {
            // SAFETY: the embedder guaranteed it when it linked.
            unsafe { wake(self.user) }
        }
    }
}

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
            link(linker, options, Waits(ByFunction { of: guest_of, user: options.user }))
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
            let find = ByFunction { of: (*more).caller_of, user: options.user };
            link(linker, options, Rests { find, close: (*more).guest_close })
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
    if functions_size < size_of::<wasinn_wit_functions>() {
        bail!("{TOO_OLD} (functions of {functions_size} bytes)");
    }
    Ok(options)
}

unsafe fn link<C: Callers<WasmtimeStoreData>>(
    linker: *mut wasmtime_component_linker_t,
    options: &LinkOptions,
    callers: C,
) -> Result<()> {
    let library = Library {
        // SAFETY: the caller guarantees it.
        functions: unsafe { &*options.functions },
        status_message: options.status_message,
        status_free: options.status_free,
    };
    // SAFETY: the C API's type is a transparent wrapper, and it is this library's.
    define(unsafe { &mut *linker.cast::<Linker>() }, Calls { library, callers })
}

pub fn to_c(result: Result<()>) -> Option<Box<wasmtime_error_t>> {
    result.err().map(|error| Box::new(error.into()))
}
