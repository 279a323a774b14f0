//! The crate in a program: guests of the examples, on the model of digits.

#[cfg(feature = "wasmtime-47")]
extern crate wasmtime_47 as wasmtime;
#[cfg(feature = "wasmtime-48")]
extern crate wasmtime_48 as wasmtime;
#[cfg(feature = "wasmtime-49")]
extern crate wasmtime_49 as wasmtime;
#[cfg(feature = "wasmtime-50")]
extern crate wasmtime_50 as wasmtime;

#[allow(dead_code, reason = "its main")]
#[path = "../../examples/embed-rust/src/main.rs"]
mod example;

use std::sync::{Arc, Mutex};

use wasinn::{Code, Config, Dialect, Guest, GuestOptions, Host, Load, Model, Policy, Target};
use wasinn_tests::{poll_once, wait};
use wasmtime::component::{self, Component};
use wasmtime::{Engine, Linker, Module, Result, Store};

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../models/digits.onnx");
const COMPONENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/embed-component/guest.wat");
const MODULE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/embed-wasmtime/guest.wat");

/// A guest of the examples returns an errno as a negative number, and WIT's error-code as one less.
const NOT_FOUND: (i32, i32) = (-1 - 6, -8);
const TOO_LARGE: (i32, i32) = (-1 - 5, -7);
const SECURITY: (i32, i32) = (-1 - 7, -6);

fn host() -> Host {
    let host = Host::new(&Config::new()).unwrap();
    host.add_model("digits", &Model::file(MODEL)).unwrap();
    host
}

fn both(engine: &Engine, host: &Host, options: &GuestOptions) -> (i32, i32) {
    (component(engine, host, options).unwrap(), module(engine, host, options).unwrap())
}

fn component(engine: &Engine, host: &Host, options: &GuestOptions) -> Result<i32> {
    let mut linker = component::Linker::new(engine);
    wasinn::add_to_linker(&mut linker, |guest: &mut Guest| guest)?;
    let mut store = Store::new(engine, Guest::with_options(host, options)?);
    let instance = linker.instantiate(&mut store, &Component::from_file(engine, COMPONENT)?)?;
    let classify = instance.get_typed_func::<(u32,), (i32,)>(&mut store, "classify")?;
    Ok(classify.call(&mut store, (0,))?.0)
}

fn module(engine: &Engine, host: &Host, options: &GuestOptions) -> Result<i32> {
    let mut linker = Linker::new(engine);
    wasinn::witx::add_to_linker(&mut linker, |guest: &mut Guest| guest)?;
    let mut store = Store::new(engine, Guest::with_options(host, options)?);
    let instance = linker.instantiate(&mut store, &Module::from_file(engine, MODULE)?)?;
    instance.get_typed_func::<u32, i32>(&mut store, "classify")?.call(&mut store, 0)
}

#[test]
fn the_example_classifies_digits_with_components_and_modules() {
    let (engine, host) = (Engine::default(), host());
    for (image, digit) in [(0, 5), (1, 7)] {
        assert_eq!(example::run_component(&engine, &host, COMPONENT, image).unwrap(), digit);
        assert_eq!(example::run_module(&engine, &host, MODULE, image).unwrap(), digit);
    }
}

struct Async {
    engine: Engine,
    host: Host,
}

impl Async {
    fn new() -> Self {
        Async { engine: Engine::default(), host: host() }
    }

    fn store(&self) -> Store<Guest> {
        Store::new(&self.engine, Guest::new(&self.host).unwrap())
    }

    async fn component(&self, store: &mut Store<Guest>, image: u32) -> Result<i32> {
        let mut linker = component::Linker::new(&self.engine);
        wasinn::add_to_linker_async(&mut linker, |guest: &mut Guest| guest)?;
        wasinn::set_up(&mut *store, |guest| guest);
        let component = Component::from_file(&self.engine, COMPONENT)?;
        let instance = linker.instantiate_async(&mut *store, &component).await?;
        let classify = instance.get_typed_func::<(u32,), (i32,)>(&mut *store, "classify")?;
        Ok(classify.call_async(store, (image,)).await?.0)
    }

    async fn module(&self, store: &mut Store<Guest>, image: u32) -> Result<i32> {
        let mut linker = Linker::new(&self.engine);
        wasinn::witx::add_to_linker_async(&mut linker, |guest: &mut Guest| guest)?;
        let module = Module::from_file(&self.engine, MODULE)?;
        let instance = linker.instantiate_async(&mut *store, &module).await?;
        instance.get_typed_func::<u32, i32>(&mut *store, "classify")?.call_async(store, image).await
    }
}

#[test]
fn futures_are_woken_when_their_calls_are_done() {
    let host = Async::new();
    for (image, digit) in [(0, 5), (1, 7)] {
        assert_eq!(wait(host.component(&mut host.store(), image)).unwrap(), digit);
        assert_eq!(wait(host.module(&mut host.store(), image)).unwrap(), digit);
    }
}

#[test]
fn a_future_dropped_during_a_call_closes_its_guest_alone() {
    let host = Async::new();
    let mut store = host.store();
    if poll_once(host.component(&mut store, 0)).is_pending() {
        assert_eq!(store.data().statistics().inside, 0);
        assert!(wait(host.component(&mut store, 0)).unwrap_err().to_string().contains("wasm trap"));
    }
    let mut store = host.store();
    if poll_once(host.module(&mut store, 0)).is_pending() {
        assert_eq!(store.data().statistics().inside, 0);
        assert!(wait(host.module(&mut store, 0)).unwrap() < 0);
    }
    assert_eq!(wait(host.component(&mut host.store(), 0)).unwrap(), 5);
}

