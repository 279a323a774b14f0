//! include/wasinn/wit.h in Rust. New members of the table come last there, and are added here once they are used.

use std::ffi::{c_char, c_void};

/// A guest program, opaque outside of wasinn. May be null: each function of the table checks that.
#[repr(C)]
pub struct Guest {
    _opaque: [u8; 0],
}

#[repr(C)]
pub struct Status {
    _opaque: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct WitResult {
    pub is_error: u32,
    pub rep: u32,
}

#[repr(C)]
pub struct View {
    pub data: *const c_void,
    pub count: usize,
    pub owner: *mut c_void,
    pub release: Option<unsafe extern "C" fn(*mut c_void)>,
}

#[repr(C)]
pub struct NamedTensor {
    pub name: *const c_char,
    pub name_size: usize,
    pub tensor: u32,
}

/// `wasinn_bytes` of wasinn.h.
#[repr(C)]
pub struct Bytes {
    pub data: *const u8,
    pub size: usize,
}

pub type Outcome = *mut Status;
pub type Run = unsafe extern "C" fn(*mut c_void);
pub type Drop = unsafe extern "C" fn(*mut Guest, u32) -> Outcome;
type Number = unsafe extern "C" fn(*mut Guest, u32, *mut u32) -> Outcome;
type Show = unsafe extern "C" fn(*mut Guest, u32, *mut View) -> Outcome;
type Act = unsafe extern "C" fn(*mut Guest, u32, *mut WitResult) -> Outcome;

#[repr(C)]
pub struct Functions {
    pub struct_size: u32,

    pub tensor_new: unsafe extern "C" fn(*mut Guest, *const u32, usize, u32, *const u8, usize, *mut u32) -> Outcome,
    pub tensor_dimensions: Show,
    pub tensor_type: Number,
    pub tensor_data: Show,
    pub tensor_drop: Drop,

    pub graph_load: unsafe extern "C" fn(*mut Guest, *const Bytes, usize, u32, u32, *mut WitResult) -> Outcome,
    pub graph_load_by_name: unsafe extern "C" fn(*mut Guest, *const c_char, usize, *mut WitResult) -> Outcome,
    pub graph_init_execution_context: Act,
    pub graph_drop: Drop,

    pub context_compute:
        unsafe extern "C" fn(*mut Guest, u32, *const NamedTensor, usize, *mut WitResult, *mut View) -> Outcome,
    pub context_set_input: unsafe extern "C" fn(*mut Guest, u32, *const NamedTensor, *mut WitResult) -> Outcome,
    pub context_compute_set: Act,
    pub context_get_output: unsafe extern "C" fn(*mut Guest, u32, *const c_char, usize, *mut WitResult) -> Outcome,
    pub context_drop: Drop,

    pub error_new: unsafe extern "C" fn(*mut Guest, u32, *const c_char, usize, *mut u32) -> Outcome,
    pub error_code: Number,
    pub error_data: Show,
    pub error_drop: Drop,

    pub last_error: unsafe extern "C" fn(*mut Guest, *mut View) -> Outcome,
    pub describe: Show,

    pub context_start: unsafe extern "C" fn(*mut Guest, u32, *const NamedTensor, usize, *mut WitResult) -> Outcome,
    pub context_next: unsafe extern "C" fn(*mut Guest, u32, *mut WitResult, *mut u32, *mut View) -> Outcome,
    pub context_finish: Act,

    pub graph_load_by_name_with_config:
        unsafe extern "C" fn(*mut Guest, *const c_char, usize, *const c_char, usize, *mut WitResult) -> Outcome,
    pub context_select_outputs: unsafe extern "C" fn(*mut Guest, u32, *const Bytes, usize, *mut WitResult) -> Outcome,

    pub graph_load_as:
        unsafe extern "C" fn(*mut Guest, *const Bytes, usize, *const c_char, usize, u32, *mut WitResult) -> Outcome,

    pub begin: unsafe extern "C" fn(*mut Guest, Run, *mut c_void) -> Outcome,
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<WitResult>() == 8);
    assert!(size_of::<View>() == 32);
    assert!(size_of::<NamedTensor>() == 24);
    assert!(size_of::<Bytes>() == 16);
    assert!(size_of::<Functions>() == 28 * 8);
};

// Lists of u32 are passed as they are in guest memory.
const _: () = assert!(cfg!(target_endian = "little"));
