#include "hostile/embedder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "hostile/run.h"

namespace wasinn::testing {
namespace {

wasinn_guest* GuestOf(wasmtime_context_t* context, void*) {
  return static_cast<wasinn_guest*>(wasmtime_context_get_data(context));
}

std::string Take(wasmtime_error_t* error, wasm_trap_t* trap = nullptr) {
  if (error == nullptr && trap == nullptr) return "";
  wasm_name_t message;
  int code = 0;
  if (error != nullptr && wasmtime_error_exit_status(error, &code) && code == 0) {
    wasmtime_error_delete(error);
    return "";
  }
  error != nullptr ? wasmtime_error_message(error, &message) : wasm_trap_message(trap, &message);
  std::string text(message.data, message.size);
  wasm_name_delete(&message);
  if (error != nullptr) wasmtime_error_delete(error);
  if (trap != nullptr) wasm_trap_delete(trap);
  return text;
}

// A test cannot go on without these.
void Must(const std::string& error) {
  if (error.empty()) return;
  ADD_FAILURE() << error;
  std::abort();
}
void Must(const Status& status) { Must(status.ok() ? std::string() : std::string(status.message())); }

wasm_engine_t* NewEngine() {
  wasm_config_t* config = wasm_config_new();
  wasmtime_config_wasm_threads_set(config, true);
  wasmtime_config_shared_memory_set(config, true);
  return wasm_engine_new_with_config(config);
}

using ModulePtr = Owned<wasmtime_module_t, wasmtime_module_delete>;

ModulePtr Compile(wasm_engine_t* engine, const std::string& wasm) {
  wasmtime_module_t* module = nullptr;
  Must(Take(wasmtime_module_new(engine, reinterpret_cast<const uint8_t*>(wasm.data()), wasm.size(), &module)));
  return ModulePtr(module);
}

ModulePtr CompileText(wasm_engine_t* engine, const std::string& text) {
  wasm_byte_vec_t wasm;
  Must(Take(wasmtime_wat2wasm(text.data(), text.size(), &wasm)));
  ModulePtr module = Compile(engine, std::string(wasm.data, wasm.size));
  wasm_byte_vec_delete(&wasm);
  return module;
}

struct Imported {
  const char* name;
  size_t params;
};
constexpr Imported kFunctions[] = {{"load", 5},      {"load_by_name", 3}, {"init_execution_context", 2},
                                   {"set_input", 3}, {"compute", 1},      {"get_output", 5}};

// Each function of wasi_ephemeral_nn, wrapped and exported under its own name.
std::string PuppetText(bool shared) {
  std::string imports, functions;
  for (const auto& [name, count] : kFunctions) {
    std::string params, arguments;
    for (size_t i = 0; i < count; ++i) {
      params += " i32";
      arguments += " (local.get " + std::to_string(i) + ")";
    }
    const std::string quoted = std::string("\"") + name + "\"", id = std::string("$") + name;
    const std::string type = "(param" + params + ") (result i32)";
    imports.append("(import \"wasi_ephemeral_nn\" ").append(quoted);
    imports.append(" (func ").append(id).append(" ").append(type).append("))\n");
    functions.append("(func (export ").append(quoted).append(") ").append(type);
    functions.append(" (call ").append(id).append(arguments).append("))\n");
  }
  const std::string memory =
      shared ? "(import \"env\" \"memory\" (memory 1 65536 shared)) (export \"memory\" (memory 0))\n"
             : "(memory (export \"memory\") 1)\n";
  functions += "(func (export \"trap\") unreachable)\n";
  return "(module " + imports + memory + functions + ")";
}

}  // namespace

Embedder::Embedder(const std::string& toml) : engine_(NewEngine()), linker_(wasmtime_linker_new(engine_.get())) {
  Config config;
  Must(config.LoadToml(toml));
  Result<Host> host = Host::Create(config, [this](LogLevel, const char* message) {
    std::lock_guard lock(log_mutex_);
    log_.emplace_back(message);
  });
  Must(host ? std::string() : std::string(host.status().message()));
  host_ = std::make_unique<Host>(std::move(*host));
  for (const char* name : {"digits", "dynamic", "endless"}) {
    ModelOptions model;
    model.path = std::string(name) == "digits" ? DigitsPath() : TinyPath(name);
    Must(host_->AddModel(name, model));
  }
  LinkAll();
}

void Embedder::LinkAll() {
  Must(Take(wasmtime_linker_define_wasi(linker_.get())));
  Must(Status(wasinn_wasmtime_link(linker_.get(), host_->get(), GuestOf, nullptr)));
}

std::vector<std::string> Embedder::log() const {
  std::lock_guard lock(log_mutex_);
  return log_;
}

std::string Embedder::RunProgram(const std::string& program, const std::vector<std::string>& args,
                                 const std::string& output) {
  const ModulePtr module = Compile(engine_.get(), ReadFile(GuestPath(program)));
  GuestOptions options;
  options.name = program;
  Result<Guest> guest = Guest::Create(*host_, options);
  if (!guest) return guest.status().message();
  const StorePtr store(wasmtime_store_new(engine_.get(), guest->get(), nullptr));
  wasi_config_t* wasi = wasi_config_new();
  std::vector<const char*> argv = {program.c_str()};
  for (const std::string& arg : args) argv.push_back(arg.c_str());
  wasi_config_set_argv(wasi, argv.size(), argv.data());
  wasi_config_set_stdout_file(wasi, output.c_str());
  wasi_config_preopen_dir(wasi, SourcePath("models").c_str(), "/models", false);
  wasmtime_context_t* context = wasmtime_store_context(store.get());
  std::string error = Take(wasmtime_context_set_wasi(context, wasi));
  if (error.empty()) error = RunStart(context, module.get());
  guest->Close();  // before the store, which has the memory
  return error;
}

std::string Embedder::RunStart(wasmtime_context_t* context, const wasmtime_module_t* module) {
  wasmtime_instance_t instance;
  wasm_trap_t* trap = nullptr;
  wasmtime_error_t* error = wasmtime_linker_instantiate(linker_.get(), context, module, &instance, &trap);
  if (error != nullptr || trap != nullptr) return Take(error, trap);
  wasmtime_extern_t start;
  if (!wasmtime_instance_export_get(context, &instance, "_start", 6, &start)) return "no _start";
  error = wasmtime_func_call(context, &start.of.func, nullptr, 0, nullptr, 0, &trap);
  return Take(error, trap);
}

SharedMemoryPtr NewSharedMemory(Embedder& embedder, uint32_t pages) {
  wasm_memorytype_t* type = nullptr;
  Must(Take(wasmtime_memorytype_new(pages, true, 65536, false, true, 16, &type)));
  wasmtime_sharedmemory_t* memory = nullptr;
  Must(Take(wasmtime_sharedmemory_new(embedder.engine(), type, &memory)));
  wasm_memorytype_delete(type);
  return SharedMemoryPtr(memory);
}

Puppet::Puppet(Embedder& embedder, wasinn_guest* guest, wasmtime_sharedmemory_t* shared)
    : shared_(shared), store_(wasmtime_store_new(embedder.engine(), guest, nullptr)) {
  const ModulePtr module = CompileText(embedder.engine(), PuppetText(shared != nullptr));
  // A linker of its own, since each puppet may have another memory.
  const Owned<wasmtime_linker_t, wasmtime_linker_delete> linker(wasmtime_linker_new(embedder.engine()));
  Must(Status(wasinn_wasmtime_link(linker.get(), embedder.host().get(), GuestOf, nullptr)));
  if (shared != nullptr) {
    wasmtime_extern_t memory;
    memory.kind = WASMTIME_EXTERN_SHAREDMEMORY;
    memory.of.sharedmemory = shared;
    Must(Take(wasmtime_linker_define(linker.get(), context(), "env", 3, "memory", 6, &memory)));
  }
  wasm_trap_t* trap = nullptr;
  wasmtime_error_t* error = wasmtime_linker_instantiate(linker.get(), context(), module.get(), &instance_, &trap);
  Must(Take(error, trap));
}

wasmtime_extern_t Puppet::Export(const std::string& name) {
  wasmtime_extern_t found;
  const bool there = wasmtime_instance_export_get(context(), &instance_, name.data(), name.size(), &found);
  Must(there ? "" : "no export " + name);
  return found;
}

uint32_t Puppet::Call(const std::string& function, const std::vector<uint32_t>& args) {
  const wasmtime_extern_t found = Export(function);
  std::vector<wasmtime_val_t> values(args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    values[i].kind = WASMTIME_I32;
    values[i].of.i32 = static_cast<int32_t>(args[i]);
  }
  wasmtime_val_t result{};
  wasm_trap_t* trap = nullptr;
  wasmtime_error_t* error =
      wasmtime_func_call(context(), &found.of.func, values.data(), values.size(), &result, 1, &trap);
  Must(Take(error, trap));
  return static_cast<uint32_t>(result.of.i32);
}

std::string Puppet::Trap() {
  const wasmtime_extern_t found = Export("trap");
  wasm_trap_t* trap = nullptr;
  wasmtime_error_t* error = wasmtime_func_call(context(), &found.of.func, nullptr, 0, nullptr, 0, &trap);
  return Take(error, trap);
}

uint8_t* Puppet::memory() {
  if (shared_ != nullptr) return wasmtime_sharedmemory_data(shared_);
  const wasmtime_extern_t found = Export("memory");
  return wasmtime_memory_data(context(), &found.of.memory);
}

uint32_t Puppet::Read(uint32_t address) {
  uint32_t value = 0;
  std::memcpy(&value, memory() + address, sizeof(value));
  return value;
}

uint32_t Puppet::LoadByName(const std::string& name) {
  std::memcpy(memory(), name.data(), name.size());
  EXPECT_EQ(Call("load_by_name", {0, static_cast<uint32_t>(name.size()), 64}), 0u) << name;
  return Read(64);
}

uint32_t Puppet::NewContext(uint32_t graph) {
  EXPECT_EQ(Call("init_execution_context", {graph, 64}), 0u);
  return Read(64);
}

void Puppet::PutTensor(uint32_t address, const std::vector<uint32_t>& dims, uint32_t type, uint32_t data,
                       uint32_t size) {
  constexpr uint32_t kDescriptor = 20;
  Put<uint32_t>(address + kDescriptor, dims);
  Put<uint32_t>(address, {address + kDescriptor, static_cast<uint32_t>(dims.size()), type, data, size});
}

}  // namespace wasinn::testing
