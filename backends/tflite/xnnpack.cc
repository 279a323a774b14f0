#include "tflite/xnnpack.h"

#include <cstring>
#include <mutex>
#include <string_view>

#include "common/error.h"
#include "common/stderr_capture.h"

namespace wasinn::tflite {

namespace {

constexpr uint32_t kQuantizedFlags = 3;  // 8-bit integers, signed and unsigned: the default of all versions
constexpr size_t kNoCache = 0;

XnnpackOptions DefaultOptions(const TfLiteLibrary& library) {
  // Before 2.13 the structure is returned in registers; then it begins as it still did until 2.18.
  if (library.xnnpack_options == nullptr || library.xnnpack_flags == nullptr) return {{0, kQuantizedFlags}};
  return library.xnnpack_options();
}

// Begins with the number of threads and the flags; since 2.19 with other flags between those two. The pointer to the
// cache comes next, and is NULL by default. What looks like neither has no cache.
size_t CacheWord(const XnnpackOptions& options) {
  const auto is_null = [&](size_t word) { return options.words[word] == 0 && options.words[word + 1] == 0; };
  const auto has_flags = [&](size_t word) { return (options.words[word] & kQuantizedFlags) == kQuantizedFlags; };
  if (has_flags(1) && is_null(2)) return 2;
  if (options.words[1] == 0 && has_flags(2) && is_null(4)) return 4;
  return kNoCache;
}

// The first delegate of an OS process says so, and TensorFlow Lite's C API cannot tell it not to.
void MakeTheFirst(const TfLiteLibrary& library) {
  static std::once_flag once;
  std::call_once(once, [&library] {
    const backend::StderrCapture capture(
        [](std::string_view line) { return line == "INFO: Created TensorFlow Lite XNNPACK delegate for CPU.\n"; });
    const XnnpackOptions options = DefaultOptions(library);
    const DelegatePtr first(library.xnnpack_create(&options), library.xnnpack_delete);
  });
}

}  // namespace

Xnnpack::Xnnpack(const TfLiteLibrary& library, bool share_weights) : library_(library) {
  MakeTheFirst(library);
  if (!share_weights) return;
  if (library.weights_cache_create == nullptr || library.weights_cache_delete == nullptr ||
      library.weights_cache_finalize_soft == nullptr || library.xnnpack_flags == nullptr) {
    return;
  }
  cache_word_ = CacheWord(DefaultOptions(library));
  if (cache_word_ != kNoCache) cache_ = library.weights_cache_create();
}

Xnnpack::~Xnnpack() {
  if (cache_ != nullptr) library_.weights_cache_delete(cache_);
}

DelegatePtr Xnnpack::NewDelegate(int threads) const {
  XnnpackOptions options = DefaultOptions(library_);
  options.words[0] = static_cast<uint32_t>(threads);
  // NOLINTNEXTLINE(bugprone-sizeof-expression,bugprone-multi-level-implicit-pointer-conversion): the pointer is a
  // member
  if (cache_ != nullptr) std::memcpy(&options.words[cache_word_], &cache_, sizeof(cache_));
  DelegatePtr delegate(library_.xnnpack_create(&options), library_.xnnpack_delete);
  if (delegate == nullptr) throw backend::Error(WASINN_RUNTIME_ERROR, "XNNPACK's delegate cannot be made");
  return delegate;
}

// Softly: later interpreters still pack for themselves, find that it is there already, and let go of theirs.
void Xnnpack::PackedAll() {
  packed_ = library_.weights_cache_finalize_soft(cache_);
  if (!packed_) throw backend::Error(WASINN_RUNTIME_ERROR, "XNNPACK cannot share the packed weights");
}

}  // namespace wasinn::tflite
