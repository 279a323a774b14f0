//! wasinn.h, as far as Rust programs need it.

use core::ffi::{c_char, c_void};

#[repr(C)]
pub struct wasinn_status {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct wasinn_config {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct wasinn_host {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct wasinn_guest {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct wasinn_bytes {
    pub data: *const u8,
    pub size: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct wasinn_limits {
    pub struct_size: u32,
    pub max_graphs: u32,
    pub max_contexts: u32,
    pub max_builders: u32,
    pub max_name_bytes: u32,
    pub max_log_messages: u32,
    pub max_model_bytes: u64,
    pub max_tensor_bytes: u64,
    pub load_timeout_ms: u32,
    pub compute_timeout_ms: u32,
    pub max_tensors: u32,
    pub max_errors: u32,
    pub run_timeout_ms: u32,
    pub max_memory_bytes: u64,
}

pub const WASINN_TARGET_ALL: u32 = 0x7fffffff;

pub const WASINN_DIALECT_DEFAULT: u32 = 0;
pub const WASINN_DIALECT_WASMEDGE: u32 = 1;
pub const WASINN_DIALECT_WAMR: u32 = 2;
pub const WASINN_DIALECT_WITX_0_1: u32 = 3;

pub const WASINN_LOAD_DENY: u32 = 0;
pub const WASINN_LOAD_ISOLATED: u32 = 1;
pub const WASINN_LOAD_IN_PROCESS: u32 = 2;

#[repr(C)]
pub struct wasinn_policy {
    pub struct_size: u32,
    pub load: u32,
    pub cpu_fallback: bool,
    pub targets: u32,
    pub models: *const *const c_char,
    pub n_models: usize,
    pub dialect: u32,
    pub encodings: *const *const c_char,
    pub n_encodings: usize,
    pub tenant: *const c_char,
    pub weight: u32,
    pub allowed_outbound_hosts: *const *const c_char,
    pub n_allowed_outbound_hosts: usize,
    pub isolated_gpu: bool,
}

#[repr(C)]
pub struct wasinn_log_record {
    pub struct_size: u32,
    pub level: u32,
    pub code: u32,
    pub guest: u64,
    pub guest_name: *const c_char,
    pub message: *const c_char,
}

pub type wasinn_log_fn = unsafe extern "C" fn(user: *mut c_void, record: *const wasinn_log_record);
pub type wasinn_text_fn = unsafe extern "C" fn(user: *mut c_void, text: *const c_char, size: usize);

#[repr(C)]
pub struct wasinn_batching {
    pub struct_size: u32,
    pub max_batch_size: u32,
    pub preferred_batch_size: *const u32,
    pub n_preferred_batch_size: usize,
    pub max_queue_delay_microseconds: u32,
    pub instance_count: u32,
}

#[repr(C)]
pub struct wasinn_tensor_name {
    pub model: *const c_char,
    pub pipeline: *const c_char,
}

#[repr(C)]
pub struct wasinn_step {
    pub struct_size: u32,
    pub model_name: *const c_char,
    pub input_map: *const wasinn_tensor_name,
    pub n_input_map: usize,
    pub output_map: *const wasinn_tensor_name,
    pub n_output_map: usize,
}

#[repr(C)]
pub struct wasinn_model_options {
    pub struct_size: u32,
    pub path: *const c_char,
    pub builders: *const wasinn_bytes,
    pub n_builders: usize,
    pub encoding: *const c_char,
    pub target: u32,
    pub version: u32,
    pub config: *const c_char,
    pub immutable: bool,
    pub preload: bool,
    pub backend: *const c_char,
    pub isolate: bool,
    pub warm_up: u32,
    pub batching: *const wasinn_batching,
    pub steps: *const *const wasinn_step,
    pub n_steps: usize,
    pub inputs: *const *const c_char,
    pub n_inputs: usize,
    pub outputs: *const *const c_char,
    pub n_outputs: usize,
}

#[repr(C)]
pub struct wasinn_guest_options {
    pub struct_size: u32,
    pub name: *const c_char,
    pub limits: *const wasinn_limits,
    pub policy: *const wasinn_policy,
    pub print: Option<unsafe extern "C" fn(user: *mut c_void, text: *const c_char, size: usize)>,
    pub print_user: *mut c_void,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct wasinn_statistics {
    pub struct_size: u32,
    pub graphs: u32,
    pub contexts: u32,
    pub model_bytes: u64,
    pub tensor_bytes: u64,
    pub copies_in: u64,
    pub copies_out: u64,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub model_bytes_copied: u64,
    pub computes: u64,
    pub errors: u64,
    pub tensors: u32,
    pub error_objects: u32,
    pub inside: u32,
}

unsafe extern "C" {
    pub fn wasinn_version() -> *const c_char;

    pub fn wasinn_status_code(status: *const wasinn_status) -> u32;
    pub fn wasinn_status_message(status: *const wasinn_status) -> *const c_char;
    pub fn wasinn_status_backend(status: *const wasinn_status) -> *const c_char;
    pub fn wasinn_status_free(status: *mut wasinn_status);

    pub fn wasinn_config_new() -> *mut wasinn_config;
    pub fn wasinn_config_free(config: *mut wasinn_config);
    pub fn wasinn_config_load_file(config: *mut wasinn_config, path: *const c_char) -> *mut wasinn_status;
    pub fn wasinn_config_load_toml(config: *mut wasinn_config, toml: *const c_char) -> *mut wasinn_status;
    pub fn wasinn_config_set(
        config: *mut wasinn_config,
        key: *const c_char,
        value: *const c_char,
    ) -> *mut wasinn_status;

    pub fn wasinn_host_new(
        config: *const wasinn_config,
        log: Option<wasinn_log_fn>,
        user: *mut c_void,
        out: *mut *mut wasinn_host,
    ) -> *mut wasinn_status;
    pub fn wasinn_host_free(host: *mut wasinn_host);
    pub fn wasinn_host_limits(host: *const wasinn_host, out: *mut wasinn_limits) -> *mut wasinn_status;
    pub fn wasinn_host_policy(host: *const wasinn_host, out: *mut wasinn_policy) -> *mut wasinn_status;
    pub fn wasinn_host_add_model(
        host: *mut wasinn_host,
        name: *const c_char,
        options: *const wasinn_model_options,
    ) -> *mut wasinn_status;
    pub fn wasinn_host_add_models(host: *mut wasinn_host, folder: *const c_char) -> *mut wasinn_status;
    pub fn wasinn_host_remove_model(host: *mut wasinn_host, name: *const c_char) -> *mut wasinn_status;
    pub fn wasinn_host_reload_model(host: *mut wasinn_host, name: *const c_char) -> *mut wasinn_status;
    pub fn wasinn_host_metrics(
        host: *mut wasinn_host,
        callback: Option<wasinn_text_fn>,
        user: *mut c_void,
    ) -> *mut wasinn_status;

    pub fn wasinn_guest_new(
        host: *mut wasinn_host,
        options: *const wasinn_guest_options,
        out: *mut *mut wasinn_guest,
    ) -> *mut wasinn_status;
    pub fn wasinn_guest_close(guest: *mut wasinn_guest);
    pub fn wasinn_guest_stop(guest: *mut wasinn_guest);
    pub fn wasinn_guest_free(guest: *mut wasinn_guest);
    pub fn wasinn_guest_statistics(guest: *const wasinn_guest, out: *mut wasinn_statistics) -> *mut wasinn_status;
}
