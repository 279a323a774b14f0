//! wasi:nn@0.3.0-draft in a program: the guest of tests/component/guests/nn03.wat, on models of the echo backend whose names
//! are letters.
#![cfg(any(feature = "wasmtime-48", feature = "wasmtime-49", feature = "wasmtime-50"))]

#[cfg(feature = "wasmtime-48")]
extern crate wasmtime_48 as wasmtime;
#[cfg(feature = "wasmtime-49")]
extern crate wasmtime_49 as wasmtime;
#[cfg(feature = "wasmtime-50")]
extern crate wasmtime_50 as wasmtime;

use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;
use std::{env, fs, process, thread};

use wasinn::{Config, Guest, Host, Model};
use wasinn_tests::wait;
use wasmtime::component::{Component, Linker};
use wasmtime::{Engine, Result, Store, StoreContextMut};

const GUEST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/component/guests/nn03.wat");
const SIXTEEN: &str = "abcdefghijklmnop";
const FLOAT: &str = "in x f32 1\n";
const TEXT: &str = "in x u8 -1 opaque\npieces 3\n";

/// The data of a store: the guest, and what the program does.
type State = (Guest, &'static str);

#[derive(Clone, Copy)]
enum Calls {
    Blocking,
    Async,
}

struct Program {
    engine: Engine,
    component: Component,
    host: Host,
    folder: PathBuf,
}

impl Program {
    /// `name` is the test's.
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("wasinn-draft-{name}-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        let mut config = Config::new();
        let echo = env::var("WASINN_ECHO").expect("WASINN_ECHO is the folder of the echo backend");
        let settings = format!("backend_dirs = ['{echo}']\nmax_computes = 16\nmax_guest_computes = 16\n");
        config.load_toml(&(settings + "backends.llama.library = '/nonexistent'\n")).unwrap();
        let engine = Engine::default();
        let component = Component::from_file(&engine, GUEST).unwrap();
        Program { engine, component, host: Host::new(&config).unwrap(), folder }
    }

    fn add(&self, name: &str, lines: &str) {
        let mut model = Model::parts([format!("GGUF\n{lines}").into_bytes()]);
        model.encoding = "ggml".into();
        self.host.add_model(name, &model).unwrap();
    }

    fn gate(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.gate"))
    }

    /// A model whose computes take turns, and wait until there is a file.
    fn add_gated(&self, name: &str, lines: &str) {
        self.add(name, &format!("{lines}turns 0\ngate {}\n", self.gate(name).display()));
    }

    fn has_reached(&self, name: char) -> bool {
        self.folder.join(format!("{name}.gate.reached")).exists()
    }

    fn store(&self, word: &'static str) -> Store<State> {
        Store::new(&self.engine, (Guest::new(&self.host).unwrap(), word))
    }

    /// Whether the program succeeds.
    async fn run(&self, store: &mut Store<State>, calls: Calls) -> Result<bool> {
        let mut linker = Linker::new(&self.engine);
        match calls {
            Calls::Blocking => wasinn::add_to_linker(&mut linker, |state: &mut State| &mut state.0)?,
            Calls::Async => wasinn::add_to_linker_async(&mut linker, |state: &mut State| &mut state.0)?,
        }
        linker
            .instance("wasi:cli/environment@0.3.0")?
            .func_wrap("get-arguments", |store: StoreContextMut<'_, State>, (): ()| {
                Ok((vec!["guest".to_owned(), store.data().1.to_owned()],))
            })?;
        wasinn::set_up(&mut *store, |state| &mut state.0);
        let instance = linker.instantiate_async(&mut *store, &self.component).await?;
        let cli = instance.get_export_index(&mut *store, None, "wasi:cli/run@0.3.0").unwrap();
        let run = instance.get_export_index(&mut *store, Some(&cli), "run").unwrap();
        let run = instance.get_typed_func::<(), (Result<(), ()>,)>(&mut *store, run)?;
        Ok(run.call_async(&mut *store, ()).await?.0.is_ok())
    }

    fn expect(&self, words: &[&'static str]) {
        for word in words {
            for calls in [Calls::Blocking, Calls::Async] {
                assert!(wait(self.run(&mut self.store(word), calls)).unwrap(), "{word}");
            }
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

#[test]
fn computes_of_a_component_overlap() {
    for calls in [Calls::Blocking, Calls::Async] {
        let program = Program::new("overlap");
        SIXTEEN.chars().for_each(|name| program.add_gated(&name.to_string(), FLOAT));
        thread::scope(|scope| {
            scope.spawn(|| {
                while !SIXTEEN.chars().all(|name| program.has_reached(name)) {
                    thread::sleep(Duration::from_millis(1));
                }
                SIXTEEN.chars().for_each(|name| fs::write(program.gate(&name.to_string()), "").unwrap());
            });
            assert!(wait(program.run(&mut program.store("overlap"), calls)).unwrap());
        });
    }
}

#[test]
fn computes_and_streams() {
    let program = Program::new("streams");
    program.add("a", FLOAT);
    program.add_gated("g", FLOAT);
    program.add("s", TEXT);
    program.add("n", &format!("{TEXT}room 3\n"));
    program.expect(&["compute", "busy", "stream", "narrow", "drop", "leave", "unread"]);
}

#[test]
fn a_future_dropped_during_a_compute_ends_it() {
    let program = Program::new("dropped");
    program.add_gated("g", FLOAT);
    for calls in [Calls::Blocking, Calls::Async] {
        let mut store = program.store("wait");
        {
            let mut run = pin!(program.run(&mut store, calls));
            while !program.has_reached('g') {
                assert!(run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
            }
        }
        drop(store);
        fs::remove_file(program.folder.join("g.gate.reached")).unwrap();
        assert!(program.host.metrics().unwrap().contains("wasinn_inferences_running 0\n"));
    }
    fs::write(program.gate("g"), "").unwrap();
    program.expect(&["wait"]);
}
