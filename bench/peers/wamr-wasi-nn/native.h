// ONNX Runtime called directly, with the settings of wasinn's backend.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

struct NativeTensor {
  std::string name;
  std::vector<int64_t> dims;  // unknown ones are 1
  std::vector<uint8_t> bytes;
};

class Native {
 public:
  virtual ~Native() = default;
  // Of f32. A Run reads the bytes of the inputs and writes those of the outputs: both are bound.
  virtual std::vector<NativeTensor>& inputs() = 0;
  virtual std::vector<NativeTensor>& outputs() = 0;
  virtual void Run() = 0;
};

std::unique_ptr<Native> OpenNative(const std::string& model);
