//! Machine learning for guests: WebAssembly programs. The host runs the models, through the standard interface wasi-nn.
//!
//! ```no_run
//! use wasinn_guest::{Graph, Result};
//!
//! fn main() -> Result<()> {
//!     let context = Graph::load_by_name("digits")?.init_execution_context()?;
//!     let image = [0.5f32; 64];
//!     context.set_input(0, &image, &[1, 1, 8, 8])?;
//!     context.compute()?;
//!     println!("{:?}", context.get_output_vec::<f32>(0)?);
//!     Ok(())
//! }
//! ```
//!
//! Three sets of functions, for core modules (wasm32-wasip1):
//! - the standard's six (`wasi_ephemeral_nn`), which every host of wasi-nn has;
//! - what WasmEdge added to that module: on WasmEdge and wasinn;
//! - wasinn's own (`wasinn_ext_0`), only on wasinn: [`last_error`], [`Graph::describe`], [`Graph::load_as`], all that goes by
//!   names, [`Context::compute_once`], [`Context::set_input_from_output`] and [`WritingContext`].
//!
//! The methods have the functions' names. A guest imports only what it calls. So a guest that calls only the standard's six runs
//! on every host.
#![no_std]

extern crate alloc;

mod context;
mod error;
mod fill;
mod graph;
mod once;
pub mod raw;
mod tensor;
mod writing;

pub use context::Context;
pub use error::{Error, Result};
pub use graph::{Encoding, Graph, Target};
pub use once::{Input, Output};
pub use tensor::{Element, TensorType, F16};
pub use writing::WritingContext;

/// The message of the guest's last error: "set_input: invalid_argument: …". It stays until the next error; a too small buffer
/// does not count as one. Only on wasinn.
pub fn last_error() -> Result<alloc::string::String> {
    // SAFETY: fill_text gives a buffer of that size.
    fill::fill_text(|buffer, size, written| unsafe { raw::wasinn_last_error(buffer, size, written) })
}
