//! Wasmtime's whole C API, and beside it what that API lacks: wasi:nn for components as typed host functions, which
//! read a guest's lists where they are (the C API turns every byte of a list into a value of 32 bytes first).
//!
//! Nothing is decided here. An argument is lifted, a function of wasinn's table (wit.h) called, its result lowered; what may
//! block is called by another thread where the embedder wants that. The
//! table comes in by pointer, so this library needs nothing of wasinn. What it exports stands in ../component_link.cc, in
//! ../handler_abi.h what has components answer HTTP requests, in ../program_abi.h what runs them as programs, and in ../model_abi.h
//! what has them be models.

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
mod wit;

// Exports the C API's functions from this library.
pub use wasmtime_c_api::*;
