//! Times Wasmtime's own wasi-nn: the same component, model and tensors as `wasinn bench --abi wit`, on one thread.
//!
//! usage: bench-wasmtime-wasi-nn BENCH_COMPONENT.wat MODEL_FOLDER NAME=DIMxDIM… [SECONDS]
//! MODEL_FOLDER holds model.onnx; every input is f32. ORT_DYLIB_PATH names ONNX Runtime's library. Prints one JSON
//! object, with the keys that `wasinn bench --json` has for the same figures.

use std::path::Path;
use std::time::{Duration, Instant};
use wasmtime::component::{Component, Linker, ResourceTable};
use wasmtime::{Engine, Result, Store, format_err};
use wasmtime_wasi_nn::InMemoryRegistry;
use wasmtime_wasi_nn::wit::{WasiNnCtx, WasiNnView, add_to_linker};

struct Host {
    nn: WasiNnCtx,
    table: ResourceTable,
}

/// Name, dimensions, tensor-type, data.
type Input = (String, Vec<u32>, u8, Vec<u8>);
const FP32: u8 = 1;

fn parse_input(text: &str) -> Result<Input> {
    let (name, shape) = text.split_once('=').ok_or_else(|| format_err!("{text} is not NAME=DIMxDIM"))?;
    let dims = shape.split('x').map(|dim| dim.parse::<u32>().map_err(Into::into)).collect::<Result<Vec<_>>>()?;
    let elements = dims.iter().product::<u32>();
    let data = (0..elements).flat_map(|i| ((i * 7 % 100) as f32 / 100.0).to_le_bytes()).collect();
    Ok((name.to_owned(), dims, FP32, data))
}

// The same as in bench/measure.cc.
fn percentile(sorted: &[Duration], share: f64) -> f64 {
    let rank = (share * sorted.len() as f64).ceil() as usize;
    sorted[rank.clamp(1, sorted.len()) - 1].as_nanos() as f64 / 1000.0
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().collect();
    let [_, component, folder, rest @ ..] = &args[..] else {
        return Err(format_err!("usage: {} BENCH_COMPONENT.wat MODEL_FOLDER NAME=DIMxDIM… [SECONDS]", args[0]));
    };
    let (inputs, numbers): (Vec<_>, Vec<_>) = rest.iter().partition(|arg| arg.contains('='));
    let inputs = inputs.into_iter().map(|input| parse_input(input)).collect::<Result<Vec<Input>>>()?;
    let seconds = numbers.first().map_or(Ok(3.0), |number| number.parse::<f64>())?;

    let mut backend = wasmtime_wasi_nn::Backend::from(wasmtime_wasi_nn::backend::onnx::OnnxBackend::default());
    let mut registry = InMemoryRegistry::new();
    let folder = Path::new(folder);
    registry.load(backend.as_dir_loadable().ok_or_else(|| format_err!("no models from folders"))?, folder)?;
    let name = folder.file_name().ok_or_else(|| format_err!("a folder has a name"))?.to_string_lossy().into_owned();

    let engine = Engine::default();
    let mut linker = Linker::new(&engine);
    add_to_linker(&mut linker, |host: &mut Host| WasiNnView::new(&mut host.table, &mut host.nn))?;
    let component = Component::from_file(&engine, component)?;
    let host = Host { nn: WasiNnCtx::new([backend], registry.into()), table: ResourceTable::new() };
    let mut store = Store::new(&engine, host);
    store.set_hostcall_fuel(1 << 30);
    let instance = linker.instantiate(&mut store, &component)?;
    let prepare = instance.get_typed_func::<(String, Vec<Input>), (u32,)>(&mut store, "prepare")?;
    let iterate = instance.get_typed_func::<(), (u32,)>(&mut store, "iterate")?;

    if prepare.call(&mut store, (name, inputs))?.0 != 0 {
        return Err(format_err!("the guest could not load the model"));
    }
    let mut times = Vec::new();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    while Instant::now() < end {
        let start = Instant::now();
        if iterate.call(&mut store, ())?.0 != 0 {
            return Err(format_err!("an inference failed"));
        }
        times.push(start.elapsed());
    }
    times.sort_unstable();
    println!(
        r#"{{"peer": "Wasmtime's wasi-nn", "iterations": {}, "p50_us": {{"peer": {:.3}}}, "p99_us": {{"peer": {:.3}}}}}"#,
        times.len(),
        percentile(&times, 0.50),
        percentile(&times, 0.99)
    );
    Ok(())
}
