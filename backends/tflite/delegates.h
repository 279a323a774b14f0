// Delegates: XNNPACK, TensorFlow Lite's fast kernels for CPUs, and libraries with an accelerator's kernels.
#pragma once

#include <memory>
#include <string>

#include "common/log.h"
#include "tflite/config.h"
#include "tflite/tflite_library.h"

namespace wasinn::tflite {

using DelegatePtr = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

// The part of XNNPACK that a model's interpreters share: the weights, packed for its kernels. Outlives the delegates.
class Xnnpack {
 public:
  // Logs if the weights cannot be shared.
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
  // Whether the first interpreter with such a delegate must still be made, which packs the weights for all others.
  // PackedAll() must be called after that, before any runs. It may move the weights, but not that interpreter's
  // pointers to them: that one must not run at all.
  bool must_pack() const { return cache_ != nullptr && !packed_; }
  // A soft end: later interpreters still pack for themselves, find the weights already there, and free their own.
  void PackedAll() {
    packed_ = library_.weights_cache_finalize_soft(cache_);
    if (!packed_) backend::Throw(WASINN_ERROR_RUNTIME, "XNNPACK cannot share the packed weights");
  }
  bool shares_weights() const { return cache_ != nullptr; }

 private:
  const TfLiteLibrary& library_;
  size_t cache_word_ = 0;  // the place of the pointer to the cache in the options
  XnnpackWeightsCache* cache_ = nullptr;
  bool packed_ = false;
};

// TensorFlow Lite's plug-in interface: a library that exports tflite_plugin_create_delegate and
// tflite_plugin_destroy_delegate. They are called directly and not through TensorFlow Lite's wrapper, so that the
// delegate's message is known when it refuses. Thread-safe.
class DelegateLibrary {
 public:
  // Open for the life of the OS process. Throws WASINN_ERROR_UNSUPPORTED_OPERATION that names the delegate and the
  // library.
  explicit DelegateLibrary(const DelegateConfig& config);

  const std::string& name() const { return config_.name; }
  // For one interpreter. Throws the delegate's message if it refuses.
  DelegatePtr NewDelegate() const;

 private:
  using Create = TfLiteDelegate* (*)(const char* const* keys, const char* const* values, size_t n,
                                     void (*report_error)(const char* message));

  DelegateConfig config_;
  Create create_ = nullptr;
  void (*destroy_)(TfLiteDelegate*) = nullptr;
};

}  // namespace wasinn::tflite
