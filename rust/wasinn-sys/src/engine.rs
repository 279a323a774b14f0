//! engine.h: the functions of wasi-nn for core modules.

use core::ffi::{c_char, c_void};

use crate::wasinn_guest;

#[repr(C)]
pub struct wasinn_memory {
    pub struct_size: u32,
    pub flags: u32,
    pub base: *mut u8,
    pub size: u64,
}

pub const WASINN_MEMORY_SHARED: u32 = 1;
pub const WASINN_MAX_PARAMS: usize = 8;

#[repr(C)]
pub struct wasinn_function {
    pub struct_size: u32,
    pub flags: u32,
    pub module: *const c_char,
    pub name: *const c_char,
    pub params: *const c_char,
    pub results: *const c_char,
    pub call: unsafe extern "C" fn(
        guest: *mut wasinn_guest,
        memory: *const wasinn_memory,
        args: *const c_void,
        stride: usize,
    ) -> u32,
}

pub const WASINN_FUNCTION_MAY_BLOCK: u32 = 1;

#[repr(C)]
pub struct wasinn_call {
    pub struct_size: u32,
    pub refused: bool,
    pub function: *const wasinn_function,
    pub guest: *mut wasinn_guest,
    pub memory: *const wasinn_memory,
    pub args: *const c_void,
    pub stride: usize,
    pub stack_left: usize,
    pub ended: Option<unsafe extern "C" fn(caller: *mut c_void) -> bool>,
    pub caller: *mut c_void,
}

unsafe extern "C" {
    pub fn wasinn_functions(count: *mut usize) -> *const *const wasinn_function;
    pub fn wasinn_guest_call_begin(
        call: *mut wasinn_call,
        done: Option<unsafe extern "C" fn(user: *mut c_void, result: u32)>,
        user: *mut c_void,
    );
}
