#include "tflite/delegates.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iterator>
#include <mutex>
#include <string_view>

#include "common/library.h"
#include "common/stderr_capture.h"
#include "common/throw.h"

namespace wasinn::tflite {

using backend::Throw;

namespace {

constexpr uint32_t kQuantizedFlags = 3;  // 8-bit integers, signed and unsigned: set by default in all versions

// TfLiteXNNPackDelegateOptions has no size in it and its fields have moved. It begins with the number of threads; these
// are the places of two other fields, in words of 4 bytes, in the known versions of TensorFlow Lite.
struct OptionsLayout {
  int first_minor, last_minor;  // of version 2
  size_t flags, cache;
};
constexpr OptionsLayout kLayouts[] = {
    {.first_minor = 13, .last_minor = 18, .flags = 1, .cache = 2},
    {.first_minor = 19, .last_minor = 21, .flags = 2, .cache = 4},  // runtime_flags before the flags
};

XnnpackOptions DefaultOptions(const TfLiteLibrary& library) {
  // Before 2.13 the structure is returned in registers; then its beginning stayed the same until 2.18.
  if (library.xnnpack_options == nullptr || library.xnnpack_flags == nullptr) return {{0, kQuantizedFlags}};
  return library.xnnpack_options();
}

// NULL: an unknown version.
const OptionsLayout* LayoutOf(const char* version) {
  int major = 0, minor = 0;
  if (std::sscanf(version, "%d.%d.", &major, &minor) != 2 || major != 2) return nullptr;
  const auto* found = std::ranges::find_if(kLayouts, [minor](const OptionsLayout& layout) {
    return layout.first_minor <= minor && minor <= layout.last_minor;
  });
  return found == std::end(kLayouts) ? nullptr : found;
}

// Checks that the defaults are at this layout's places, and that XNNPACK reads its flags there.
bool Holds(const TfLiteLibrary& library, const OptionsLayout& layout) {
  const XnnpackOptions options = DefaultOptions(library);
  const uint32_t flags = options.words[layout.flags];
  if ((flags & kQuantizedFlags) != kQuantizedFlags || options.words[0] != 0) return false;
  for (size_t word = 1; word < layout.cache + 2; ++word) {
    if (word != layout.flags && options.words[word] != 0) return false;
  }
  XnnpackOptions fewer = options;
  fewer.words[layout.flags] = flags & ~kQuantizedFlags;
  const DelegatePtr one(library.xnnpack_create(&options), library.xnnpack_delete);
  const DelegatePtr other(library.xnnpack_create(&fewer), library.xnnpack_delete);
  return one != nullptr && other != nullptr && library.xnnpack_flags(one.get()) == flags &&
         library.xnnpack_flags(other.get()) == fewer.words[layout.flags];
}

// The first delegate of an OS process logs its creation, and TensorFlow Lite's C API cannot prevent that.
void MakeTheFirst(const TfLiteLibrary& library) {
  static std::once_flag once;
  std::call_once(once, [&library] {
    const backend::StderrCapture capture(
        [](std::string_view line) { return line == "INFO: Created TensorFlow Lite XNNPACK delegate for CPU.\n"; });
    const XnnpackOptions options = DefaultOptions(library);
    const DelegatePtr first(library.xnnpack_create(&options), library.xnnpack_delete);
  });
}

// The message of the delegate that this thread is making; the callback has no user argument.
thread_local std::string* refusal = nullptr;

void KeepRefusal(const char* message) {
  constexpr size_t kMax = 4096;
  if (refusal == nullptr || message == nullptr || refusal->size() > kMax) return;
  if (!refusal->empty()) *refusal += "; ";
  *refusal += message;
}

}  // namespace

Xnnpack::Xnnpack(const TfLiteLibrary& library, const backend::Log& log, bool share_weights) : library_(library) {
  MakeTheFirst(library);
  if (!share_weights) return;
  if (library.weights_cache_create == nullptr || library.weights_cache_delete == nullptr ||
      library.weights_cache_finalize_soft == nullptr || library.xnnpack_flags == nullptr) {
    return;
  }
  const OptionsLayout* layout = LayoutOf(library.version());
  if (layout == nullptr || !Holds(library, *layout)) {
    log.Write(WASINN_LOG_WARNING,
              fmt::format("tflite: the options of XNNPACK in TensorFlow Lite {} are not those that are known of "
                          "versions 2.{} to 2.{}: each interpreter packs the weights for itself",
                          library.version(), std::begin(kLayouts)->first_minor, std::rbegin(kLayouts)->last_minor));
    return;
  }
  cache_word_ = layout->cache;
  cache_ = library.weights_cache_create();
}

DelegatePtr Xnnpack::NewDelegate(int threads) const {
  XnnpackOptions options = DefaultOptions(library_);
  options.words[0] = static_cast<uint32_t>(threads);
  // NOLINTNEXTLINE(bugprone-sizeof-expression,bugprone-multi-level-implicit-pointer-conversion): the pointer is a
  // member
  if (cache_ != nullptr) std::memcpy(&options.words[cache_word_], &cache_, sizeof(cache_));
  DelegatePtr delegate(library_.xnnpack_create(&options), library_.xnnpack_delete);
  if (delegate == nullptr) backend::Throw(WASINN_ERROR_RUNTIME, "XNNPACK's delegate cannot be made");
  return delegate;
}

DelegateLibrary::DelegateLibrary(const DelegateConfig& config) : config_(config) {
  backend::CheckDependencies(config.library);
  void* handle = dlopen(config.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    const char* why = dlerror();
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "delegate '{}': its library cannot be opened: {}", config.name,
          why != nullptr ? why : config.library);
  }
  create_ = reinterpret_cast<Create>(dlsym(handle, "tflite_plugin_create_delegate"));
  destroy_ = reinterpret_cast<void (*)(TfLiteDelegate*)>(dlsym(handle, "tflite_plugin_destroy_delegate"));
  if (create_ == nullptr || destroy_ == nullptr) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION,
          "delegate '{}': {} is not an external delegate: it has no tflite_plugin_create_delegate", config.name,
          config.library);
  }
}

DelegatePtr DelegateLibrary::NewDelegate() const {
  const backend::KeysAndValues with(config_.options);
  std::string said;
  refusal = &said;
  TfLiteDelegate* delegate = create_(with.keys.data(), with.values.data(), with.keys.size(), KeepRefusal);
  refusal = nullptr;
  if (delegate == nullptr) {
    Throw(WASINN_ERROR_UNSUPPORTED_OPERATION, "delegate '{}' ({}) refuses: {}", config_.name, config_.library,
          said.empty() ? "it does not say why" : said);
  }
  return {delegate, destroy_};
}

}  // namespace wasinn::tflite
