//! Components that are models: wasinn:serve/model, documented in guest/wit/deps/wasinn-serve. The embedder runs the
//! server; this file passes one request to an instance and returns its answer.

use std::future::Future;
use wasmtime::component::{Component, ComponentExportIndex, Instance, InstancePre};
use wasmtime::{Result, bail, format_err};
use wasmtime_c_api::{WasmtimeStoreData, wasmtime_component_linker_t, wasmtime_component_t, wasmtime_error_t};
use wasmtime_wasi::WasiView;

use crate::alone::{MOST_RESOURCES, Waits, alone, until_interrupted};
use crate::link::{TOO_OLD, to_c};
use crate::model_abi::{AllMade, Call, Given, Metadata, Owned, Refusal};
use crate::model_lift::{Lifting, Words};
use crate::types::{Linker, Store};

const INTERFACE: &str = "wasinn:serve/model@0.1.0";

pub struct Model {
    pre: InstancePre<WasmtimeStoreData>,
    describe: ComponentExportIndex,
    infer: ComponentExportIndex,
}

type DescribeResult = (Metadata,);
type InferParams<'a> = (&'a [Given<'a>], &'a [&'a str]);
type InferResult = (std::result::Result<AllMade, Refusal>,);

impl Model {
    fn new(linker: &Linker, component: &Component) -> Result<Self> {
        let interface = component.get_export_index(None, INTERFACE);
        let interface =
            interface.ok_or_else(|| format_err!("the component exports no {INTERFACE}, so it is no model"))?;
        let find = |name: &str| {
            let found = component.get_export_index(Some(&interface), name);
            found.ok_or_else(|| format_err!("the component's {INTERFACE} has no function {name}"))
        };
        let (describe, infer) = (find("describe")?, find("infer")?);
        Ok(Model { pre: linker.instantiate_pre(component)?, describe, infer })
    }

    async fn instantiate(&self, store: &mut Store<'_>) -> Result<Instance> {
        store.data_mut().ctx().table.set_max_capacity(MOST_RESOURCES);
        self.pre.instantiate_async(store).await
    }

    async fn describe(&self, mut store: Store<'_>, call: &Call) -> Result<Box<Owned>> {
        store.set_hostcall_fuel(call.most_bytes); // the only limit of the description
        let instance = self.instantiate(&mut store).await?;
        instance.get_typed_func::<InferParams<'_>, InferResult>(&mut store, &self.infer)?; // checked early
        let describe = instance.get_typed_func::<(), DescribeResult>(&mut store, &self.describe)?;
        let (metadata,) = describe.call_async(&mut store, ()).await?;
        Ok(Owned::of_metadata(metadata))
    }

    async fn infer(&self, mut store: Store<'_>, call: &Call) -> Result<Box<Owned>> {
        store.set_hostcall_fuel(store.hostcall_fuel().max(call.most_bytes));
        // SAFETY: the callers of this file's exported functions guarantee it.
        let (inputs, outputs) = unsafe { (call.inputs()?, call.outputs()?) };
        let instance = self.instantiate(&mut store).await?;
        let infer = instance.get_typed_func::<InferParams<'_>, InferResult>(&mut store, &self.infer)?;
        let lifting = Lifting::new(call);
        let answer = infer.call_async(&mut store, (&inputs, &outputs)).await;
        Ok(match (answer, lifting.wrong()) {
            (Ok((Ok(made),)), _) => Owned::of_made(made),
            (Ok((Err(refusal),)), _) => Owned::of_refusal(refusal),
            (Err(_), Some(wrong)) => Owned::of_refusal(Refusal::Failed(Words(wrong.into()))),
            (Err(error), None) => return Err(error),
        })
    }
}

fn run<'a, F: Future<Output = Result<Box<Owned>>>>(
    call: &'a Call,
    out: &mut *mut Owned,
    what: impl FnOnce(&'a Call) -> F,
) -> Option<Box<wasmtime_error_t>> {
    let done = alone(Waits::Time, |runtime| {
        if !call.is_whole() {
            bail!(TOO_OLD);
        }
        runtime.block_on(until_interrupted(what(call), || call.is_interrupted()))
    });
    to_c(done.map(|owned| *out = Box::into_raw(owned)))
}

/// Links WASI preview 2, whose waits end with the call.
///
/// # Safety
/// `linker` comes from this library's C API.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_link_model(
    linker: *mut wasmtime_component_linker_t,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: the C API's type is a transparent wrapper.
    to_c(wasmtime_wasi::p2::add_to_linker_async(unsafe { &mut *linker.cast::<Linker>() }))
}

/// # Safety
/// `linker` and `component` come from this library's C API.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_model_new(
    linker: *const wasmtime_component_linker_t,
    component: *const wasmtime_component_t,
    out: &mut *mut Model,
) -> Option<Box<wasmtime_error_t>> {
    // SAFETY: the C API's types are transparent wrappers.
    let (linker, component) = unsafe { (&*linker.cast::<Linker>(), &*component.cast::<Component>()) };
    to_c(Model::new(linker, component).map(|model| *out = Box::into_raw(Box::new(model))))
}

#[unsafe(no_mangle)]
pub extern "C" fn wasinn_component_model_delete(_model: Option<Box<Model>>) {}

/// Like the next function: runs in a new instance, in a new store with WASI. Returns an error if the guest traps or
/// does not start.
///
/// # Safety
/// The store comes from the C API; the call is valid as its header documents.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_model_describe(
    model: &Model,
    store: Store<'_>,
    call: &Call,
    out: &mut *mut Owned,
) -> Option<Box<wasmtime_error_t>> {
    run(call, out, |call| model.describe(store, call))
}

/// # Safety
/// As above.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wasinn_component_model_infer(
    model: &Model,
    store: Store<'_>,
    call: &Call,
    out: &mut *mut Owned,
) -> Option<Box<wasmtime_error_t>> {
    run(call, out, |call| model.infer(store, call))
}

#[unsafe(no_mangle)]
pub extern "C" fn wasinn_component_model_answer_delete(_answer: Option<Box<Owned>>) {}
