#include "engines/wasmtime/compile.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <wasmtime.h>

#include "engines/wasmtime/errors.h"

namespace wasinn::wasmtime {
namespace {

using engines::EngineOptions;
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

// Which build of Wasmtime it is, beside its version. The code itself tells Wasmtime its version, settings and processor.
std::string Build() {
  Dl_info library = {};
  struct stat its = {};
  if (dladdr(reinterpret_cast<const void*>(&wasm_engine_new_with_config), &library) == 0) return "";
  if (stat(library.dli_fname, &its) != 0) return "";
  return fmt::format("{} {}.{}", its.st_size, its.st_mtim.tv_sec, its.st_mtim.tv_nsec);
}

}  // namespace

Compiler::Compiler(const EngineOptions& options) : warn_(options.warn) {
  if (!options.cache) return;
  auto cache = engines::ModuleCache::Open(options.guest_folders);
  if (cache) {
    cache_ = std::move(*cache);
    maker_ = fmt::format("wasmtime {} {} interruptible={} metered={}", WASMTIME_VERSION, Build(), options.interruptible,
                         options.metered);
  } else if (warn_) {
    warn_("compiled modules are not cached: " + cache.error());
  }
}

Result<ModulePtr> Compiler::Module(wasm_engine_t* engine, bool threads, const std::string& wasm) const {
  return Compile<ModuleApi>(engine, maker_ + (threads ? " threads" : " module"), wasm);
}

Result<ComponentPtr> Compiler::Component(wasm_engine_t* engine, const std::string& wasm) const {
  return Compile<ComponentApi>(engine, maker_ + " component", wasm);
}

template <typename Api>
Result<typename Api::Owner> Compiler::Compile(wasm_engine_t* engine, const std::string& maker,
                                              const std::string& wasm) const {
  using Owner = typename Api::Owner;
  typename Owner::pointer made = nullptr;
  if (const auto code = cache_ == nullptr ? std::nullopt : cache_->Find(maker, wasm)) {
    auto read =
        TakeError(Api::Deserialize(engine, reinterpret_cast<const uint8_t*>(code->data()), code->size(), &made));
    if (read) return Owner(made);
  }
  auto valid = TakeError(Api::New(engine, reinterpret_cast<const uint8_t*>(wasm.data()), wasm.size(), &made));
  if (!valid) return std::unexpected(valid.error());
  Owner owner(made);
  wasm_byte_vec_t code;
  if (cache_ == nullptr || !TakeError(Api::Serialize(owner.get(), &code))) return owner;
  const Result<void> kept = cache_->Keep(maker, wasm, {code.data, code.size});
  wasm_byte_vec_delete(&code);
  if (!kept && warn_) warn_("a compiled module is not cached: " + kept.error());
  return owner;
}

}  // namespace wasinn::wasmtime
