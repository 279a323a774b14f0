//! Machine learning for the guests of a Rust program that embeds [Wasmtime]: wasi-nn, the standard interface, on ONNX
//! Runtime, OpenVINO, PyTorch, TensorFlow, TensorFlow Lite, llama.cpp or a model server. It replaces `wasmtime-wasi-nn`.
//!
//! [Wasmtime]: https://docs.rs/wasmtime
//!
//! ```no_run
//! # #[cfg(feature = "wasmtime-48")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # use wasmtime_48 as wasmtime;
//! use wasmtime::component::{Component, Linker};
//! use wasmtime::{Engine, Store};
//!
//! struct State {
//!     nn: wasinn::Guest,
//! }
//!
//! // For the whole process: the models.
//! let host = wasinn::Host::new(&wasinn::Config::new())?;
//! host.add_model("digits", &wasinn::Model::file("digits.onnx"))?;
//!
//! // For each engine: the functions.
//! let engine = Engine::default();
//! let mut linker = Linker::new(&engine);
//! wasinn::add_to_linker(&mut linker, |state: &mut State| &mut state.nn)?;
//! let component = Component::from_file(&engine, "guest.wasm")?;
//!
//! // For each program in the sandbox: a guest, with limits of its own.
//! let mut store = Store::new(&engine, State { nn: wasinn::Guest::new(&host)? });
//! wasinn::set_up(&mut store, |state| &mut state.nn);
//! let instance = linker.instantiate(&mut store, &component)?;
//! # Ok(())
//! # }
//! # #[cfg(not(feature = "wasmtime-48"))]
//! # fn main() {}
//! ```
//!
//! # Features
//!
//! `wasmtime-48` takes your program's Wasmtime 48; there are 47, 49 and 50, too. Name one: of several the newest counts.
//! The feature is the major version of your `Cargo.lock`, and its patch version is free. Without any of them the crate has
//! no functions for linkers.
//!
//! # What must be there
//!
//! `libwasinn.so`, when your program is built and when it runs. The build looks in `lib/` of the folder that
//! `WASINN_PREFIX` names, or else asks pkg-config.
//!
//! # Lifetimes
//!
//! A [`Host`] holds what one process shares. A [`Guest`] is one program in the sandbox. It belongs into its store's data:
//! Wasmtime drops the data of a store first, which closes the guest before its memory goes.

#[cfg(all(
    feature = "wasmtime-47",
    not(any(feature = "wasmtime-48", feature = "wasmtime-49", feature = "wasmtime-50"))
))]
extern crate wasmtime_47 as wasmtime;
#[cfg(all(feature = "wasmtime-48", not(any(feature = "wasmtime-49", feature = "wasmtime-50"))))]
extern crate wasmtime_48 as wasmtime;
#[cfg(all(feature = "wasmtime-49", not(feature = "wasmtime-50")))]
extern crate wasmtime_49 as wasmtime;
#[cfg(feature = "wasmtime-50")]
extern crate wasmtime_50 as wasmtime;

#[cfg(feature = "_wasmtime")]
mod begun;
#[cfg(feature = "host")]
mod host;
#[cfg(feature = "_wasmtime")]
mod notify;
#[cfg(feature = "_wasmtime")]
pub mod wit;
#[cfg(all(feature = "host", feature = "_wasmtime"))]
pub mod witx;

#[cfg(feature = "host")]
pub use host::{
    Code, Config, Dialect, Error, Guest, GuestOptions, Host, Level, Limits, Load, Model, Policy, Record, Result,
    Statistics, Stopper, Target,
};
#[cfg(all(feature = "host", feature = "_wasmtime"))]
pub use wit::{add_to_linker, add_to_linker_async, set_up};
