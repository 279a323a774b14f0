//! The crate's own tests, as they are: cargo's harness runs them in the guest.

include!(concat!(env!("WASI_NN_CRATES"), "/wasi-nn-safe/tests/test_inference.rs"));
