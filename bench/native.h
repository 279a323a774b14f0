// The native side: a framework called through its own API, never through wasinn. A framework is one file native_NAME.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/runner.h"

namespace wasinn::bench {

// A model with its inputs and outputs bound to buffers of ours: the framework reads and writes them in place.
class NativeRunner : public Runner {
 public:
  virtual std::span<uint8_t> input(size_t i) = 0;  // i: position in the list that it was made with
  virtual std::span<const uint8_t> output(size_t i) const = 0;
};

// A loaded model, compiled with the settings of wasinn's own backend, shared by any number of runners.
class NativeModel {
 public:
  virtual ~NativeModel() = default;
  // The buffers of inputs are filled already. Those of outputs are as large as one run made them.
  virtual Result<std::unique_ptr<NativeRunner>> NewRunner() const = 0;
};

struct NativeOptions {
  std::string library;  // the framework's file that wasinn's backend has opened
  std::string path;     // the model's file
  int threads = 1;      // of one inference
};

// `inputs` must outlive the model. Fills in what was not known of `outputs`: their shapes and sizes.
using LoadNativeFunction = Result<std::unique_ptr<NativeModel>> (*)(const NativeOptions& options,
                                                                    const std::vector<Tensor>& inputs,
                                                                    std::vector<Tensor>* outputs);

// A constant of each native_NAME.cc: which of them were compiled is all that there is to know.
struct NativeFramework {
  NativeFramework(const std::string& encoding, LoadNativeFunction load);
};

// By the name of the model's format.
Result<std::unique_ptr<NativeModel>> LoadNative(const std::string& encoding, const NativeOptions& options,
                                                const std::vector<Tensor>& inputs, std::vector<Tensor>* outputs);

// The least that a program with data of its own does: one memcpy into each bound input, one out of each bound output.
std::unique_ptr<Runner> WithCopies(std::unique_ptr<NativeRunner> bound, const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& outputs);

}  // namespace wasinn::bench
