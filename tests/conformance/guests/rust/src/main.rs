//! Every function of the crate wasinn-guest, on real models, for bindings_test.cc; guests/go is the same program in Go.
//!
//!     bindings digits MODEL INPUTS OUTPUTS   all images of a file, each way that there is to classify them
//!     bindings rows                          outputs that become inputs, and outputs that are chosen
//!     bindings types                         each type of elements
//!     bindings errors MODEL                  what goes wrong
//!     bindings text CONFIG PROMPT            what a language model says

mod digits;
mod errors;
mod rows;
mod text;
mod types;

use std::error::Error;
use std::process::ExitCode;

use wasinn_guest::Element;

type Outcome = Result<(), Box<dyn Error>>;

/// "NAME HEX", or "NAME -" of nothing.
fn print_bytes(name: &str, bytes: &[u8]) {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{name} {}", if hex.is_empty() { "-" } else { &hex });
}

fn print_elements<T: Element>(name: &str, elements: &[T]) {
    // SAFETY: elements have no padding.
    print_bytes(name, unsafe { std::slice::from_raw_parts(elements.as_ptr().cast(), size_of_val(elements)) });
}

fn run(args: &[&str]) -> Outcome {
    match args {
        ["digits", model, inputs, outputs] => digits::run(model, inputs, outputs),
        ["rows"] => rows::run(),
        ["types"] => types::run(),
        ["errors", model] => errors::run(model),
        ["text", config, prompt] => text::run(config, prompt),
        _ => Err("usage: see main.rs".into()),
    }
}

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match run(&args.iter().map(String::as_str).collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let words = wasinn_guest::last_error().unwrap_or_default();
            eprintln!("bindings: {error}; {words}");
            ExitCode::FAILURE
        }
    }
}
