// A native library of iwasm, WAMR's own program: `iwasm --native-lib=libwasinn_wamr.so app.wasm`.
//
// iwasm opens it, calls init_native_lib, then get_native_lib, whose functions it registers under the one module that is
// named there; at the end deinit_native_lib. All of it happens on one thread.
#include <wasinn/wamr.h>

#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engines/wamr/natives.h"
#include "plugins/iwasm/encoding.h"
#include "plugins/iwasm/wamr_functions.h"
#include "settings/plugin_host.h"

namespace wasinn::iwasm {
namespace {

constexpr char kModule[] = "wasi_ephemeral_nn";

// WAMR's usual convention, with which iwasm registers them: registers hold this many parameters, whatever the function
// has. Functions with more are left out.
constexpr size_t kMaxParams = 5;
uint32_t Call(wasm_exec_env_t env, uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e) {
  uint64_t values[kMaxParams] = {a, b, c, d, e};
  wamr::Dispatch(env, values);
  return static_cast<uint32_t>(values[0]);
}

struct Library {
  explicit Library(Host its_host) : host(std::move(its_host)), module(kModule) {}
  ~Library() { wasinn_wamr_unregister(nn); }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  Host host;
  wasinn_wamr* nn = nullptr;
  std::string module;
  std::vector<NativeSymbol> natives;
};

// The protocol has no pointer for the library's own data.
std::unique_ptr<Library>& TheLibrary() {
  static std::unique_ptr<Library> library;
  return library;
}

int Fail(const std::string& why) {
  settings::Log(WASINN_LOG_ERROR, why.c_str());
  return -1;
}

int Init() {
  if (TheLibrary() != nullptr) return Fail("this library serves wasi-nn already");
  if (const std::string missing = FindWamr(); !missing.empty()) {
    return Fail("this program has no WAMR 2.4 that shows its functions (a libiwasm.so, or linked with -rdynamic): " +
                missing + " missing");
  }
  Result<Host> host = settings::MakeHost("wamr", kEncoding);
  if (!host) return Fail(host.status().message());
  auto library = std::make_unique<Library>(std::move(*host));
  const Status registered(wasinn_wamr_register(library->host.get(), &library->nn));
  if (!registered.ok()) return Fail(registered.message());
  library->natives = wamr::NativesOf(library->nn, kModule);
  const auto has_more = [](const NativeSymbol& native) { return std::strlen(native.signature) > kMaxParams + 3; };
  std::erase_if(library->natives, has_more);  // the functions of type "(iiiiii)i"
  for (NativeSymbol& native : library->natives) native.func_ptr = reinterpret_cast<void*>(Call);
  TheLibrary() = std::move(library);
  return 0;
}

}  // namespace
}  // namespace wasinn::iwasm

extern "C" {

// C calls these.
WASINN_API int init_native_lib() {
  try {
    return wasinn::iwasm::Init();
  } catch (const std::exception& error) {
    return wasinn::iwasm::Fail(error.what());
  }
}

WASINN_API uint32_t get_native_lib(char** module, NativeSymbol** symbols) {
  wasinn::iwasm::Library* library = wasinn::iwasm::TheLibrary().get();
  if (library == nullptr) return 0;
  *module = library->module.data();
  *symbols = library->natives.data();
  return static_cast<uint32_t>(library->natives.size());
}

WASINN_API void deinit_native_lib() { wasinn::iwasm::TheLibrary().reset(); }

}  // extern "C"
