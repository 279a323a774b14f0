#include "engines/wasmtime/wasi.h"

#include <wasi.h>

#include <algorithm>
#include <cerrno>
#include <future>
#include <memory>
#include <system_error>
#include <thread>

#include "engines/wasm_file.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/handler_abi.h"
#include "engines/wasmtime/handles.h"

namespace wasinn::wasmtime {

using engines::Result;
using engines::RunOptions;

namespace {

constexpr uint64_t kNoEpochs = uint64_t{1} << 62;

ptrdiff_t WriteToSink(void* sink, const unsigned char* bytes, size_t size) {
  const bool taken =
      (*static_cast<std::shared_ptr<engines::Sink>*>(sink))->Write({reinterpret_cast<const char*>(bytes), size});
  return taken ? static_cast<ptrdiff_t>(size) : -ENOSPC;
}

void SetStreams(wasi_config_t* wasi, const std::optional<engines::Streams>& streams) {
  if (!streams) {
    wasi_config_inherit_stdin(wasi);
    wasi_config_inherit_stdout(wasi);
    wasi_config_inherit_stderr(wasi);
    return;
  }
  wasm_byte_vec_t input;
  wasm_byte_vec_new(&input, streams->input.size(), streams->input.data());
  wasi_config_set_stdin_bytes(wasi, &input);
  // Wasmtime's threads write, perhaps after the store is gone.
  const auto forget = [](void* sink) { delete static_cast<std::shared_ptr<engines::Sink>*>(sink); };
  wasi_config_set_stdout_custom(wasi, WriteToSink, new std::shared_ptr(streams->output), forget);
  wasi_config_set_stderr_custom(wasi, WriteToSink, new std::shared_ptr(streams->error), forget);
}

}  // namespace

Result<void> SetWasi(wasmtime_context_t* context, const RunOptions& options) {
  WasiConfigPtr wasi(wasi_config_new());
  std::vector<const char*> argv, names, values;
  for (const std::string& arg : options.args) argv.push_back(arg.c_str());
  for (const auto& [name, value] : options.env) {
    names.push_back(name.c_str());
    values.push_back(value.c_str());
  }
  if (!wasi_config_set_argv(wasi.get(), argv.size(), argv.data()) ||
      !wasi_config_set_env(wasi.get(), names.size(), names.data(), values.data())) {
    return std::unexpected("arguments and environment of a guest must be UTF-8");
  }
  SetStreams(wasi.get(), options.streams);
  if (options.inherit_network) wasi_config_inherit_network(wasi.get());
  if (options.http) wasinn_wasi_config_forbid_sockets(wasi.get());  // such programs need a Wasmtime that has it
  for (const engines::Directory& directory : options.directories) {
    if (!wasi_config_preopen_dir(wasi.get(), directory.host.c_str(), directory.guest.c_str(), !directory.read_only)) {
      return std::unexpected("cannot open the folder " + directory.host);
    }
  }
  return TakeError(wasmtime_context_set_wasi(context, wasi.release()));
}

bool SystemGivesThreads(unsigned count) {
  std::vector<std::jthread> threads;
  threads.reserve(count);
  std::promise<void> all_there;
  const std::shared_future<void> wait = all_there.get_future().share();
  bool gives = true;
  try {
    while (threads.size() < count) threads.emplace_back([wait] { wait.wait(); });
  } catch (const std::system_error&) {
    gives = false;
  }
  all_there.set_value();
  return gives;
}

Result<void> StartWasi(wasm_engine_t* engine, wasmtime_linker_t* linker) {
  // A module that writes nothing, to nowhere.
  constexpr char kWriter[] = R"((module
    (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (func (export "f") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 0))))))";
  const Result<std::string> wasm = engines::ParseText(kWriter, {});
  if (!wasm) return std::unexpected(wasm.error());
  wasmtime_module_t* compiled = nullptr;
  auto valid =
      TakeError(wasmtime_module_new(engine, reinterpret_cast<const uint8_t*>(wasm->data()), wasm->size(), &compiled));
  if (!valid) return valid;
  const ModulePtr module(compiled);
  const StorePtr store(wasmtime_store_new(engine, nullptr, nullptr));
  wasmtime_context_t* context = wasmtime_store_context(store.get());
  if (auto set = TakeError(wasmtime_context_set_wasi(context, wasi_config_new())); !set) return set;
  wasmtime_context_set_epoch_deadline(context, kNoEpochs);
  wasmtime_instance_t instance;
  wasm_trap_t* trap = nullptr;
  wasmtime_error_t* error = wasmtime_linker_instantiate(linker, context, module.get(), &instance, &trap);
  // The number that Wasmtime starts. If it gets only some of them, it waits for ever.
  if (!SystemGivesThreads(std::max(std::thread::hardware_concurrency(), 1u))) {
    return std::unexpected("the system gives no threads for WASI");
  }
  wasmtime_extern_t function;
  if (error == nullptr && trap == nullptr && wasmtime_instance_export_get(context, &instance, "f", 1, &function)) {
    error = wasmtime_func_call(context, &function.of.func, nullptr, 0, nullptr, 0, &trap);
  }
  const engines::Exit exit = ToExit(error, trap);
  if (exit.kind == engines::Exit::Kind::kExited) return {};
  return std::unexpected("WASI does not start: " + exit.message);
}

}  // namespace wasinn::wasmtime
