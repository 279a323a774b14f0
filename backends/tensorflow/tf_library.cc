#include "tensorflow/tf_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string_view>

#include "common/config.h"
#include "common/library.h"
#include "common/model_bytes.h"
#include "common/stderr_capture.h"
#include "common/throw.h"

namespace wasinn::tensorflow {

using backend::Throw;

namespace {

constexpr char kInstall[] = "scripts/deps.sh tensorflow";
// The first one is in TensorFlow's Python wheels, the second one in its package for C.
constexpr const char* kNames[] = {"libtensorflow_cc.so.2", "libtensorflow.so.2"};
// The oldest version with which the tests pass.
constexpr int kOldestMinor = 21;

// "I0000 00:00:1795275312.678284   20799 port.cc:153] oneDNN …", or the one line that precedes the first of those.
bool IsTensorFlows(std::string_view line) {
  constexpr std::string_view kBefore = "WARNING: All log messages before absl::InitializeLog()";
  if (line.starts_with(kBefore)) return true;
  return line.size() > 5 && std::string_view("IWE").contains(line[0]) &&
         std::ranges::all_of(line.substr(1, 4), [](char c) { return c >= '0' && c <= '9'; }) && line[5] == ' ' &&
         line.contains(".cc:");
}

}  // namespace

TfLibrary::TfLibrary(const std::string& configured) {
  // TensorFlow logs to stderr, and cannot log elsewhere: only fatal messages stay on.
  backend::SetForFramework("TF_CPP_MIN_LOG_LEVEL", "3");
  std::optional<backend::StderrCapture> capture;
  // It writes a line while it is opened, regardless of its settings; not if the program has it open.
  if (dlopen("libtensorflow_framework.so.2", RTLD_LAZY | RTLD_NOLOAD) == nullptr) capture.emplace(IsTensorFlows);
  const backend::Library library({.framework = "TensorFlow",
                                  .install = kInstall,
                                  .names = kNames,
                                  .configured = configured,
                                  .own_symbols_first = true});
#define WASINN_TF_SYMBOL(name) api_.name = library.Symbol<decltype(api_.name)>(#name);
  WASINN_TF_FUNCTIONS(WASINN_TF_SYMBOL)
#undef WASINN_TF_SYMBOL
  if (capture) opening_log_ = capture->Finish();
  path_ = library.PathOf(reinterpret_cast<const void*>(api_.TF_SessionRun));
  version_ = api_.TF_Version();
  int major = 0, minor = 0;
  if (std::sscanf(version_.c_str(), "%d.%d", &major, &minor) != 2 || major != 2 || minor < kOldestMinor) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "TensorFlow {} ({}): expected a version of 2.{} or later; {} installs one", version_, path_, kOldestMinor,
          kInstall);
  }
}

std::string TfLibrary::Message(const TF_Status* status) const {
  constexpr size_t kMax = 2000;
  std::string message = api_.TF_Message(status);
  if (message.size() > kMax) message = message.substr(0, kMax) + "…";
  while (!message.empty() && (message.back() == '\n' || message.back() == ' ')) message.pop_back();
  if (message.contains("Op type not registered")) message += std::string(". ") + backend::kOpLibrariesAdvice;
  if (!message.contains("min consumer version")) return message;
  return backend::TooNew(std::move(message), "TensorFlow", version_, "save the model again with an older TensorFlow");
}

void TfLibrary::Check(const TF_Status* status, const char* doing) const {
  const TF_Code code = api_.TF_GetCode(status);
  if (code != TF_OK) Throw(CodeOf(code), "{}: {}", doing, Message(status));
}

wasinn_code CodeOf(TF_Code code) {
  switch (code) {
    case TF_INVALID_ARGUMENT:
      return WASINN_ERROR_INVALID_ARGUMENT;
    case TF_UNIMPLEMENTED:
      return WASINN_ERROR_UNSUPPORTED_OPERATION;
    case TF_RESOURCE_EXHAUSTED:
      return WASINN_ERROR_TOO_LARGE;
    case TF_PERMISSION_DENIED:
      return WASINN_ERROR_SECURITY;
    default:
      return WASINN_ERROR_RUNTIME;
  }
}

}  // namespace wasinn::tensorflow
