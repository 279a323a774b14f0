// XNNPACK, TensorFlow Lite's fast kernels for CPUs, which its C API does not use by itself.
#pragma once

#include <memory>

#include "common/log.h"
#include "tflite/tflite_library.h"

namespace wasinn::tflite {

using DelegatePtr = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

// What the interpreters of one model share of XNNPACK: the weights, packed for its kernels. Outlives the delegates.
class Xnnpack {
 public:
  // What cannot be shared is said in the log.
  Xnnpack(const TfLiteLibrary& library, const backend::Log& log, bool share_weights);
  ~Xnnpack();
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
  void PackedAll();
  bool shares_weights() const { return cache_ != nullptr; }

 private:
  const TfLiteLibrary& library_;
  size_t cache_word_ = 0;  // where the options point to the cache
  XnnpackWeightsCache* cache_ = nullptr;
  bool packed_ = false;
};

}  // namespace wasinn::tflite
