//! The function of a component that a run calls: wasi:cli/run, or a function by name. Values are written in WAVE, the
//! component model's notation.

use wasmtime::component::types::{ComponentFunc, ComponentItem};
use wasmtime::component::wasm_wave::untyped::UntypedFuncCall;
use wasmtime::component::wasm_wave::wasm::DisplayType;
use wasmtime::component::{Component, ComponentExportIndex, Type, Val};
use wasmtime::{Result, bail, format_err};

const RUN_INTERFACES: [&str; 2] = ["wasi:cli/run@0.3.0", "wasi:cli/run@0.2.0"];
/// Separates an interface from its function in a name.
const OF: char = '#';

pub struct Entry {
    pub index: ComponentExportIndex,
    name: String,
    params: Vec<Type>,
    n_results: usize,
    /// The arguments of a call such as "add(1, 2)".
    given: Option<Vec<Val>>,
}

impl Entry {
    /// Accepts any compatible version: Wasmtime looks exports up by semver.
    pub fn run(component: &Component) -> Result<Self> {
        let interface = RUN_INTERFACES.iter().find_map(|interface| component.get_export_index(None, interface));
        let found = interface.and_then(|interface| component.get_export(Some(&interface), "run"));
        match found {
            None => bail!("the component exports no wasi:cli/run, so it is a library and not a program"),
            Some((ComponentItem::ComponentFunc(ty), index)) if is_run(&ty) => Ok(Self::new("run", &ty, index)),
            Some(_) => bail!("the component's wasi:cli/run does not have the type of the standard"),
        }
    }

    /// `call` is a function's name, INTERFACE#NAME, or a whole call in the syntax of Wasmtime's command, "add(1, 2)".
    pub fn named(component: &Component, call: &str) -> Result<Self> {
        let name = call.find('(').map_or(call, |begin| &call[..begin]);
        let (ty, index) = find(component, name)?;
        let mut entry = Self::new(name, &ty, index);
        if !entry.params.iter().chain(&ty.results().collect::<Vec<_>>()).all(has_text) {
            bail!("{name} takes or returns a type that cannot be written as text, such as a resource");
        }
        if name.len() < call.len() {
            entry.given = Some(entry.read_call(&call[name.find(OF).map_or(0, |of| of + 1)..])?);
        }
        Ok(entry)
    }

    fn new(name: &str, ty: &ComponentFunc, index: ComponentExportIndex) -> Self {
        let params = ty.params().map(|(_, ty)| ty).collect();
        Entry { index, name: name.into(), params, n_results: ty.results().len(), given: None }
    }

    fn read_call(&self, call: &str) -> Result<Vec<Val>> {
        let read = UntypedFuncCall::parse(call).and_then(|call| call.to_wasm_params(&self.params));
        read.map_err(|error| format_err!("'{call}' does not fit {}: {error}", self.name))
    }

    /// Reads one word for each parameter.
    pub fn read(&self, words: &[&str]) -> Result<Vec<Val>> {
        if let Some(given) = &self.given {
            return Ok(given.clone());
        }
        if words.len() != self.params.len() {
            bail!("{} takes {} values, and {} were given", self.name, self.params.len(), words.len());
        }
        self.params.iter().zip(words).map(|(ty, word)| read_word(ty, word)).collect()
    }

    /// Space for the results.
    pub fn room(&self) -> Vec<Val> {
        vec![Val::Bool(false); self.n_results]
    }
}

/// func() -> result
fn is_run(ty: &ComponentFunc) -> bool {
    let results: Vec<Type> = ty.results().collect();
    ty.params().len() == 0
        && matches!(&results[..], [Type::Result(result)] if result.ok().is_none() && result.err().is_none())
}

/// Finds a function of the component itself, or of the only interface that has it.
fn find(component: &Component, name: &str) -> Result<(ComponentFunc, ComponentExportIndex)> {
    let missing = || format_err!("the component exports no function {name}");
    if let Some((interface, function)) = name.split_once(OF) {
        return function_of(component, Some(interface), function).ok_or_else(missing);
    }
    if let Some(own) = function_of(component, None, name) {
        return Ok(own);
    }
    let ty = component.component_type();
    let exports: Vec<&str> = ty.exports(component.engine()).map(|(export, _)| export).collect();
    let mut found: Vec<_> = exports
        .iter()
        .filter_map(|interface| Some((*interface, function_of(component, Some(interface), name)?)))
        .collect();
    if found.len() > 1 {
        let names: Vec<String> = found.iter().map(|(interface, _)| format!("{interface}{OF}{name}")).collect();
        bail!("several interfaces have a function {name}; name one of: {}", names.join(", "));
    }
    found.pop().map(|(_, function)| function).ok_or_else(missing)
}

fn function_of(
    component: &Component,
    interface: Option<&str>,
    name: &str,
) -> Option<(ComponentFunc, ComponentExportIndex)> {
    let interface = match interface {
        Some(interface) => match component.get_export(None, interface)? {
            (ComponentItem::ComponentInstance(_), index) => Some(index),
            _ => return None,
        },
        None => None,
    };
    match component.get_export(interface.as_ref(), name)? {
        (ComponentItem::ComponentFunc(ty), index) => Some((ty, index)),
        _ => None,
    }
}

/// Whether WAVE can express values of this type.
fn has_text(ty: &Type) -> bool {
    let all = |mut types: Box<dyn Iterator<Item = Type> + '_>| types.all(|ty| has_text(&ty));
    match ty {
        Type::Own(_) | Type::Borrow(_) | Type::Stream(_) | Type::Future(_) | Type::ErrorContext => false,
        Type::Map(_) | Type::FixedLengthList(_) => false,
        Type::List(list) => has_text(&list.ty()),
        Type::Option(option) => has_text(&option.ty()),
        Type::Result(result) => all(Box::new(result.ok().into_iter().chain(result.err()))),
        Type::Record(record) => all(Box::new(record.fields().map(|field| field.ty))),
        Type::Variant(variant) => all(Box::new(variant.cases().filter_map(|case| case.ty))),
        Type::Tuple(tuple) => all(Box::new(tuple.types())),
        _ => true,
    }
}

/// The quotes of a string may be missing: in WAVE every string begins with one.
fn read_word(ty: &Type, word: &str) -> Result<Val> {
    if matches!(ty, Type::String) && !word.starts_with('"') {
        return Ok(Val::String(word.into()));
    }
    Val::from_wave(ty, word)
        .map_err(|error| format_err!("'{word}' is not a value of type {}: {error}", DisplayType(ty)))
}
