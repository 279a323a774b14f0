#include "tflite/config.h"

#include <algorithm>

#include "common/config.h"
#include "common/throw.h"

namespace wasinn::tflite {

using backend::Config;
using backend::Throw;

namespace {

constexpr wasinn_key kKeys[] = {
    {"library", WASINN_KEY_BACKEND, "absolute path of libtensorflowlite_c.so, or of its folder"},
    {"threads", WASINN_KEY_BACKEND | WASINN_KEY_MODEL | WASINN_KEY_GUEST,
     "most threads of one compute, the caller's included; backend: 1 to the host's budget, which is the default; model "
     "and guest: fewer"},
    {"xnnpack", WASINN_KEY_BACKEND | WASINN_KEY_MODEL,
     "false: without XNNPACK, TensorFlow Lite's fast kernels for CPUs; default true"},
    {"idle_interpreters", WASINN_KEY_BACKEND,
     "interpreters of freed contexts that each model keeps for its next contexts; default 4"},
    {"signature", WASINN_KEY_MODEL | WASINN_KEY_GUEST,
     "the signature that is computed, of a model with several; default the first"},
    backend::kOpLibrariesKey,
    {"delegates", WASINN_KEY_BACKEND | WASINN_KEY_MODEL,
     "external delegates: [{\"name\": \"vx\", \"library\": \"/usr/lib/libvx_delegate.so\", \"OPTION\": \"VALUE\"}]; "
     "backend: what the other keys may name; model: what it uses, as names of these or objects, in place of the "
     "target's"},
    {"gpu_delegate", WASINN_KEY_BACKEND, "name of the delegate that serves the target gpu"},
    {"tpu_delegate", WASINN_KEY_BACKEND, "name of the delegate that serves the target tpu"},
};

DelegateConfig ParseDelegate(const Config::Named& named, const std::string& where) {
  DelegateConfig parsed{.name = named.name, .library = "", .options = {}};
  for (const auto& [key, value] : named.options) {
    if (key == "library") {
      parsed.library = value;
    } else {
      parsed.options.emplace_back(key, value);
    }
  }
  if (!parsed.library.starts_with('/')) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "{}: delegate '{}': expected a key library with an absolute path, found '{}'",
          where, parsed.name, parsed.library);
  }
  return parsed;
}

void CheckDelegateName(const BackendConfig& config, const char* key, const std::string& name) {
  if (name.empty() || config.FindDelegate(name) != nullptr) return;
  Throw(WASINN_ERROR_INVALID_ARGUMENT, "[backends.tflite]: {}: expected the name of one of its delegates, found '{}'",
        key, name);
}

}  // namespace

std::span<const wasinn_key> Keys() { return kKeys; }

BackendConfig BackendConfig::Parse(const char* text, uint32_t budget) {
  const Config config(text, "[backends.tflite]");
  BackendConfig parsed;
  parsed.library = config.String("library").value_or("");
  parsed.threads = backend::BackendThreads(config, budget);
  parsed.xnnpack = config.Bool("xnnpack").value_or(true);
  parsed.idle_interpreters = static_cast<size_t>(config.Integer("idle_interpreters", 0, 1 << 20).value_or(4));
  if (const auto list = config.NamedList("delegates")) {
    for (const Config::Named& named : *list) {
      parsed.delegates.push_back(ParseDelegate(named, "[backends.tflite]"));
    }
  }
  parsed.gpu_delegate = config.String("gpu_delegate").value_or("");
  parsed.tpu_delegate = config.String("tpu_delegate").value_or("");
  CheckDelegateName(parsed, "gpu_delegate", parsed.gpu_delegate);
  CheckDelegateName(parsed, "tpu_delegate", parsed.tpu_delegate);
  return parsed;
}

const DelegateConfig* BackendConfig::FindDelegate(const std::string& name) const {
  const auto found = std::ranges::find(delegates, name, &DelegateConfig::name);
  return found == delegates.end() ? nullptr : &*found;
}

std::string BackendConfig::Devices() const {
  std::string devices = "cpu";
  if (!gpu_delegate.empty()) devices += fmt::format(", gpu ({})", gpu_delegate);
  if (!tpu_delegate.empty()) devices += fmt::format(", tpu ({})", tpu_delegate);
  return devices;
}

ModelConfig ModelConfig::Parse(const char* host_text, const char* guest_text, const BackendConfig& defaults) {
  const Config host(host_text, "configuration of the model");
  const Config guest(guest_text, "configuration from the guest");
  ModelConfig parsed;
  // Only these keys of a guest's text are read.
  parsed.threads = backend::ModelThreads(host, guest, defaults.threads, defaults.threads);
  parsed.signature = host.String("signature").value_or(guest.String("signature").value_or(""));
  parsed.xnnpack = host.Bool("xnnpack").value_or(defaults.xnnpack);
  parsed.op_libraries = host.AbsolutePaths("op_libraries");
  if (const auto list = host.NamedList("delegates")) {
    parsed.delegates.emplace();
    for (const Config::Named& named : *list) {
      const DelegateConfig* known = named.options.empty() ? defaults.FindDelegate(named.name) : nullptr;
      parsed.delegates->push_back(known != nullptr ? *known : ParseDelegate(named, "configuration of the model"));
    }
  }
  return parsed;
}

}  // namespace wasinn::tflite
