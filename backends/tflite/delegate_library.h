// External delegates: libraries that bring an accelerator's kernels.
#pragma once

#include <string>

#include "tflite/config.h"
#include "tflite/xnnpack.h"

namespace wasinn::tflite {

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
