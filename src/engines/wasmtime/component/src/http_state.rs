//! The state of wasi:http in a store, and linkers with wasi:http. The C API's stores have no member for it, so it is
//! the first entry of the resource table of their WASI.
//!
//! A guest decides the number and sizes of its resources: both are limited, because they are in the host's memory.

use http::{HeaderName, Request};
use wasmtime::component::{ComponentNamedList, Lift, Resource};
use wasmtime::{AsContextMut, Result, bail};
use wasmtime_c_api::{WasmtimeStoreData, wasi_config_t, wasmtime_component_linker_t, wasmtime_error_t};
use wasmtime_wasi::p2::DynOutputStream;
use wasmtime_wasi::{WasiCtxBuilder, WasiView};
use wasmtime_wasi_http::p2::bindings::LinkOptions;
use wasmtime_wasi_http::p2::bindings::http::types::ErrorCode;
use wasmtime_wasi_http::p2::bindings::http::{outgoing_handler, types};
use wasmtime_wasi_http::p2::body::{HostOutgoingBody, HyperOutgoingBody};
use wasmtime_wasi_http::p2::types::{
    HostFutureIncomingResponse, HostOutgoingRequest, HostOutgoingResponse, HostResponseOutparam,
};
use wasmtime_wasi_http::{
    DEFAULT_FORBIDDEN_HEADERS, RequestOptions, WasiBody, WasiHttp, WasiHttpCtx, WasiHttpCtxView, WasiHttpHooks,
};

use crate::early::{Unread, hand_over};
use crate::link::to_c;
use crate::outgoing::{Io, Outgoing, Sent};
use crate::types::{Instance, Linker, Store};

/// The limit of one resource of headers, including the host's overhead.
const MOST_FIELD_BYTES: usize = 32 << 10;
/// The limit of one write to a body. Two writes may wait for a reader, or for early.rs.
const MOST_CHUNK: usize = 64 << 10;
/// The limit of a method, an authority or a path that a guest sets.
const MOST_WORD: usize = 8 << 10;

struct State {
    context: WasiHttpCtx,
    hooks: Hooks,
    unread: Unread,
}

/// Owns the state. A pointer, because the table and the state are borrowed at the same time.
struct Held(*mut State);

// SAFETY: the state is plain data, and only `state_of` uses it, which borrows the store exclusively.
unsafe impl Send for Held {}

impl Drop for Held {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and is dropped once.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// The first number of the table.
const HELD: u32 = 0;

/// Called once for each store, when it has WASI, before its component is instantiated. `most`: resources of one run.
pub fn set_up(data: &mut WasmtimeStoreData, outgoing: Outgoing, most: usize) -> Result<()> {
    let table = data.ctx().table;
    table.set_max_capacity(most);
    let mut state = State { context: WasiHttpCtx::new(), hooks: Hooks(outgoing), unread: Unread::default() };
    state.context.set_field_size_limit(MOST_FIELD_BYTES);
    if table.push(Held(Box::into_raw(Box::new(state))))?.rep() != HELD {
        bail!("the table of the store already has a resource: set_up comes before any");
    }
    Ok(())
}

pub fn view_of(data: &mut WasmtimeStoreData) -> WasiHttpCtxView<'_> {
    state_of(data).0
}

fn state_of(data: &mut WasmtimeStoreData) -> (WasiHttpCtxView<'_>, &Unread) {
    let table = data.ctx().table;
    let held = table.get(&Resource::<Held>::new_borrow(HELD)).expect("set_up comes first");
    // SAFETY: the state is outside of the table's memory, and this borrow of the store is the only one.
    let state = unsafe { &mut *held.0 };
    (WasiHttpCtxView { ctx: &mut state.context, hooks: &mut state.hooks, table }, &state.unread)
}

struct Hooks(Outgoing);

impl WasiHttpHooks for Hooks {
    fn is_forbidden_header(&mut self, name: &HeaderName) -> bool {
        DEFAULT_FORBIDDEN_HEADERS.contains(name)
    }

    fn send_request(
        &mut self,
        request: Request<WasiBody>,
        options: Option<RequestOptions>,
        _: Io,
    ) -> Box<dyn Future<Output = Sent> + Send> {
        Box::new(self.0.send(request, options.unwrap_or_default()))
    }

    fn p2_outgoing_body_chunk_size(&mut self) -> usize {
        MOST_CHUNK
    }

    fn p3_outgoing_body_chunk_size(&mut self) -> usize {
        MOST_CHUNK
    }
}

/// Links WASI preview 2, whose waits end with the call, and wasi:http.
///
/// # Safety
/// `linker` comes from this library's C API.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_link_http(
    linker: *mut wasmtime_component_linker_t,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: the C API's type is a transparent wrapper.
    to_c(link(unsafe { &mut *linker.cast::<Linker>() }))
}

pub fn link(linker: &mut Linker) -> Result<()> {
    wasmtime_wasi::p2::add_to_linker_async(linker)?;
    outgoing_handler::add_to_linker::<_, WasiHttp>(linker, view_of)?;
    types::add_to_linker::<_, WasiHttp>(linker, &LinkOptions::default().into(), view_of)?;
    linker.allow_shadowing(true);
    bound_words(linker)?;
    drop_options(linker)?;
    keep_bodies(linker)?;
    linker.allow_shadowing(false);
    Ok(())
}

type Handled = std::result::Result<Resource<HostFutureIncomingResponse>, ErrorCode>;