#[test]
fn guests_hold_what_their_limits_allow() {
    let (engine, host) = (Engine::default(), host());
    let mut limits = host.limits();
    assert_eq!(limits.max_graphs, 64);
    limits.max_graphs = 0;
    let options = GuestOptions { limits: Some(limits), ..Default::default() };
    assert_eq!(both(&engine, &host, &options), TOO_LARGE);
}

#[test]
fn guests_load_what_their_policy_allows() {
    let (engine, host) = (Engine::default(), host());
    let mut policy = host.policy();
    assert_eq!((policy.load, policy.weight, &policy.models, &policy.targets), (Load::Isolated, 1, &None, &None));
    let mut run = |models: &[&str]| {
        policy.models = Some(models.iter().map(|name| name.to_string()).collect());
        policy.targets = Some(vec![Target::Cpu]);
        let options = GuestOptions { policy: Some(policy.clone()), ..Default::default() };
        both(&engine, &host, &options)
    };
    assert_eq!(run(&["digits"]), (5, 5));
    assert_eq!(run(&["others"]), SECURITY);
    assert_eq!(run(&[]), SECURITY);
}

/// A newer libwasinn has values that this crate does not name: they are passed on, and never become others.
#[test]
fn numbers_without_a_name_stay_what_they_are() {
    let host = host();
    let refused = |change: fn(&mut Policy)| {
        let mut policy = host.policy();
        change(&mut policy);
        let options = GuestOptions { policy: Some(policy), ..Default::default() };
        Guest::with_options(&host, &options).unwrap_err().to_string()
    };
    let load = refused(|policy| policy.load = Load::Other(77));
    assert!(load.contains("policy.load") && load.contains("77"), "{load}");
    let dialect = refused(|policy| policy.dialect = Dialect::Other(77));
    assert!(dialect.contains("policy.dialect") && dialect.contains("77"), "{dialect}");
}

#[test]
fn errors_of_guests_are_in_the_log() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let log = lines.clone();
    let host = Host::with_log(&Config::new(), move |record| {
        log.lock().unwrap().push((record.code, record.guest_name.to_owned(), record.message.to_owned()));
    });
    let options = GuestOptions { name: "tenant 7".into(), ..Default::default() };
    assert_eq!(both(&Engine::default(), &host.unwrap(), &options), NOT_FOUND);
    let lines = lines.lock().unwrap();
    assert_eq!(lines.len(), 2);
    for (code, guest, message) in lines.iter() {
        assert_eq!((*code, guest.as_str()), (Code::NotFound, "tenant 7"));
        assert!(message.contains("digits"), "{message}");
    }
}

/// As `eprintln!` does if nobody reads stderr.
#[test]
fn a_log_that_panics_loses_its_line_alone() {
    let host = Host::with_log(&Config::new(), |_| panic!("nobody reads the log")).unwrap();
    assert_eq!(both(&Engine::default(), &host, &GuestOptions::default()), NOT_FOUND);
}

#[test]
fn a_stopped_guest_calls_nothing_more() {
    let (engine, host) = (Engine::default(), host());
    let mut linker = Linker::new(&engine);
    wasinn::witx::add_to_linker(&mut linker, |guest: &mut Guest| guest).unwrap();
    let mut store = Store::new(&engine, Guest::new(&host).unwrap());
    let instance = linker.instantiate(&mut store, &Module::from_file(&engine, MODULE).unwrap()).unwrap();
    let classify = instance.get_typed_func::<u32, i32>(&mut store, "classify").unwrap();
    assert_eq!(classify.call(&mut store, 1).unwrap(), 7);
    assert_eq!((store.data().statistics().computes, store.data().statistics().graphs), (1, 1));
    let stopper = store.data().stopper();
    let of_another_thread = stopper.clone();
    std::thread::spawn(move || of_another_thread.stop()).join().unwrap();
    assert!(classify.call(&mut store, 1).unwrap() < 0);
    store.data_mut().close();
    assert_eq!(store.data().statistics().graphs, 0);
    drop(store);
    stopper.stop();
}

#[test]
fn models_come_from_bytes_and_can_be_removed() {
    let (engine, host) = (Engine::default(), Host::new(&Config::new()).unwrap());
    let mut model = Model::parts([std::fs::read(MODEL).unwrap()]);
    model.encoding = "onnx".into();
    model.preload = true;
    host.add_model("digits", &model).unwrap();
    let options = GuestOptions::default();
    assert_eq!(both(&engine, &host, &options), (5, 5));
    assert!(host.metrics().unwrap().contains("wasinn_"));
    host.remove_model("digits").unwrap();
    assert_eq!(both(&engine, &host, &options), NOT_FOUND);
}

#[test]
fn errors_say_what_is_wrong() {
    let mut config = Config::new();
    let error = config.set("limits.max_graph", "1").unwrap_err();
    assert_eq!(error.code(), Code::InvalidArgument);
    assert!(error.to_string().contains("'max_graphs'"), "{error}");
    config.load_toml("[limits]\nmax_graphs = 3").unwrap();
    let host = Host::new(&config).unwrap();
    assert_eq!(host.limits().max_graphs, 3);
    let model = Model::file("/missing.onnx");
    assert_eq!(host.add_model("missing", &model).unwrap_err().code(), Code::NotFound);
    assert_eq!(host.add_model("a\0b", &model).unwrap_err().message(), "the model's name contains a NUL");
}

#[test]
fn a_linker_takes_the_functions_once() {
    let engine = Engine::default();
    let mut linker = component::Linker::new(&engine);
    wasinn::add_to_linker(&mut linker, |guest: &mut Guest| guest).unwrap();
    assert!(wasinn::add_to_linker(&mut linker, |guest: &mut Guest| guest).is_err());
}
