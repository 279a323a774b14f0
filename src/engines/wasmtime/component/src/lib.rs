//! Wasmtime's whole C API, and what it lacks: wasi:nn for components as typed host functions, which read a guest's
//! lists in place (the C API first turns every byte of a list into a value of 32 bytes). These are the crate wasinn's
//! (rust/wasinn); this library is their form in C. It decides nothing.
//!
//! The table of wasinn's functions (wit.h) comes as a pointer, so this library does not link wasinn. Its exports are
//! declared in ../component_link.cc, in ../handler_abi.h (components that answer HTTP requests), in ../program_abi.h
//! (programs) and in ../model_abi.h (models).

mod alone;
mod call_async;
mod early;
mod entry;
mod exchange;
mod handler;
mod handler02;
mod handler03;
mod http_state;
mod instance_pre;
mod lent;
mod link;
mod model;
mod model_abi;
mod model_lift;
mod outgoing;
mod program;
mod service;
mod types;
mod wasi03;

// Exports the C API's functions from this library.
pub use wasmtime_c_api::*;
