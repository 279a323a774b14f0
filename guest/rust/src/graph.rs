use alloc::string::String;
use alloc::vec::Vec;

use crate::context::Context;
use crate::error::{check, Result};
use crate::fill::fill_text;
use crate::once::{compute_once, Input, Output};
use crate::raw;
use crate::tensor::length;

/// The format of a model's bytes, with wasi-nn's numbers. A host may know more formats; [`Graph::load_as`] takes their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoding(pub u32);

impl Encoding {
    /// Two parts: the .xml file, then the .bin file.
    pub const OPENVINO: Encoding = Encoding(0);
    pub const ONNX: Encoding = Encoding(1);
    /// A frozen GraphDef.
    pub const TENSORFLOW: Encoding = Encoding(2);
    /// A TorchScript archive.
    pub const PYTORCH: Encoding = Encoding(3);
    pub const TENSORFLOWLITE: Encoding = Encoding(4);
    /// The host looks at the bytes.
    pub const AUTODETECT: Encoding = Encoding(5);
}

/// The place in which a model runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Target {
    #[default]
    Cpu = 0,
    Gpu = 1,
    Tpu = 2,
    /// Not in the standard: the host chooses. wasinn has it.
    Auto = 3,
}

/// A loaded model.
///
/// It lives until the guest ends, or until [`unload`](Graph::unload). Dropping the value does nothing, because the standard has
/// no function that frees a graph. So a guest that keeps to the standard runs on every host.
#[derive(Debug)]
pub struct Graph {
    handle: u32,
}

impl Graph {
    /// Loads a model from its parts. The guest may free them afterwards. A host may refuse all models from guests.
    pub fn load(parts: &[&[u8]], encoding: Encoding, target: Target) -> Result<Graph> {
        let builders = builders_of(parts);
        // SAFETY: the builders are of slices that live until the call returns.
        made(|graph| unsafe {
            raw::wasi_nn_load(builders.as_ptr(), length(builders.len()), encoding.0, target as u32, graph)
        })
    }

    /// Gets a model that the host offers under a name. The host loads it once for all its guests.
    pub fn load_by_name(name: &str) -> Result<Graph> {
        // SAFETY: the name lives until the call returns.
        made(|graph| unsafe { raw::wasi_nn_load_by_name(name.as_ptr(), length(name.len()), graph) })
    }

    /// The same with a configuration: a JSON object of keys that the model's framework lets guests set. Only on WasmEdge and
    /// wasinn.
    pub fn load_by_name_with_config(name: &str, config: &str) -> Result<Graph> {
        let (name_len, config_len) = (length(name.len()), length(config.len()));
        // SAFETY: both texts live until the call returns.
        made(|graph| unsafe {
            raw::wasi_nn_load_by_name_with_config(name.as_ptr(), name_len, config.as_ptr(), config_len, graph)
        })
    }

    /// As [`load`](Graph::load), by the format's name: "onnx", any other format of the host's backends, or "autodetect". Only on
    /// wasinn.
    pub fn load_as(parts: &[&[u8]], format: &str, target: Target) -> Result<Graph> {
        let builders = builders_of(parts);
        let (count, format_len) = (length(builders.len()), length(format.len()));
        // SAFETY: the builders are of slices that live until the call returns, and so does the format's name.
        made(|graph| unsafe {
            raw::wasinn_load_as(builders.as_ptr(), count, format.as_ptr(), format_len, target as u32, graph)
        })
    }

    /// Makes a context for inferences on the model. Use it for many: to make a context costs much more than one compute.
    pub fn init_execution_context(&self) -> Result<Context> {
        let mut context = 0;
        // SAFETY: the host writes one number to the place of one.
        check(unsafe { raw::wasi_nn_init_execution_context(self.handle, &mut context) })?;
        Ok(Context::of_handle(context))
    }

    /// The model's inputs and outputs, as JSON: `{"backend": "onnx", "inputs": [{"name": "x", "type": "f32", "shape": [1, -1]}],
    /// …}`. Only on wasinn.
    pub fn describe(&self) -> Result<String> {
        // SAFETY: fill_text gives a buffer of that size.
        fill_text(|buffer, size, written| unsafe { raw::wasinn_describe(self.handle, buffer, size, written) })
    }

    /// [`Context::compute_once`] with a context for this call only, which takes some µs more. Only on wasinn.
    pub fn compute_once(&self, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> Result<()> {
        compute_once(self.handle, inputs, outputs)
    }

    /// Frees the graph. Contexts of it still work; its memory is freed with the last of them. Only on WasmEdge and wasinn.
    pub fn unload(self) -> Result<()> {
        // SAFETY: a number goes to the host.
        check(unsafe { raw::wasi_nn_unload(self.handle) })
    }

    /// The host's number for it, for the functions of [`raw`].
    pub fn handle(&self) -> u32 {
        self.handle
    }
}

fn builders_of(parts: &[&[u8]]) -> Vec<raw::Builder> {
    parts.iter().map(|part| raw::Builder { data: part.as_ptr(), len: length(part.len()) }).collect()
}

/// The graph whose handle `load` stores.
fn made(load: impl FnOnce(*mut u32) -> u32) -> Result<Graph> {
    let mut handle = 0;
    check(load(&mut handle))?;
    Ok(Graph { handle })
}
