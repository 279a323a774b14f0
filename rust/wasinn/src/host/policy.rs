//! What a guest is allowed to do.

use std::ffi::{CString, c_char};
use std::{ptr, slice};

use wasinn_sys as sys;

use super::error::Result;
use super::model::Target;
use super::text::{c_string, pointers, to_string};

macro_rules! numbered {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $case:ident = $number:ident,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $case,)*
            /// A number for which this crate has no name, of a newer libwasinn.
            Other(u32),
        }

        impl $name {
            fn from_number(number: u32) -> Self {
                match number {
                    $(sys::$number => $name::$case,)*
                    _ => $name::Other(number),
                }
            }

            fn number(self) -> u32 {
                match self {
                    $($name::$case => sys::$number,)*
                    $name::Other(number) => number,
                }
            }
        }
    };
}

numbered! {
    /// Where a model runs that a guest brings as bytes.
    Load {
        /// Nowhere: the guest may only load models by name.
        Deny = WASINN_LOAD_DENY,
        /// In a worker, a separate OS process for one guest and one framework. A model that crashes its framework only ends this
        /// worker.
        Isolated = WASINN_LOAD_ISOLATED,
        /// In this process. For trusted models only: a framework's parser does not confine a model.
        InProcess = WASINN_LOAD_IN_PROCESS,
    }
}

numbered! {
    /// The numbers that a guest uses for formats, types and errors.
    Dialect {
        /// Those of the standard, wasi-nn.witx.
        Default = WASINN_DIALECT_DEFAULT,
        /// WasmEdge's.
        WasmEdge = WASINN_DIALECT_WASMEDGE,
        /// WAMR's.
        Wamr = WASINN_DIALECT_WAMR,
        /// Those of the crate wasi-nn 0.1 to 0.3.
        Witx01 = WASINN_DIALECT_WITX_0_1,
    }
}

/// What a guest is allowed to do. [`Host::policy`](crate::Host::policy) has the default.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Policy {
    /// Where models from the guest's own bytes run.
    pub load: Load,
    /// `gpu` and `tpu` mean the processor if the device is missing.
    pub cpu_fallback: bool,
    /// The targets that a load accepts; None: every one.
    pub targets: Option<Vec<Target>>,
    /// The names that a load may use; None: every registered one.
    pub models: Option<Vec<String>>,
    /// The numbers that the guest uses.
    pub dialect: Dialect,
    /// The formats that a load accepts; None: every one.
    pub encodings: Option<Vec<String>>,
    /// Guests of one host with the same tenant trust each other and share workers. Empty: the guest shares with no other.
    pub tenant: String,
    /// The guest's share when computes wait for a place, from 1 to 1,000.
    pub weight: u32,
    /// Models in workers may use this machine's GPUs; their sandbox is weaker.
    pub isolated_gpu: bool,
}

const TARGETS: [Target; 4] = [Target::Cpu, Target::Gpu, Target::Tpu, Target::Auto];

impl Policy {
    /// # Safety
    /// The pointers are valid.
    pub(crate) unsafe fn from_c(c: &sys::wasinn_policy) -> Self {
        let targets = TARGETS.into_iter().filter(|target| c.targets & (1 << target.number()) != 0).collect();
        // SAFETY: the caller guarantees it.
        unsafe {
            Policy {
                load: Load::from_number(c.load),
                cpu_fallback: c.cpu_fallback,
                targets: if c.targets == sys::WASINN_TARGET_ALL { None } else { Some(targets) },
                models: strings(c.models, c.n_models),
                dialect: Dialect::from_number(c.dialect),
                encodings: strings(c.encodings, c.n_encodings),
                tenant: to_string(c.tenant),
                weight: c.weight,
                isolated_gpu: c.isolated_gpu,
            }
        }
    }

    /// Calls `with` with the struct of C.
    pub(crate) fn lend<R>(&self, with: impl FnOnce(&sys::wasinn_policy) -> Result<R>) -> Result<R> {
        let (models, encodings) = (List::new("a model's name", &self.models)?, List::new("a format", &self.encodings)?);
        let tenant = c_string("the tenant", self.tenant.as_str())?;
        let targets = self.targets.as_ref();
        with(&sys::wasinn_policy {
            struct_size: size_of::<sys::wasinn_policy>() as u32,
            load: self.load.number(),
            cpu_fallback: self.cpu_fallback,
            targets: targets
                .map_or(sys::WASINN_TARGET_ALL, |some| some.iter().fold(0, |all, one| all | 1 << one.number())),
            models: models.as_ptr(),
            n_models: models.pointers.len(),
            dialect: self.dialect.number(),
            encodings: encodings.as_ptr(),
            n_encodings: encodings.pointers.len(),
            tenant: tenant.as_ptr(),
            weight: self.weight,
            allowed_outbound_hosts: ptr::null(), // libwasinn sends no requests
            n_allowed_outbound_hosts: 0,
            isolated_gpu: self.isolated_gpu,
        })
    }
}

/// A list of strings for C. A list that allows nothing is not null.
struct List {
    is_some: bool,
    pointers: Vec<*const c_char>,
    _texts: Vec<CString>,
}

impl List {
    fn new(what: &str, texts: &Option<Vec<String>>) -> Result<Self> {
        let given = texts.iter().flatten().map(|text| c_string(what, text.as_str()));
        let given = given.collect::<Result<Vec<_>>>()?;
        Ok(List { is_some: texts.is_some(), pointers: pointers(&given), _texts: given })
    }

    fn as_ptr(&self) -> *const *const c_char {
        if self.is_some { self.pointers.as_ptr() } else { ptr::null() }
    }
}

unsafe fn strings(texts: *const *const c_char, count: usize) -> Option<Vec<String>> {
    if texts.is_null() {
        return None;
    }
    // SAFETY: the caller guarantees it.
    let texts = unsafe { slice::from_raw_parts(texts, count) };
    // SAFETY: as above.
    Some(texts.iter().map(|&text| unsafe { to_string(text) }).collect())
}
