// What a model is loaded from.
#pragma once

#include <wasinn/backend.h>

#include <span>

#include "common/aligned_buffer.h"
#include "openvino/host.h"

namespace wasinn::openvino {

// Bytes that a compiled model goes on reading: OpenVINO computes on the weights where they lie.
class Weights {
 public:
  Weights() = default;
  // A caller's blob, retained.
  explicit Weights(const wasinn_blob& blob);
  // A file's bytes.
  Weights(backend::AlignedBuffer buffer, size_t size) : buffer_(std::move(buffer)), size_(size) {}
  ~Weights();
  Weights(Weights&& other) noexcept;
  Weights& operator=(Weights&& other) noexcept;

  const void* data() const { return blob_.data != nullptr ? blob_.data : buffer_.data(); }
  size_t size() const { return size_; }

 private:
  wasinn_blob blob_ = {};
  backend::AlignedBuffer buffer_;
  size_t size_ = 0;
};

// A model as OpenVINO has read it, not yet compiled.
struct SourceModel {
  OvPtr<ov_model_t> model;
  bool may_loop = true;      // as often as the data say
  bool has_state = false;    // of an IR; what frontends make of other formats does not show it
  uint64_t state_bytes = 0;  // of what an IR says of it
  Weights weights;           // must live as long as what is compiled of the model
};

// By the blobs' bytes, path and format:
//  - IR: XML, and behind it weights as a second blob, or in the file NAME.bin beside NAME.xml;
//  - ONNX from bytes, and from its file where it keeps weights beside it;
//  - a host's file of another kind (TensorFlow, TensorFlow Lite) through OpenVINO's frontend for it. saved_model.pb
//    stands for its folder.
// Nothing that a guest sends makes OpenVINO open a file.
SourceModel ReadSource(const Host& host, std::span<const wasinn_blob> blobs, const wasinn_load_options& options);

}  // namespace wasinn::openvino
