//! wit.h: the functions of wasi:nn for components. New members of the table come last there, and are added here once they
//! are used.

use core::ffi::{c_char, c_void};

use crate::{wasinn_bytes, wasinn_guest, wasinn_status};

#[repr(C)]
#[derive(Clone, Copy, Default)]
pub struct wasinn_wit_result {
    pub is_error: u32,
    pub rep: u32,
}

#[repr(C)]
pub struct wasinn_wit_view {
    pub data: *const c_void,
    pub count: usize,
    pub owner: *mut c_void,
    pub release: Option<unsafe extern "C" fn(owner: *mut c_void)>,
}

#[repr(C)]
pub struct wasinn_wit_named_tensor {
    pub name: *const c_char,
    pub name_size: usize,
    pub tensor: u32,
}

#[repr(C)]
pub struct wasinn_wit_piece {
    pub name: *const c_char,
    pub name_size: usize,
    pub data: *const u8,
    pub size: usize,
}

#[repr(C)]
pub struct wasinn_wit_task {
    _opaque: [u8; 0],
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct wasinn_wit_done {
    pub notify: Option<unsafe extern "C" fn(user: *mut c_void)>,
    pub user: *mut c_void,
}

type Drop = unsafe extern "C" fn(guest: *mut wasinn_guest, rep: u32) -> *mut wasinn_status;
type Number = unsafe extern "C" fn(guest: *mut wasinn_guest, rep: u32, out: *mut u32) -> *mut wasinn_status;
type Show = unsafe extern "C" fn(guest: *mut wasinn_guest, rep: u32, out: *mut wasinn_wit_view) -> *mut wasinn_status;
type Act = unsafe extern "C" fn(guest: *mut wasinn_guest, rep: u32, out: *mut wasinn_wit_result) -> *mut wasinn_status;

#[repr(C)]
pub struct wasinn_wit_functions {
    pub struct_size: u32,

    pub tensor_new: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        dimensions: *const u32,
        rank: usize,
        ty: u32,
        data: *const u8,
        size: usize,
        tensor: *mut u32,
    ) -> *mut wasinn_status,
    pub tensor_dimensions: Show,
    pub tensor_type: Number,
    pub tensor_data: Show,
    pub tensor_drop: Drop,

    pub graph_load: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        builders: *const wasinn_bytes,
        count: usize,
        encoding: u32,
        target: u32,
        out: *mut wasinn_wit_result,
    ) -> *mut wasinn_status,
    pub graph_load_by_name: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        name: *const c_char,
        size: usize,
        out: *mut wasinn_wit_result,
    ) -> *mut wasinn_status,
    pub graph_init_execution_context: Act,
    pub graph_drop: Drop,

    pub context_compute: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        context: u32,
        inputs: *const wasinn_wit_named_tensor,
        count: usize,
        out: *mut wasinn_wit_result,
        outputs: *mut wasinn_wit_view,
    ) -> *mut wasinn_status,
    pub context_set_input: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        context: u32,
        input: *const wasinn_wit_named_tensor,
        out: *mut wasinn_wit_result,
    ) -> *mut wasinn_status,
    pub context_compute_set: Act,
    pub context_get_output: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        context: u32,
        name: *const c_char,
        size: usize,
        out: *mut wasinn_wit_result,
    ) -> *mut wasinn_status,
    pub context_drop: Drop,

    pub error_new: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        code: u32,
        data: *const c_char,
        size: usize,
        error: *mut u32,
    ) -> *mut wasinn_status,
    pub error_code: Number,
    pub error_data: Show,
    pub error_drop: Drop,

    pub last_error: unsafe extern "C" fn(guest: *mut wasinn_guest, out: *mut wasinn_wit_view) -> *mut wasinn_status,
    pub describe: Show,

    pub context_start: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        context: u32,
        inputs: *const wasinn_wit_named_tensor,
        count: usize,
        out: *mut wasinn_wit_result,
    ) -> *mut wasinn_status,
    pub context_next: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        context: u32,
        out: *mut wasinn_wit_result,
        has_piece: *mut u32,
        piece: *mut wasinn_wit_view,
    ) -> *mut wasinn_status,
    pub context_finish: Act,

    pub graph_load_by_name_with_config: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        name: *const c_char,
        size: usize,
        config: *const c_char,
        config_size: usize,
        out: *mut wasinn_wit_result,
    ) -> *mut wasinn_status,
    pub context_select_outputs: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        context: u32,
        names: *const wasinn_bytes,
        count: usize,
        out: *mut wasinn_wit_result,
    ) -> *mut wasinn_status,

    pub graph_load_as: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        builders: *const wasinn_bytes,
        count: usize,
        format: *const c_char,
        format_size: usize,
        target: u32,
        out: *mut wasinn_wit_result,
    ) -> *mut wasinn_status,

    pub begin: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        run: Option<unsafe extern "C" fn(user: *mut c_void)>,
        user: *mut c_void,
    ) -> *mut wasinn_status,

    pub error_status: Number,

    pub task_load: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        builders: *const wasinn_bytes,
        count: usize,
        encoding: u32,
        target: u32,
        done: wasinn_wit_done,
        task: *mut *mut wasinn_wit_task,
    ) -> *mut wasinn_status,
    pub task_load_by_name: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        name: *const c_char,
        size: usize,
        done: wasinn_wit_done,
        task: *mut *mut wasinn_wit_task,
    ) -> *mut wasinn_status,
    pub task_compute: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        context: u32,
        inputs: *const wasinn_wit_named_tensor,
        count: usize,
        may_stay: u32,
        done: wasinn_wit_done,
        task: *mut *mut wasinn_wit_task,
    ) -> *mut wasinn_status,
    pub task_generate: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        context: u32,
        inputs: *const wasinn_wit_named_tensor,
        count: usize,
        task: *mut *mut wasinn_wit_task,
    ) -> *mut wasinn_status,
    pub task_step: unsafe extern "C" fn(task: *mut wasinn_wit_task, done: wasinn_wit_done) -> *mut wasinn_status,
    pub task_take: unsafe extern "C" fn(
        task: *mut wasinn_wit_task,
        out: *mut wasinn_wit_result,
        values: *mut wasinn_wit_view,
    ) -> *mut wasinn_status,
    pub task_free: unsafe extern "C" fn(task: *mut wasinn_wit_task),
}

#[repr(C)]
pub struct wasinn_wit_limits {
    pub struct_size: u32,
    pub max_call_bytes: u64,
    pub max_handles: u32,
}

// Lists of u32 are passed as they are in guest memory.
const _: () = assert!(cfg!(target_endian = "little"));

unsafe extern "C" {
    pub fn wasinn_wit() -> *const wasinn_wit_functions;
    pub fn wasinn_wit_guest_limits(guest: *const wasinn_guest, out: *mut wasinn_wit_limits) -> *mut wasinn_status;
}
