#include "tflite/delegate_library.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <vector>

#include "common/dependencies.h"
#include "common/error.h"

namespace wasinn::tflite {

using backend::Error;

namespace {

// What the delegate that this thread is making says; the callback has no argument of ours.
thread_local std::string* refusal = nullptr;

void KeepRefusal(const char* message) {
  constexpr size_t kMost = 4096;
  if (refusal == nullptr || message == nullptr || refusal->size() > kMost) return;
  if (!refusal->empty()) *refusal += "; ";
  *refusal += message;
}

}  // namespace

DelegateLibrary::DelegateLibrary(const DelegateConfig& config) : config_(config) {
  backend::CheckDependencies(config.library);
  void* handle = dlopen(config.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION, fmt::format("delegate '{}': its library cannot be opened: {}",
                                                                config.name, why != nullptr ? why : config.library));
  }
  create_ = reinterpret_cast<Create>(dlsym(handle, "tflite_plugin_create_delegate"));
  destroy_ = reinterpret_cast<void (*)(TfLiteDelegate*)>(dlsym(handle, "tflite_plugin_destroy_delegate"));
  if (create_ == nullptr || destroy_ == nullptr) {
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                fmt::format("delegate '{}': {} is not an external delegate: it has no tflite_plugin_create_delegate",
                            config.name, config.library));
  }
}

DelegatePtr DelegateLibrary::NewDelegate() const {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : config_.options) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  std::string said;
  refusal = &said;
  TfLiteDelegate* delegate = create_(keys.data(), values.data(), keys.size(), KeepRefusal);
  refusal = nullptr;
  if (delegate == nullptr) {
    throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                fmt::format("delegate '{}' ({}) refuses: {}", config_.name, config_.library,
                            said.empty() ? "it does not say why" : said));
  }
  return {delegate, destroy_};
}

}  // namespace wasinn::tflite