/// Replaces the function that keeps a request's options until the run ends. From here on its body has a reader.
fn drop_options(linker: &mut Linker) -> Result<()> {
    linker.instance("wasi:http/outgoing-handler@0.2.12")?.func_wrap(
        "handle",
        |mut store: Store<'_>,
         (request, options): (Resource<HostOutgoingRequest>, Option<Resource<RequestOptions>>)| {
            let mut context = store.as_context_mut();
            let mut view = view_of(context.data_mut());
            hand_over(view.table.get_mut(&request)?.body.as_mut())?;
            let owned = options.as_ref().map(|options| Resource::<RequestOptions>::new_own(options.rep()));
            let handled = outgoing_handler::Host::handle(&mut view, request, options);
            if let Some(owned) = owned {
                view.table.delete(owned)?;
            }
            let handled: Handled = match handled {
                Ok(response) => Ok(response),
                Err(error) => Err(error.downcast()?),
            };
            Ok((handled,))
        },
    )?;
    Ok(())
}

type Given = std::result::Result<Resource<HostOutgoingResponse>, ErrorCode>;

/// Replaces functions whose bodies block a guest until they are read, and the one that hands over a response's.
fn keep_bodies(linker: &mut Linker) -> Result<()> {
    use types::{HostOutgoingRequest as Request, HostOutgoingResponse as Response, HostResponseOutparam as Outparam};
    let mut types = linker.instance("wasi:http/types@0.2.12")?;
    keep::<HostOutgoingRequest>(
        &mut types,
        "outgoing-request",
        |view, id| Request::body(view, id),
        |request| &mut request.body,
    )?;
    keep::<HostOutgoingResponse>(
        &mut types,
        "outgoing-response",
        |view, id| Response::body(view, id),
        |response| &mut response.body,
    )?;
    types.func_wrap(
        "[method]outgoing-body.write",
        |mut store: Store<'_>, (body,): (Resource<HostOutgoingBody>,)| {
            let mut context = store.as_context_mut();
            let (view, unread) = state_of(context.data_mut());
            let written: Written = match view.table.get_mut(&body)?.take_output_stream() {
                Some(stream) => Ok(view.table.push_child(unread.watch(stream), &body)?),
                None => Err(()),
            };
            Ok((written,))
        },
    )?;
    types.func_wrap(
        "[static]response-outparam.set",
        |mut store: Store<'_>, (out, given): (Resource<HostResponseOutparam>, Given)| {
            let mut context = store.as_context_mut();
            let mut view = view_of(context.data_mut());
            if let Ok(response) = &given {
                hand_over(view.table.get_mut(response)?.body.as_mut())?;
            }
            Outparam::set(&mut view, out, given)
        },
    )
}

type Written = std::result::Result<Resource<DynOutputStream>, ()>;
type Made = std::result::Result<Resource<HostOutgoingBody>, ()>;

/// `make` makes the body, which `body_of` then finds.
fn keep<T: Send + 'static>(
    types: &mut Instance<'_>,
    name: &str,
    make: fn(&mut WasiHttpCtxView<'_>, Resource<T>) -> Result<Made>,
    body_of: fn(&mut T) -> &mut Option<HyperOutgoingBody>,
) -> Result<()> {
    types.func_wrap(&format!("[method]{name}.body"), move |mut store: Store<'_>, (whose,): (Resource<T>,)| {
        let mut context = store.as_context_mut();
        let (mut view, unread) = state_of(context.data_mut());
        let rep = whose.rep();
        let made = make(&mut view, whose)?;
        if made.is_ok() {
            let body = body_of(view.table.get_mut(&Resource::new_borrow(rep))?);
            *body = body.take().map(|body| unread.keep(body));
        }
        Ok((made,))
    })
}

type Set = std::result::Result<(), ()>;

/// Replaces functions that accept texts of any length.
fn bound_words(linker: &mut Linker) -> Result<()> {
    use types::HostOutgoingRequest as Host;
    let mut types = linker.instance("wasi:http/types@0.2.12")?;
    let size_of_method = |method: &types::Method| match method {
        types::Method::Other(word) => word.len(),
        _ => 0,
    };
    let size_of_word = |word: &Option<String>| word.as_ref().map_or(0, String::len);
    let name = |setter: &str| format!("[method]outgoing-request.{setter}");
    bound::<HostOutgoingRequest, _>(&mut types, &name("set-method"), size_of_method, |view, request, word| {
        Host::set_method(view, request, word)
    })?;
    bound::<HostOutgoingRequest, _>(&mut types, &name("set-authority"), size_of_word, |view, request, word| {
        Host::set_authority(view, request, word)
    })?;
    bound::<HostOutgoingRequest, _>(&mut types, &name("set-path-with-query"), size_of_word, |view, request, word| {
        Host::set_path_with_query(view, request, word)
    })?;
    Ok(())
}

type Setter<R, W> = fn(&mut WasiHttpCtxView<'_>, Resource<R>, W) -> Result<Set>;

/// `R`: a request.
pub fn bound<R, W>(types: &mut Instance<'_>, name: &str, size_of: fn(&W) -> usize, set: Setter<R, W>) -> Result<()>
where
    R: 'static,
    W: 'static,
    (Resource<R>, W): ComponentNamedList + Lift,
{
    types.func_wrap(name, move |mut store: Store<'_>, (request, word): (Resource<R>, W)| {
        if size_of(&word) > MOST_WORD {
            return Ok((Err(()),));
        }
        Ok((set(&mut view_of(store.as_context_mut().data_mut()), request, word)?,))
    })
}

/// Guests with this configuration make no sockets: each one is a descriptor of the host.
///
/// # Safety
/// `config` comes from this library's C API.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_wasi_config_forbid_sockets(config: *mut wasi_config_t) {
    // SAFETY: the C API's type is a transparent wrapper.
    let builder = unsafe { &mut *config.cast::<WasiCtxBuilder>() };
    builder.allow_tcp(false).allow_udp(false);
}
