//! The C API of wasinn, as its headers declare it: `wasinn/wasinn.h`, `engine.h` and
//! `wit.h`. The headers document each item. The crate `wasinn` is the same for Rust programs, with owners and strings.
//!
//! The build links `libwasinn.so`. It is looked for in `lib/` of the folder that the variable `WASINN_PREFIX` names, or
//! else by pkg-config. Without the feature `link` nothing is linked.
#![no_std]
#![allow(non_camel_case_types)]
#![allow(missing_docs, reason = "the headers have the comments")]

mod engine;
mod host;
mod types;
mod wit;

pub use engine::*;
pub use host::*;
pub use types::*;
pub use wit::*;
