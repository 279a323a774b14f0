//! A model, as a host registers it.

use std::path::PathBuf;
use std::ptr;

use wasinn_sys as sys;

use super::error::Result;
use super::text::{c_path, c_string};

/// Where a model runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// The processor.
    #[default]
    Cpu,
    /// A graphics processor.
    Gpu,
    /// Another accelerator.
    Tpu,
    /// Whatever is there.
    Auto,
}

impl Target {
    pub(crate) fn number(self) -> u32 {
        match self {
            Target::Cpu => sys::WASINN_TARGET_CPU,
            Target::Gpu => sys::WASINN_TARGET_GPU,
            Target::Tpu => sys::WASINN_TARGET_TPU,
            Target::Auto => sys::WASINN_TARGET_AUTO,
        }
    }
}

/// A model that guests load by name. Pipelines and batches are settings: see [`Config`](crate::Config).
///
/// ```
/// use wasinn::{Model, Target};
///
/// let mut model = Model::file("digits.onnx");
/// model.target = Target::Auto;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Model {
    /// Where it comes from.
    source: Source,
    /// The format's name: `onnx`, `openvino`, `pytorch`. Empty: recognised by the file's name or bytes.
    pub encoding: String,
    /// Where it runs.
    pub target: Target,
    /// Guests ask for `NAME:2`; 0: the folder's versions, or 1.
    pub version: u32,
    /// An object of JSON for the backend. Empty: none.
    pub config: String,
    /// The backend's name, if it is not the usual one for the format. Empty: the usual one.
    pub backend: String,
    /// The file never changes: map it, do not copy it.
    pub immutable: bool,
    /// Compile it now, and report errors now, not at a guest's first load.
    pub preload: bool,
    /// Run it in an OS process of its own, for a file that is not fully trusted.
    pub isolate: bool,
    /// Computes on zeros at the end of a load, before any guest gets the model.
    pub warm_up: u32,
}

#[derive(Clone, Debug)]
enum Source {
    Path(PathBuf),
    Parts(Vec<Vec<u8>>),
}

impl Model {
    /// A file, a folder in the layout of Triton or Wasmtime, or a server's address.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::new(Source::Path(path.into()))
    }

    /// A model's bytes. Most have one part; OpenVINO has two, its XML and the weights.
    pub fn parts(parts: impl IntoIterator<Item = Vec<u8>>) -> Self {
        Self::new(Source::Parts(parts.into_iter().collect()))
    }

    fn new(source: Source) -> Self {
        Model {
            source,
            encoding: String::new(),
            target: Target::Cpu,
            version: 0,
            config: String::new(),
            backend: String::new(),
            immutable: false,
            preload: false,
            isolate: false,
            warm_up: 0,
        }
    }

    /// Calls `with` with the struct of C.
    pub(crate) fn lend<R>(&self, with: impl FnOnce(&sys::wasinn_model_options) -> Result<R>) -> Result<R> {
        let text = |what, text: &String| Ok(if text.is_empty() { None } else { Some(c_string(what, text.as_str())?) });
        let (encoding, config) = (text("the encoding", &self.encoding)?, text("the configuration", &self.config)?);
        let backend = text("the backend", &self.backend)?;
        let path = match &self.source {
            Source::Path(path) => Some(c_path("the path", path)?),
            Source::Parts(_) => None,
        };
        let parts: Vec<sys::wasinn_bytes> = match &self.source {
            Source::Path(_) => Vec::new(),
            Source::Parts(parts) => {
                parts.iter().map(|part| sys::wasinn_bytes { data: part.as_ptr(), size: part.len() }).collect()
            }
        };
        let pointer = |text: &Option<std::ffi::CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        with(&sys::wasinn_model_options {
            struct_size: size_of::<sys::wasinn_model_options>() as u32,
            path: pointer(&path),
            builders: if parts.is_empty() { ptr::null() } else { parts.as_ptr() },
            n_builders: parts.len(),
            encoding: pointer(&encoding),
            target: self.target.number(),
            version: self.version,
            config: pointer(&config),
            immutable: self.immutable,
            preload: self.preload,
            backend: pointer(&backend),
            isolate: self.isolate,
            warm_up: self.warm_up,
            batching: ptr::null(),
            steps: ptr::null(),
            n_steps: 0,
            inputs: ptr::null(),
            n_inputs: 0,
            outputs: ptr::null(),
            n_outputs: 0,
        })
    }
}
