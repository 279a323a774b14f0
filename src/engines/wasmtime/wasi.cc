#include "engines/wasmtime/wasi.h"

#include <wasi.h>

#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/handles.h"

namespace wasinn::wasmtime {

using engines::Guest;
using engines::Result;

Result<void> SetWasi(wasmtime_context_t* context, const Guest& guest) {
  WasiConfigPtr wasi(wasi_config_new());
  std::vector<const char*> argv, names, values;
  for (const std::string& arg : guest.args) argv.push_back(arg.c_str());
  for (const auto& [name, value] : guest.env) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  if (!wasi_config_set_argv(wasi.get(), argv.size(), argv.data()) ||
      !wasi_config_set_env(wasi.get(), names.size(), names.data(), values.data())) {
    return std::unexpected("arguments and environment of a guest must be UTF-8");
  }
  if (guest.inherit_stdio) {
    wasi_config_inherit_stdin(wasi.get());
    wasi_config_inherit_stdout(wasi.get());
    wasi_config_inherit_stderr(wasi.get());
  }
  for (const engines::Directory& directory : guest.directories) {
    if (!wasi_config_preopen_dir(wasi.get(), directory.host.c_str(), directory.guest.c_str(), true)) {
      return std::unexpected("cannot open the folder " + directory.host);
    }
  }
  return TakeError(wasmtime_context_set_wasi(context, wasi.release()));
}

}  // namespace wasinn::wasmtime
