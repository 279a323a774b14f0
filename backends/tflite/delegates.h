// Delegates: XNNPACK, which are TensorFlow Lite's fast kernels for CPUs, and libraries with an accelerator's kernels.
#pragma once

#include <memory>
#include <string>

#include "common/log.h"
#include "tflite/config.h"
#include "tflite/tflite_library.h"

namespace wasinn::tflite {

using DelegatePtr = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

// What the interpreters of one model share of XNNPACK: the weights, packed for its kernels. Outlives the delegates.
class Xnnpack {
 public:
  // What cannot be shared is said in the log.
  Xnnpack(const TfLiteLibrary& library, const backend::Log& log, bool share_weights);
  ~Xnnpack() {
    if (cache_ != nullptr) library_.weights_cache_delete(cache_);
  }
  Xnnpack(const Xnnpack&) = delete;
  Xnnpack& operator=(const Xnnpack&) = delete;

  // Whether the library has it.
  static bool IsIn(const TfLiteLibrary& library) { return library.xnnpack_create != nullptr; }
  // A delegate for one interpreter, with a pool of threads of its own.
  DelegatePtr NewDelegate(int threads) const;
  // Whether the first interpreter with such a delegate is still to be made, which packs the weights for all others.
  // PackedAll() must come when that is done, before any runs. It may move the weights, but not what that interpreter
  // knows of their place: that one must not run at all.
  bool must_pack() const { return cache_ != nullptr && !packed_; }
  // Softly: later interpreters still pack for themselves, find that it is there already, and let go of theirs.
  void PackedAll() {
    packed_ = library_.weights_cache_finalize_soft(cache_);
    if (!packed_) backend::Throw(WASINN_ERROR_RUNTIME, "XNNPACK cannot share the packed weights");
  }
  bool shares_weights() const { return cache_ != nullptr; }

 private:
  const TfLiteLibrary& library_;
  size_t cache_word_ = 0;  // where the options point to the cache
  XnnpackWeightsCache* cache_ = nullptr;
  bool packed_ = false;
};

// TensorFlow Lite's plug-in interface: a library that exports tflite_plugin_create_delegate and
// tflite_plugin_destroy_delegate. We call these two ourselves rather than through TensorFlow Lite's wrapper, so that
// what the delegate says when it refuses is known. Any thread.
class DelegateLibrary {
 public:
  // Open for the life of the OS process. Throws WASINN_ERROR_UNSUPPORTED_OPERATION that names the delegate and the library.
  explicit DelegateLibrary(const DelegateConfig& config);

  const std::string& name() const { return config_.name; }
  // For one interpreter. Throws what the delegate says, if it refuses.
  DelegatePtr NewDelegate() const;

 private:
  using Create = TfLiteDelegate* (*)(const char* const* keys, const char* const* values, size_t n,
                                     void (*report_error)(const char* message));

  DelegateConfig config_;
  Create create_ = nullptr;
  void (*destroy_)(TfLiteDelegate*) = nullptr;
};

}  // namespace wasinn::tflite
