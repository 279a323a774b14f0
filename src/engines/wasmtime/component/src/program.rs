//! Programs that are components, each run in its own instance and store: the structs and functions of ../program_abi.h.

use std::ffi::c_void;
use std::future::poll_fn;
use std::slice;
use wasinn_sys::wasinn_bytes as Bytes;
use wasmtime::component::{Component, InstancePre, Val};
use wasmtime::{Result, bail, format_err};
use wasmtime_c_api::{WasmtimeStoreData, wasmtime_component_linker_t, wasmtime_component_t, wasmtime_error_t};

use crate::alone::{Waits, alone, until_interrupted};
use crate::entry::Entry;
use crate::exchange::{Permission, bytes_of, slice_of};
use crate::http_state::set_up;
use crate::link::{TOO_OLD, to_c};
use crate::outgoing::Outgoing;
use crate::types::{Linker, Store};
use crate::wasi03::limit_tasks;

/// The limit of one run: open files and folders, streams, pollables, headers, bodies …
const MOST_RESOURCES: usize = 4096;

/// How a program's function is called. Its linker is made for that.
#[derive(Clone, Copy)]
enum Calls {
    Blocking,
    /// WASI's functions wait without a thread.
    Async,
    /// The same, on an engine with asynchronous functions.
    Concurrent,
}

pub struct Program {
    pre: InstancePre<WasmtimeStoreData>,
    entry: Entry,
    is_invoked: bool,
    calls: Calls,
}

/// `wasinn_program_call`
#[repr(C)]
pub struct ProgramCall {
    struct_size: u32,
    user: *mut c_void,
    words: *const Bytes,
    n_words: usize,
    print: unsafe extern "C" fn(*mut c_void, Bytes),
    is_interrupted: unsafe extern "C" fn(*mut c_void) -> bool,
    allows: Option<unsafe extern "C" fn(*mut c_void, Bytes, Bytes) -> bool>,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<ProgramCall>() == 56);

impl ProgramCall {
    /// # Safety
    /// The call is valid as its header documents.
    unsafe fn words(&self) -> Result<Vec<&str>> {
        // SAFETY: the caller guarantees it.
        let words = if self.n_words == 0 { &[] } else { unsafe { slice::from_raw_parts(self.words, self.n_words) } };
        // SAFETY: the caller guarantees it.
        words.iter().map(|word| Ok(str::from_utf8(unsafe { slice_of(word) })?)).collect()
    }

    fn print(&self, line: &str) {
        // SAFETY: the embedder guarantees it.
        unsafe { (self.print)(self.user, bytes_of(line.as_bytes())) }
    }

    fn is_interrupted(&self) -> bool {
        // SAFETY: as above.
        unsafe { (self.is_interrupted)(self.user) }
    }

    /// The permission to send requests, until the call is over.
    fn permission(&self) -> Option<Permission> {
        // SAFETY: as above.
        self.allows.map(|allows| unsafe { Permission::new(self.user, allows) })
    }
}

impl Program {
    fn call(&self, mut store: Store<'_>, params: &[Val]) -> Result<Vec<Val>> {
        let instance = self.pre.instantiate(&mut store)?;
        let function = instance.get_func(&mut store, &self.entry.index).ok_or_else(missing)?;
        let mut results = self.entry.room();
        function.call(&mut store, params, &mut results)?;
        Ok(results)
    }

    async fn call_async(&self, mut store: Store<'_>, params: &[Val]) -> Result<Vec<Val>> {
        limit_tasks(&mut store, MOST_RESOURCES);
        let instance = self.pre.instantiate_async(&mut store).await?;
        let function = instance.get_func(&mut store, &self.entry.index).ok_or_else(missing)?;
        let mut results = self.entry.room();
        // It traps if no task can go on.
        function.call_async(&mut store, params, &mut results).await?;
        if matches!(self.calls, Calls::Concurrent) {
            // The tasks that go on after the result.
            store.run_concurrent(async |tasks| poll_fn(|cx| tasks.poll_no_interesting_tasks(cx)).await).await?;
        }
        Ok(results)
    }

