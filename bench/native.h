// The native side: a framework that is called through its own API, without wasinn. Each framework has one file
// native_NAME.cc.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/runner.h"

namespace wasinn::bench {

// A model whose inputs and outputs are bound to buffers of the bench: the framework reads and writes them in place.
class NativeRunner : public Runner {
 public:
  virtual std::span<uint8_t> input(size_t i) = 0;  // i: the position in the list that it was made with
  virtual std::span<const uint8_t> output(size_t i) const = 0;
};

// A loaded model, compiled with the settings of wasinn's own backend. Any number of runners share it.
class NativeModel {
 public:
  virtual ~NativeModel() = default;
  // The buffers of inputs are already filled. Those of outputs have the sizes that one run produced.
  virtual Result<std::unique_ptr<NativeRunner>> NewRunner() const = 0;
};

struct NativeOptions {
  std::string library;  // the framework's library, which wasinn's backend has opened
  std::string path;     // the model's file
  int threads = 1;      // of one inference
};

// `inputs` must outlive the model. Fills in the shapes and sizes of `outputs` that were unknown.
using LoadNativeFunction = Result<std::unique_ptr<NativeModel>> (*)(const NativeOptions& options,
                                                                    const std::vector<Tensor>& inputs,
                                                                    std::vector<Tensor>* outputs);

// A constant of each native_NAME.cc, so the compiled ones are the available ones.
struct NativeFramework {
  NativeFramework(const std::string& encoding, LoadNativeFunction load);
};

// Looked up by the name of the model's format.
Result<std::unique_ptr<NativeModel>> LoadNative(const std::string& encoding, const NativeOptions& options,
                                                const std::vector<Tensor>& inputs, std::vector<Tensor>* outputs);

// The minimum for a program with its own data: one memcpy into each bound input, and one out of each bound output.
std::unique_ptr<Runner> WithCopies(std::unique_ptr<NativeRunner> bound, const std::vector<Tensor>& inputs,
                                   const std::vector<Tensor>& outputs);

}  // namespace wasinn::bench
