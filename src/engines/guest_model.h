// Components that are models: they export wasinn:serve/model (guest/wit/deps/wasinn-serve).
#pragma once

#include <wasinn/wasinn.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"

namespace wasinn::engines {

// WASINN_DTYPE_UNKNOWN stands for `bytes`.
struct ModelIo {
  std::string name;
  wasinn_dtype dtype = WASINN_DTYPE_UNKNOWN;
  std::vector<int64_t> shape;
};

struct ModelIos {
  std::vector<ModelIo> inputs, outputs;
};

struct ModelTensor {
  std::string_view name;
  wasinn_dtype dtype = WASINN_DTYPE_UNKNOWN;
  std::span<const uint64_t> shape;
  std::span<const uint8_t> data;
};

struct ModelRequest {
  std::vector<ModelTensor> inputs;
  std::vector<std::string_view> outputs;  // the wanted ones; none: all
  uint64_t most_bytes = UINT64_MAX;       // of an answer; a far larger one is a trap
  // Called before this many bytes of the answer are copied, on Infer's thread. False: the result is kFailed.
  std::function<bool(uint64_t bytes)> charge;
};

struct ModelAnswer {
  enum class Kind { kNone, kTensors, kInvalidArgument, kFailed };
  Kind kind = Kind::kNone;
  std::string_view message;  // of a refusal
  std::vector<ModelTensor> tensors;
  std::shared_ptr<const void> owner;  // owner of the other members' memory
};

// Compiled code without state. It runs any number of times, even at once from several threads: each time in an instance
// of its own. Nothing that the component returns is checked here.
class GuestModel {
 public:
  virtual ~GuestModel() = default;
  virtual Exit Describe(const RunOptions& options, uint64_t most_bytes, ModelIos& ios) const = 0;
  // An exit without an answer is the component's own, or an error.
  virtual Exit Infer(const RunOptions& options, const ModelRequest& request, ModelAnswer& answer) const = 0;
};

class ModelEngine {
 public:
  virtual ~ModelEngine() = default;
  // Reads and compiles the component in a file, wasm or text, and checks that it exports wasinn:serve/model and every
  // import can be served.
  virtual Result<std::unique_ptr<GuestModel>> Load(const std::string& path) const = 0;
};

Result<std::unique_ptr<ModelEngine>> NewWasmtimeModelEngine(const EngineOptions& options);

}  // namespace wasinn::engines
