//! Runs one guest on Wasmtime's own wasi-nn, like `wasmtime run -S nn`, for wasinn-conformance (docs/conformance.md).
//!
//! usage: run-wasmtime-wasi-nn FOLDER MODELS GUEST.wasm [ARG…]
//! The guest sees FOLDER as /suite. Each folder in MODELS that has a model.onnx is a model of that name. ORT_DYLIB_PATH
//! names ONNX Runtime's library.

use std::path::Path;
use wasmtime::component::{Component, Linker as ComponentLinker, ResourceTable};
use wasmtime::{Engine, Linker, Module, Result, Store, format_err};
use wasmtime_wasi::p1::{self, WasiP1Ctx};
use wasmtime_wasi::p2::bindings::sync::Command;
use wasmtime_wasi::{FsPerms, I32Exit, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};
use wasmtime_wasi_nn::backend::onnx::OnnxBackend;
use wasmtime_wasi_nn::wit::WasiNnView;
use wasmtime_wasi_nn::{Backend, InMemoryRegistry, wit, witx};

struct OfModule {
    wasi: WasiP1Ctx,
    nn: witx::WasiNnCtx,
}

struct OfComponent {
    wasi: WasiCtx,
    nn: wit::WasiNnCtx,
    table: ResourceTable,
}

impl WasiView for OfComponent {
    fn ctx(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.wasi,
            table: &mut self.table,
        }
    }
}

fn wasi(folder: &str, args: &[String]) -> Result<WasiCtxBuilder> {
    let mut builder = WasiCtxBuilder::new();
    builder.inherit_stdout().inherit_stderr().args(args);
    builder.preopened_dir(folder, "/suite", FsPerms::ReadOnly)?;
    Ok(builder)
}

fn models(folder: &str) -> Result<([Backend; 1], InMemoryRegistry)> {
    let mut backend = Backend::from(OnnxBackend::default());
    let mut registry = InMemoryRegistry::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.join("model.onnx").exists() {
            let loader = backend
                .as_dir_loadable()
                .ok_or_else(|| format_err!("no models from folders"))?;
            registry.load(loader, &path)?;
        }
    }
    Ok(([backend], registry))
}

fn run_module(
    engine: &Engine,
    bytes: &[u8],
    builder: &mut WasiCtxBuilder,
    models_folder: &str,
) -> Result<()> {
    let (backends, registry) = models(models_folder)?;
    let mut linker = Linker::new(engine);
    p1::add_to_linker_sync(&mut linker, |state: &mut OfModule| &mut state.wasi)?;
    witx::add_to_linker(&mut linker, |state: &mut OfModule| &mut state.nn)?;
    let state = OfModule {
        wasi: builder.build_p1(),
        nn: witx::WasiNnCtx::new(backends, registry.into()),
    };
    let mut store = Store::new(engine, state);
    let instance = linker.instantiate(&mut store, &Module::new(engine, bytes)?)?;
    instance
        .get_typed_func::<(), ()>(&mut store, "_start")?
        .call(&mut store, ())
}

fn run_component(
    engine: &Engine,
    bytes: &[u8],
    builder: &mut WasiCtxBuilder,
    models_folder: &str,
) -> Result<()> {
    let (backends, registry) = models(models_folder)?;
    let mut linker = ComponentLinker::new(engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    wit::add_to_linker(&mut linker, |state: &mut OfComponent| {
        WasiNnView::new(&mut state.table, &mut state.nn)
    })?;
    let state = OfComponent {
        wasi: builder.build(),
        nn: wit::WasiNnCtx::new(backends, registry.into()),
        table: ResourceTable::new(),
    };
    let mut store = Store::new(engine, state);
    let command = Command::instantiate(&mut store, &Component::new(engine, bytes)?, &linker)?;
    command
        .wasi_cli_run()
        .call_run(&mut store)?
        .map_err(|()| format_err!("the guest failed"))
}

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let [_, folder, models_folder, guest, ..] = &args[..] else {
        eprintln!("usage: run-wasmtime-wasi-nn FOLDER MODELS GUEST.wasm [ARG…]");
        std::process::exit(2);
    };
    let run = || -> Result<()> {
        let engine = Engine::default();
        let bytes = std::fs::read(Path::new(guest))?;
        let mut builder = wasi(folder, &args[3..])?;
        let is_component = bytes.get(6) == Some(&1); // the layer, behind magic and version
        let run = if is_component {
            run_component
        } else {
            run_module
        };
        run(&engine, &bytes, &mut builder, models_folder)
    };
    if let Err(error) = run() {
        if let Some(exit) = error.downcast_ref::<I32Exit>() {
            std::process::exit(exit.0);
        }
        eprintln!("{error:?}");
        std::process::exit(134); // as Wasmtime's command does for a trap
    }
}