    /// The store runs nothing afterwards.
    fn call_alone(&self, mut store: Store<'_>, call: &ProgramCall, params: &[Val]) -> Result<Vec<Val>> {
        set_up(store.data_mut(), Outgoing::new(call.permission()), MOST_RESOURCES)?;
        alone(Waits::TimeAndSockets, |runtime| {
            runtime.block_on(until_interrupted(self.call_async(store, params), || call.is_interrupted()))
        })
    }

    /// False: the program reports failure.
    ///
    /// # Safety
    /// Like wasinn_component_program_run.
    unsafe fn run(&self, store: Store<'_>, call: &ProgramCall) -> Result<bool> {
        if (call.struct_size as usize) < size_of::<ProgramCall>() {
            bail!(TOO_OLD);
        }
        // SAFETY: the caller guarantees it.
        let params = self.entry.read(&unsafe { call.words() }?)?;
        let results = match self.calls {
            Calls::Blocking => self.call(store, &params)?,
            _ => self.call_alone(store, call, &params)?,
        };
        if !self.is_invoked {
            return Ok(matches!(&results[..], [Val::Result(Ok(_))]));
        }
        for result in results {
            call.print(&(result.to_wave()? + "\n"));
        }
        Ok(true)
    }
}

fn missing() -> wasmtime::Error {
    format_err!("the instance has no such function")
}

/// `invoke`: empty for the program, or for Entry::named. `has_http`: the linker comes from wasinn_component_link_http.
///
/// # Safety
/// `linker` and `component` come from this library's C API; `invoke` is valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_program_new(
    linker: *const wasmtime_component_linker_t,
    component: *const wasmtime_component_t,
    invoke: Bytes,
    has_http: bool,
    out: &mut *mut Program,
) -> Option<Box<wasmtime_error_t>> {
    let calls = if has_http { Calls::Async } else { Calls::Blocking };
    // SAFETY: the caller guarantees it.
    unsafe { make(linker, component, invoke, calls, out) }
}

/// The same, for a linker from wasinn_component_link_wasi03.
///
/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_program_new_async(
    linker: *const wasmtime_component_linker_t,
    component: *const wasmtime_component_t,
    invoke: Bytes,
    out: &mut *mut Program,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: the caller guarantees it.
    unsafe { make(linker, component, invoke, Calls::Concurrent, out) }
}

unsafe fn make(
    linker: *const wasmtime_component_linker_t,
    component: *const wasmtime_component_t,
    invoke: Bytes,
    calls: Calls,
    out: &mut *mut Program,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: the C API's types are transparent wrappers.
    let (linker, component) = unsafe { (&*linker.cast::<Linker>(), &*component.cast::<Component>()) };
    // SAFETY: the caller guarantees it.
    let invoke = unsafe { slice_of(&invoke) };
    let make = || {
        let is_invoked = !invoke.is_empty();
        let entry = if is_invoked { Entry::named(component, str::from_utf8(invoke)?) } else { Entry::run(component) }?;
        Ok(Program { pre: linker.instantiate_pre(component)?, entry, is_invoked, calls })
    };
    to_c(make().map(|program| *out = Box::into_raw(Box::new(program))))
}

#[unsafe(no_mangle)]
pub extern "C" fn wasinn_component_program_delete(_program: Option<Box<Program>>) {}

/// Runs in a new store with WASI. Returns an error if the guest traps or does not start.
///
/// # Safety
/// The store comes from the C API; the call is valid as its header documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_program_run(
    program: &Program,
    store: Store<'_>,
    call: &ProgramCall,
    succeeded: &mut bool,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: the caller guarantees it.
    to_c(unsafe { program.run(store, call) }.map(|result| *succeeded = result))
}
