//! Hosts, models and guests: libwasinn without an engine.

mod config;
mod error;
mod guest;
mod limits;
mod log;
mod model;
mod policy;
mod text;

pub use config::Config;
pub use error::{Code, Error, Result};
pub use guest::{Guest, GuestOptions, Stopper};
pub use limits::{Limits, Statistics};
pub use log::{Level, Record};
pub use model::{Model, Target};
pub use policy::{Dialect, Load, Policy};

use std::ffi::c_void;
use std::fmt::{self, Debug, Formatter};
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use wasinn_sys as sys;

use error::check;
use log::LogFunction;
use text::{c_path, c_string, to_string};

/// What all guests of one process share: backends, models, default limits and policy. A clone is the same host.
///
/// It opens no framework before a model needs it. It lives until its last clone and its last guest are dropped.
#[derive(Clone)]
pub struct Host(Arc<Shared>);

struct Shared {
    host: NonNull<sys::wasinn_host>,
    _log: Option<Box<LogFunction>>, // freed after the host, which calls it
}

// SAFETY: any thread may use a host, several at once, and a log function is `Send` and `Sync`.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

impl Host {
    /// A host without a log. The settings are read now.
    pub fn new(config: &Config) -> Result<Self> {
        Self::make(config, None)
    }

    /// A host whose log goes to `log`, from warnings on, if the setting `log.level` does not say otherwise. The function is
    /// called from any thread, even concurrently. It must not call wasinn. If it panics, the line is lost.
    pub fn with_log(config: &Config, log: impl Fn(&Record<'_>) + Send + Sync + 'static) -> Result<Self> {
        Self::make(config, Some(Box::new(Box::new(log))))
    }

    fn make(config: &Config, log: Option<Box<LogFunction>>) -> Result<Self> {
        let function: Option<sys::wasinn_log_fn> = if log.is_some() { Some(log::call) } else { None };
        let user = log.as_ref().map_or(ptr::null_mut(), |log| ptr::from_ref::<LogFunction>(log).cast_mut().cast());
        let mut host = ptr::null_mut();
        // SAFETY: the arguments are valid, and the function outlives the host.
        check(unsafe { sys::wasinn_host_new(config.as_ptr(), function, user, &mut host) })?;
        let host = NonNull::new(host).expect("a new host is not null");
        Ok(Host(Arc::new(Shared { host, _log: log })))
    }

    /// Registers a model under a name, or replaces the model of that name. Guests load it by this name; all of them share it.
    /// Its file is read and compiled at the first load, or now with [`Model::preload`].
    pub fn add_model(&self, name: &str, model: &Model) -> Result<()> {
        let name = c_string("the model's name", name)?;
        // SAFETY: the strings are valid, and copied.
        model.lend(|options| check(unsafe { sys::wasinn_host_add_model(self.as_ptr(), name.as_ptr(), options) }))
    }

    /// Registers every model of a folder: `NAME/model.onnx`, `NAME/1/model.onnx`.
    pub fn add_models(&self, folder: impl AsRef<Path>) -> Result<()> {
        let folder = c_path("the folder", folder.as_ref())?;
        // SAFETY: the string is valid.
        check(unsafe { sys::wasinn_host_add_models(self.as_ptr(), folder.as_ptr()) })
    }

    /// Removes all versions of a model, or one version: `NAME:2`. Guests that hold it keep it.
    pub fn remove_model(&self, name: &str) -> Result<()> {
        let name = c_string("the model's name", name)?;
        // SAFETY: the string is valid.
        check(unsafe { sys::wasinn_host_remove_model(self.as_ptr(), name.as_ptr()) })
    }

    /// Compiles a model's files again, as they are now. Until that is done, and if it fails, loads get the old model.
    pub fn reload_model(&self, name: &str) -> Result<()> {
        let name = c_string("the model's name", name)?;
        // SAFETY: the string is valid.
        check(unsafe { sys::wasinn_host_reload_model(self.as_ptr(), name.as_ptr()) })
    }

    /// The limits of its guests, if they have none of their own.
    pub fn limits(&self) -> Limits {
        Limits::read(|out| {
            // SAFETY: the struct is valid.
            unsafe { sys::wasinn_host_limits(self.as_ptr(), out) }
        })
    }

    /// The policy of its guests, if they have none of their own.
    pub fn policy(&self) -> Policy {
        // SAFETY: zeros are a valid policy.
        let mut policy: sys::wasinn_policy = unsafe { std::mem::zeroed() };
        policy.struct_size = size_of_val(&policy) as u32;
        // SAFETY: the struct is valid, and its strings live as long as the host.
        unsafe {
            sys::wasinn_status_free(sys::wasinn_host_policy(self.as_ptr(), &mut policy)); // null: the size is set
            Policy::from_c(&policy)
        }
    }

    /// The host's metrics, in Prometheus' text format.
    pub fn metrics(&self) -> Result<String> {
        unsafe extern "C" fn take(user: *mut c_void, text: *const std::ffi::c_char, _size: usize) {
            // SAFETY: `user` is the string below; the text ends in a NUL.
            unsafe { *user.cast::<String>() = to_string(text) };
        }
        let mut metrics = String::new();
        // SAFETY: the string outlives the call.
        check(unsafe { sys::wasinn_host_metrics(self.as_ptr(), Some(take), (&raw mut metrics).cast()) })?;
        Ok(metrics)
    }

    fn as_ptr(&self) -> *mut sys::wasinn_host {
        self.0.host.as_ptr()
    }
}

impl Debug for Host {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").finish_non_exhaustive()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: its guests are freed already, for each has a clone.
        unsafe { sys::wasinn_host_free(self.host.as_ptr()) };
    }
}
