// XNNPACK, TensorFlow Lite's fast kernels for CPUs, which its C API does not use by itself.
#ifndef WASINN_BACKENDS_TFLITE_XNNPACK_H_
#define WASINN_BACKENDS_TFLITE_XNNPACK_H_

#include <memory>

#include "tflite/tflite_library.h"

namespace wasinn::tflite {

using DelegatePtr = std::unique_ptr<TfLiteDelegate, void (*)(TfLiteDelegate*)>;

// What the interpreters of one model share of XNNPACK: the weights, packed for its kernels. Outlives the delegates.
class Xnnpack {
 public:
  explicit Xnnpack(const TfLiteLibrary& library);
  ~Xnnpack();
  Xnnpack(const Xnnpack&) = delete;
  Xnnpack& operator=(const Xnnpack&) = delete;

  // Whether the library has it.
  static bool IsIn(const TfLiteLibrary& library) { return library.xnnpack_create != nullptr; }
  // A delegate for one interpreter, with a pool of threads of its own.
  DelegatePtr NewDelegate(int threads) const;
  // After an interpreter with such a delegate was made, and before it runs. Not from two threads at once.
  void PackedAll();
  bool shares_weights() const { return cache_ != nullptr; }

 private:
  const TfLiteLibrary& library_;
  size_t cache_word_ = 0;  // where the options point to the cache
  XnnpackWeightsCache* cache_ = nullptr;
  bool finalized_ = false;
};

}  // namespace wasinn::tflite

#endif  // WASINN_BACKENDS_TFLITE_XNNPACK_H_
