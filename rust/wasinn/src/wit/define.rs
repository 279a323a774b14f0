//! Defines all of wasi:nn, and wasinn's extensions, in a linker.

use wasmtime::Result;

use crate::wit::blocking::Callers;
use crate::wit::calls::Calls;
use crate::wit::types::Linker;
use crate::wit::{errors, ext, graph, inference, tensor};

/// A version of wasi:nn. The linker matches them by name: release candidates are not compatible with each other.
struct Version {
    name: &'static str,
    compute: Compute,
    error_constructor: bool,
}

pub(super) enum Compute {
    /// compute takes the inputs and returns the outputs.
    Whole,
    /// set-input, compute, get-output.
    Steps,
}

const VERSIONS: [Version; 3] = [
    Version { name: "0.2.0-rc-2024-10-28", compute: Compute::Whole, error_constructor: false },
    Version { name: "0.2.0-rc-2024-08-19", compute: Compute::Steps, error_constructor: false },
    Version { name: "0.2.0-rc-2024-06-25", compute: Compute::Steps, error_constructor: true },
];

/// Defines everything. Each call finds its guest by `calls`.
pub fn define<T: 'static, C: Callers<T>>(linker: &mut Linker<T>, calls: Calls<C>) -> Result<()> {
    for version in &VERSIONS {
        let name = |interface: &str| format!("wasi:nn/{interface}@{}", version.name);
        tensor::define(linker.instance(&name("tensor"))?, calls)?;
        graph::define(linker.instance(&name("graph"))?, calls)?;
        inference::define(linker.instance(&name("inference"))?, calls, &version.compute)?;
        errors::define(linker.instance(&name("errors"))?, calls, version.error_constructor)?;
    }
    #[cfg(any(feature = "wasmtime-48", feature = "wasmtime-49", feature = "wasmtime-50"))]
    if crate::wit::draft::is_possible::<T>(linker.engine()) {
        crate::wit::draft::define(linker, calls)?;
    }
    ext::define_inspect(linker.instance("wasinn:ext/inspect@0.1.0")?, calls)?;
    ext::define_generate(linker.instance("wasinn:ext/generate@0.1.0")?, calls)?;
    ext::define_configure(linker.instance("wasinn:ext/configure@0.1.0")?, calls)
}
