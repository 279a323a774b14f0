//! The host's functions themselves. The rest of the crate calls these. Guests call them for what the rest cannot do. wasinn's
//! wasi_nn.h and wasi_nn_ext.h say what each does.
//!
//! Outside of WebAssembly they are plain declarations: natively compiled tests of a guest can define the functions themselves.

/// One part of a model.
#[repr(C)]
pub struct Builder {
    pub data: *const u8,
    pub len: u32,
}

/// An input tensor.
#[repr(C)]
pub struct Tensor {
    pub dims: *const u32,
    pub dims_len: u32,
    pub dtype: u8,
    pub reserved: [u8; 3],
    pub data: *const u8,
    pub len: u32,
}

/// An input of compute_once. If `name` is null, `name_len` is the index.
#[repr(C)]
pub struct Input {
    pub name: *const u8,
    pub name_len: u32,
    pub tensor: Tensor,
}

/// An output of compute_once, likewise.
#[repr(C)]
pub struct Output {
    pub name: *const u8,
    pub name_len: u32,
    pub buffer: *mut u8,
    pub buffer_size: u32,
    pub written: u32,
}

#[cfg(target_arch = "wasm32")]
const _: () = assert!(
    size_of::<Builder>() == 8 && size_of::<Tensor>() == 20 && size_of::<Input>() == 28 && size_of::<Output>() == 20
);

/// Declares functions with the C headers' names. They import the module's functions, which have names of their own.
macro_rules! imports {
    ($module:literal: $($import:literal $name:ident($($param:ident: $of:ty),*);)*) => {
        #[cfg_attr(target_family = "wasm", link(wasm_import_module = $module))]
        extern "C" {
            $(
                #[cfg_attr(target_family = "wasm", link_name = $import)]
                pub fn $name($($param: $of),*) -> u32;
            )*
        }
    };
}

// The standard's six, then WasmEdge's additions.
imports! { "wasi_ephemeral_nn":
    "load" wasi_nn_load(builders: *const Builder, builders_len: u32, encoding: u32, target: u32, graph: *mut u32);
    "load_by_name" wasi_nn_load_by_name(name: *const u8, name_len: u32, graph: *mut u32);
    "init_execution_context" wasi_nn_init_execution_context(graph: u32, context: *mut u32);
    "set_input" wasi_nn_set_input(context: u32, index: u32, tensor: *const Tensor);
    "compute" wasi_nn_compute(context: u32);
    "get_output" wasi_nn_get_output(context: u32, index: u32, buffer: *mut u8, buffer_size: u32, written: *mut u32);

    "load_by_name_with_config" wasi_nn_load_by_name_with_config(name: *const u8, name_len: u32, config: *const u8, config_len: u32, graph: *mut u32);
    "unload" wasi_nn_unload(graph: u32);
    "finalize_execution_context" wasi_nn_finalize_execution_context(context: u32);
    "compute_single" wasi_nn_compute_single(context: u32);
    "get_output_single" wasi_nn_get_output_single(context: u32, index: u32, buffer: *mut u8, buffer_size: u32, written: *mut u32);
    "fini_single" wasi_nn_fini_single(context: u32);
}

// wasinn's own.
imports! { "wasinn_ext_0":
    "last_error" wasinn_last_error(buffer: *mut u8, buffer_size: u32, written: *mut u32);
    "describe" wasinn_describe(graph: u32, buffer: *mut u8, buffer_size: u32, written: *mut u32);
    "load_as" wasinn_load_as(builders: *const Builder, builders_len: u32, format: *const u8, format_len: u32, target: u32, graph: *mut u32);
    "set_input_by_name" wasinn_set_input_by_name(context: u32, name: *const u8, name_len: u32, tensor: *const Tensor);
    "get_output_by_name" wasinn_get_output_by_name(context: u32, name: *const u8, name_len: u32, buffer: *mut u8, buffer_size: u32, written: *mut u32);
    "set_output" wasinn_set_output(context: u32, index: u32, buffer: *mut u8, buffer_size: u32, written: *mut u32);
    "set_output_by_name" wasinn_set_output_by_name(context: u32, name: *const u8, name_len: u32, buffer: *mut u8, buffer_size: u32, written: *mut u32);
    "set_input_from_output" wasinn_set_input_from_output(context: u32, index: u32, from: u32, output_index: u32);
    "compute_once" wasinn_compute_once(context_or_graph: u32, inputs: *const Input, inputs_len: u32, outputs: *mut Output, outputs_len: u32);
    "compute_begin" wasinn_compute_begin(context: u32);
    "compute_poll" wasinn_compute_poll(context: u32);
    "compute_cancel" wasinn_compute_cancel(context: u32);
    "compute_wait" wasinn_compute_wait(contexts: *const u32, contexts_len: u32, timeout_ms: u32, index: *mut u32);
}
