//! Settings of a host.

use std::fmt::{self, Debug, Formatter};
use std::path::Path;
use std::ptr::NonNull;

use wasinn_sys as sys;

use super::error::{Result, check};
use super::text::{c_path, c_string};

/// Settings of a host. The same keys as in the command's file `wasinn.toml`. A later setting replaces an earlier one. An
/// unknown key is an error; its message names the nearest known key.
pub struct Config(NonNull<sys::wasinn_config>);

// SAFETY: any thread may use it, one at a time, and its methods that change it borrow it exclusively.
unsafe impl Send for Config {}

impl Config {
    /// The defaults, which are meant for guests that nobody trusts.
    pub fn new() -> Self {
        // SAFETY: it has no arguments.
        Config(NonNull::new(unsafe { sys::wasinn_config_new() }).expect("a new configuration is not null"))
    }

    /// Adds the settings of a file. Relative paths in it are relative to its folder.
    pub fn load_file(&mut self, path: impl AsRef<Path>) -> Result<&mut Self> {
        let path = c_path("the path", path.as_ref())?;
        // SAFETY: the string is valid.
        check(unsafe { sys::wasinn_config_load_file(self.0.as_ptr(), path.as_ptr()) })?;
        Ok(self)
    }

    /// Adds the settings of a text in TOML. Relative paths in it are relative to the working directory.
    pub fn load_toml(&mut self, toml: &str) -> Result<&mut Self> {
        let toml = c_string("the text", toml)?;
        // SAFETY: the string is valid.
        check(unsafe { sys::wasinn_config_load_toml(self.0.as_ptr(), toml.as_ptr()) })?;
        Ok(self)
    }

    /// Sets `key`, which is dotted: `limits.max_graphs`. `value` is a value of TOML: `8`, `true`, `["a"]`. Any other text is
    /// a string.
    pub fn set(&mut self, key: &str, value: &str) -> Result<&mut Self> {
        let (key, value) = (c_string("the key", key)?, c_string("the value", value)?);
        // SAFETY: the strings are valid.
        check(unsafe { sys::wasinn_config_set(self.0.as_ptr(), key.as_ptr(), value.as_ptr()) })?;
        Ok(self)
    }

    pub(crate) fn as_ptr(&self) -> *const sys::wasinn_config {
        self.0.as_ptr()
    }
}

impl Debug for Config {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").finish_non_exhaustive()
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Config {
    fn drop(&mut self) {
        // SAFETY: it is freed once.
        unsafe { sys::wasinn_config_free(self.0.as_ptr()) };
    }
}
