use alloc::string::String;
use alloc::vec::Vec;

use crate::context::Context;
use crate::error::{check, Result};
use crate::fill::fill_text;
use crate::once::{compute_once, Input, Output};
use crate::raw;
use crate::tensor::length;

/// The format of a model's bytes, as wasi-nn numbers it. A host may know more numbers than these, and every format by its name:
/// [`Graph::load_as`].
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

/// Where a model shall run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Target {
    #[default]
    Cpu = 0,
    Gpu = 1,
    Tpu = 2,
    /// Not in the standard: hosts that choose themselves, as wasinn does.
    Auto = 3,
}

/// A loaded model.
///
/// It lives until the guest ends, or until [`unload`](Graph::unload). Nothing happens when the value is dropped, for the standard
/// has no function that gives a graph back: so a guest that keeps to the standard runs on every host.
#[derive(Debug)]
pub struct Graph {
    handle: u32,
}

impl Graph {
    /// Loads the model that these parts are, which may be freed afterwards. A host may refuse models from guests altogether.
    pub fn load(parts: &[&[u8]], encoding: Encoding, target: Target) -> Result<Graph> {
        let builders = builders_of(parts);
        // SAFETY: the builders are of slices that live until the call returns.
        made(|graph| unsafe {
            raw::wasi_nn_load(builders.as_ptr(), length(builders.len()), encoding.0, target as u32, graph)
        })
    }

    /// The model that the host offers under this name. The host loads it once for all its guests.
    pub fn load_by_name(name: &str) -> Result<Graph> {
        // SAFETY: the name lives until the call returns.
        made(|graph| unsafe { raw::wasi_nn_load_by_name(name.as_ptr(), length(name.len()), graph) })
    }

    /// The same with a JSON object of keys that the model's framework lets guests set: WasmEdge's and wasinn's.
    pub fn load_by_name_with_config(name: &str, config: &str) -> Result<Graph> {
        let (name_len, config_len) = (length(name.len()), length(config.len()));
        // SAFETY: both texts live until the call returns.
        made(|graph| unsafe {
            raw::wasi_nn_load_by_name_with_config(name.as_ptr(), name_len, config.as_ptr(), config_len, graph)
        })
    }

    /// As [`load`](Graph::load), by the name of the format: "onnx", any other that the host's backends serve, or "autodetect".
    /// wasinn's.
    pub fn load_as(parts: &[&[u8]], format: &str, target: Target) -> Result<Graph> {
        let builders = builders_of(parts);
        let (count, format_len) = (length(builders.len()), length(format.len()));
        // SAFETY: the builders are of slices that live until the call returns, and so does the format's name.
        made(|graph| unsafe {
            raw::wasinn_load_as(builders.as_ptr(), count, format.as_ptr(), format_len, target as u32, graph)
        })
    }

    /// A context in which to run the model. Use it again and again: making one is much dearer than computing with it.
    pub fn init_execution_context(&self) -> Result<Context> {
        let mut context = 0;
        // SAFETY: the host writes one number to the place of one.
        check(unsafe { raw::wasi_nn_init_execution_context(self.handle, &mut context) })?;
        Ok(Context::of_handle(context))
    }

    /// What the model takes and gives, as JSON: `{"backend": "onnx", "inputs": [{"name": "x", "type": "f32", "shape": [1, -1]}], …}`.
    /// wasinn's.
    pub fn describe(&self) -> Result<String> {
        // SAFETY: fill_text gives a buffer of that size.
        fill_text(|buffer, size, written| unsafe { raw::wasinn_describe(self.handle, buffer, size, written) })
    }

    /// [`Context::compute_once`] on a context of its own, which takes some µs more. wasinn's.
    pub fn compute_once(&self, inputs: &[Input<'_>], outputs: &mut [Output<'_>]) -> Result<()> {
        compute_once(self.handle, inputs, outputs)
    }

    /// Gives the graph back. Contexts of it go on; its memory goes with the last of them. WasmEdge's and wasinn's.
    pub fn unload(self) -> Result<()> {
        // SAFETY: a number goes to the host.
        check(unsafe { raw::wasi_nn_unload(self.handle) })
    }

    /// The host's number for it, for functions of [`raw`].
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
