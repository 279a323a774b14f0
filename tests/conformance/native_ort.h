// ONNX Runtime called directly, without wasinn: what a guest's results are compared with.
#pragma once

#include <onnxruntime_c_api.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "proto_reader.h"

namespace wasinn::testing {

// An input or output of a model.
struct NativeIo {
  std::string name;
  bool is_tensor = false;  // else a sequence, map or optional
  int32_t type = 0;        // of the elements, if it is a tensor
};

// A session with the settings that wasinn's ONNX backend has by default. Errors are ONNX Runtime's own words.
class NativeModel {
 public:
  static std::expected<NativeModel, std::string> Load(const std::string& path);

  const std::vector<NativeIo>& inputs() const { return inputs_; }
  const std::vector<NativeIo>& outputs() const { return outputs_; }

  // All outputs, which must be tensors of numbers. Inputs that have a default may be left out at the end.
  std::expected<std::vector<OnnxTensor>, std::string> Run(std::span<const OnnxTensor> inputs) const;

 private:
  using SessionPtr = std::unique_ptr<OrtSession, void (*)(OrtSession*)>;
  explicit NativeModel(SessionPtr session) : session_(std::move(session)) {}

  SessionPtr session_;
  std::vector<NativeIo> inputs_, outputs_;
};

// "1.31.1"
std::string NativeOrtVersion();

}  // namespace wasinn::testing
