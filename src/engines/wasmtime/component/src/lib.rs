//! Wasmtime's whole C API, and what it lacks: wasi:nn for components as typed host functions, which read a guest's
//! lists in place (the C API first turns every byte of a list into a value of 32 bytes).
//!
//! This library decides nothing. It lifts an argument, calls a function of wasinn's table (wit.h), and lowers its
//! result; if the embedder wants that, another thread calls functions that may block. The table comes as a pointer, so
//! this library does not link wasinn. Its exports are declared in ../component_link.cc, in ../handler_abi.h (components
//! that answer HTTP requests), in ../program_abi.h (programs) and in ../model_abi.h (models).

mod alone;
mod begun;
mod blocking;
mod call_async;
mod calls;
mod define;
mod early;
mod entry;
mod errors;
mod exchange;
mod ext;
mod graph;
mod handler;
mod handler02;
mod handler03;
mod http_state;
mod inference;
mod instance_pre;
mod link;
mod model;
mod model_abi;
mod model_lift;
mod outgoing;
mod program;
mod tensor;
mod text;
mod types;
mod views;
mod wasi03;
mod wit;

// Exports the C API's functions from this library.
pub use wasmtime_c_api::*;
