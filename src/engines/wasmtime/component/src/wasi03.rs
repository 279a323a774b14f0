//! Linkers with WASI 0.3 beside 0.2, and the limit of what its tasks take of the host's memory.

use wasmtime::Result;
use wasmtime_c_api::{wasmtime_component_linker_t, wasmtime_error_t};
use wasmtime_wasi_http::WasiHttp;
use wasmtime_wasi_http::p3::Request;
use wasmtime_wasi_http::p3::bindings::http::types::{HostRequest as Host, Method};
use wasmtime_wasi_http::p3::bindings::http::{client, types};

use crate::http_state::{bound, link as link_http, view_of};
use crate::link::to_c;
use crate::types::{Linker, Store};

/// For each resource that a run may have: tasks, calls that it waits for, streams, futures, and sets of these. A task
/// or a stream takes three, and each up to 1 KiB of the host's memory; a task may have a stack of the host, too.
const TASKS_FOR_RESOURCE: usize = 8;

/// Call it for each store, before its component is instantiated. `most_resources`: as for `set_up`.
pub fn limit_tasks(store: &mut Store<'_>, most_resources: usize) {
    if let Some(table) = store.concurrent_resource_table() {
        table.set_max_capacity(TASKS_FOR_RESOURCE * most_resources);
    }
}

/// Links WASI 0.2 and 0.3, whose waits end with the call; with wasi:http of both versions, if `has_http`.
///
/// # Safety
/// `linker` comes from this library's C API. Its engine has asynchronous functions.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_link_wasi03(
    linker: *mut wasmtime_component_linker_t,
    has_http: bool,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: the C API's type is a transparent wrapper.
    to_c(link(unsafe { &mut *linker.cast::<Linker>() }, has_http))
}

fn link(linker: &mut Linker, has_http: bool) -> Result<()> {
    wasmtime_wasi::p3::add_to_linker(linker)?;
    if !has_http {
        return wasmtime_wasi::p2::add_to_linker_async(linker);
    }
    link_http(linker)?;
    client::add_to_linker::<_, WasiHttp>(linker, view_of)?;
    types::add_to_linker::<_, WasiHttp>(linker, view_of)?;
    linker.allow_shadowing(true);
    bound_words(linker)?;
    linker.allow_shadowing(false);
    Ok(())
}

/// Replaces functions that accept texts of any length.
fn bound_words(linker: &mut Linker) -> Result<()> {
    let mut types = linker.instance("wasi:http/types@0.3.0")?;
    let size_of_method = |method: &Method| match method {
        Method::Other(word) => word.len(),
        _ => 0,
    };
    let size_of_word = |word: &Option<String>| word.as_ref().map_or(0, String::len);
    let name = |setter: &str| format!("[method]request.{setter}");
    bound::<Request, _>(&mut types, &name("set-method"), size_of_method, |view, request, word| {
        Host::set_method(view, request, word)
    })?;
    bound::<Request, _>(&mut types, &name("set-authority"), size_of_word, |view, request, word| {
        Host::set_authority(view, request, word)
    })?;
    bound::<Request, _>(&mut types, &name("set-path-with-query"), size_of_word, |view, request, word| {
        Host::set_path_with_query(view, request, word)
    })
}
