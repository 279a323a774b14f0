//! Two guests on one shared model: a component and a core module. Usage: embed-rust digits.onnx component.wat module.wat

use wasinn::{Config, Guest, GuestOptions, Host, Model};
use wasmtime::component::{self, Component};
use wasmtime::{Engine, Linker, Module, Result, Store, bail};

/// The data of a guest's store. WASI's state would be here, too.
pub struct State {
    nn: Guest,
}

/// Each program in the sandbox is a guest of its own.
pub fn store_of(engine: &Engine, host: &Host, name: &str) -> Result<Store<State>> {
    let mut limits = host.limits();
    limits.max_graphs = 1;
    let options = GuestOptions { name: name.into(), limits: Some(limits), policy: None };
    Ok(Store::new(engine, State { nn: Guest::with_options(host, &options)? }))
}

pub fn run_component(engine: &Engine, host: &Host, file: &str, image: u32) -> Result<i32> {
    let mut linker = component::Linker::new(engine);
    wasinn::add_to_linker(&mut linker, |state: &mut State| &mut state.nn)?;
    let component = Component::from_file(engine, file)?;
    let mut store = store_of(engine, host, "component")?;
    wasinn::set_up(&mut store, |state| &mut state.nn); // lets pass what the guest may move
    let instance = linker.instantiate(&mut store, &component)?;
    let classify = instance.get_typed_func::<(u32,), (i32,)>(&mut store, "classify")?;
    Ok(classify.call(&mut store, (image,))?.0)
}

pub fn run_module(engine: &Engine, host: &Host, file: &str, image: u32) -> Result<i32> {
    let mut linker = Linker::new(engine);
    wasinn::witx::add_to_linker(&mut linker, |state: &mut State| &mut state.nn)?;
    let module = Module::from_file(engine, file)?;
    let mut store = store_of(engine, host, "module")?;
    let instance = linker.instantiate(&mut store, &module)?;
    let classify = instance.get_typed_func::<u32, i32>(&mut store, "classify")?;
    classify.call(&mut store, image)
} // dropping the store closes its guest

pub fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, model, component, module] = &arguments[..] else {
        bail!("usage: embed-rust digits.onnx component.wat module.wat");
    };
    let host = Host::with_log(&Config::new(), |record| eprintln!("{}", record.message))?;
    host.add_model("digits", &Model::file(model))?;
    let engine = Engine::default();
    println!("the component sees a {}", run_component(&engine, &host, component, 0)?);
    println!("the module sees a {}", run_module(&engine, &host, module, 1)?);
    Ok(())
}
