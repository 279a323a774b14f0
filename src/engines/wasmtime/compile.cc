#include "engines/wasmtime/compile.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <wasmtime.h>

#include "engines/wasmtime/compile_apart.h"
#include "engines/wasmtime/errors.h"
#include "engines/wasmtime/new_engine.h"

namespace wasinn::wasmtime {
namespace {

using engines::Result;

struct ModuleApi {
  using Owner = ModulePtr;
  static constexpr auto New = wasmtime_module_new;
  static constexpr auto Serialize = wasmtime_module_serialize;
  static constexpr auto Deserialize = wasmtime_module_deserialize;
};

struct ComponentApi {
  using Owner = ComponentPtr;
  static constexpr auto New = wasmtime_component_new;
  static constexpr auto Serialize = wasmtime_component_serialize;
  static constexpr auto Deserialize = wasmtime_component_deserialize;
};

// The build of Wasmtime, besides its version. The code itself contains Wasmtime's version, settings and processor.
std::string Build() {
  Dl_info library = {};
  struct stat its = {};
  if (dladdr(reinterpret_cast<const void*>(&wasm_engine_new_with_config), &library) == 0) return "";
  if (stat(library.dli_fname, &its) != 0) return "";
  return fmt::format("{} {}.{}", its.st_size, its.st_mtim.tv_sec, its.st_mtim.tv_nsec);
}

// Each kind has an engine of its own, except components without asynchronous functions.
const char* NameOf(ProgramKind kind) {
  switch (kind) {
    case ProgramKind::kModule:
      return "module";
    case ProgramKind::kThreads:
      return "threads";
    case ProgramKind::kAsyncComponent:
      return "async component";
    case ProgramKind::kComponent:
      break;
  }
  return "component";
}

}  // namespace

std::string Compiler::Maker(ProgramKind kind) const {
  return fmt::format("wasmtime {} {} {} {}", WASMTIME_VERSION, Build(), CodeSettings(options_), NameOf(kind));
}

void Compiler::OpenCache() const {
  if (!options_.cache) return;
  auto cache = engines::ModuleCache::Open(options_.guest_folders);
  if (cache) {
    cache_ = std::move(*cache);
  } else if (options_.warn) {
    options_.warn("compiled modules are not cached: " + cache.error());
  }
}

Result<ModulePtr> Compiler::Module(wasm_engine_t* engine, bool threads, const engines::WasmFile& program) const {
  return Compile<ModuleApi>(engine, threads ? ProgramKind::kThreads : ProgramKind::kModule, program);
}

Result<ComponentPtr> Compiler::Component(wasm_engine_t* engine, ProgramKind kind,
                                         const engines::WasmFile& program) const {
  return Compile<ComponentApi>(engine, kind, program);
}

namespace {

template <typename Api>
Result<typename Api::Owner> Read(wasm_engine_t* engine, std::string_view code) {
  typename Api::Owner::pointer made = nullptr;
  auto read = TakeError(Api::Deserialize(engine, reinterpret_cast<const uint8_t*>(code.data()), code.size(), &made));
  if (!read) return std::unexpected(read.error());
  return typename Api::Owner(made);
}

template <typename Api>
Result<std::string> Write(const typename Api::Owner& compiled) {
  wasm_byte_vec_t bytes;
  if (auto written = TakeError(Api::Serialize(compiled.get(), &bytes)); !written) {
    return std::unexpected(written.error());
  }
  std::string code(bytes.data, bytes.size);
  wasm_byte_vec_delete(&bytes);
  return code;
}

}  // namespace

Result<ModulePtr> ReadModule(wasm_engine_t* engine, std::string_view code) { return Read<ModuleApi>(engine, code); }
Result<ComponentPtr> ReadComponent(wasm_engine_t* engine, std::string_view code) {
  return Read<ComponentApi>(engine, code);
}
Result<std::string> CodeOf(const ModulePtr& module) { return Write<ModuleApi>(module); }
Result<std::string> CodeOf(const ComponentPtr& component) { return Write<ComponentApi>(component); }

namespace {

// Compiles in this process.
template <typename Api>
Result<typename Api::Owner> New(wasm_engine_t* engine, const std::string& wasm) {
  typename Api::Owner::pointer made = nullptr;
  auto valid = TakeError(Api::New(engine, reinterpret_cast<const uint8_t*>(wasm.data()), wasm.size(), &made));
  if (!valid) return std::unexpected(valid.error());
  return typename Api::Owner(made);
}

}  // namespace

void Compiler::Keep(const std::string& maker, const std::string& wasm, const std::string& code) const {
  const Result<void> kept = cache_->Keep(maker, wasm, code);
  if (!kept && options_.warn) options_.warn("a compiled module is not cached: " + kept.error());
}

template <typename Api>
Result<typename Api::Owner> Compiler::Compile(wasm_engine_t* engine, ProgramKind kind,
                                              const engines::WasmFile& program) const {
  using Owner = typename Api::Owner;
  const std::string& wasm = program.bytes;
  std::call_once(opened_, [this] { OpenCache(); });
  const std::string maker = cache_ == nullptr ? "" : Maker(kind);
  if (const auto code = cache_ == nullptr ? std::nullopt : cache_->Find(maker, wasm)) {
    if (auto read = Read<Api>(engine, *code)) return read;
  }
  if (options_.compiling) options_.compiling(program.path, wasm.size(), cache_ != nullptr);
  if (options_.compile.Any()) {
    const Result<std::string> code = CompileApart(options_, kind, wasm);
    if (!code) return std::unexpected(code.error());
    Result<Owner> read = Read<Api>(engine, *code);
    if (read && cache_ != nullptr) Keep(maker, wasm, *code);
    return read;
  }
  Result<Owner> made = New<Api>(engine, wasm);
  if (!made || cache_ == nullptr) return made;
  if (const Result<std::string> code = Write<Api>(*made)) Keep(maker, wasm, *code);
  return made;
}

}  // namespace wasinn::wasmtime
