// A component without an engine: the functions of wasi:nn called with reps, for tests.
#pragma once

#include <wasinn/wit.h>

#include "support/echo.h"
#include "support/test.h"

namespace wasinn::testing {

// The cases of the WIT enums.
enum : uint32_t { kWitF16 = 0, kWitF32 = 1, kWitF64 = 2, kWitBf16 = 3, kWitU8 = 4, kWitI32 = 5, kWitI64 = 6 };
enum : uint32_t {
  kWitInvalidArgument = 0,
  kWitInvalidEncoding = 1,
  kWitTimeout = 2,
  kWitRuntimeError = 3,
  kWitUnsupportedOperation = 4,
  kWitTooLarge = 5,
  kWitNotFound = 6,
  kWitSecurity = 7
};

// How a call ended. Exactly one of trap, error and neither.
struct Outcome {
  std::string trap;                                       // the message, "" if it did not trap
  std::optional<uint32_t> error;                          // the error-code
  uint32_t status = 0;                                    // the wasinn_code that it stands for
  std::string message;                                    // of the error object
  uint32_t rep = 0;                                       // of what came out
  std::vector<std::pair<std::string, uint32_t>> outputs;  // of compute

  bool ok() const { return trap.empty() && !error; }
};

inline std::ostream& operator<<(std::ostream& out, const Outcome& outcome) {
  if (!outcome.trap.empty()) return out << "trap: " << outcome.trap;
  if (outcome.error) return out << "error " << *outcome.error << ": " << outcome.message;
  return out << "ok";
}

class WitGuest {
 public:
  explicit WitGuest(wasinn_guest* guest) : guest_(guest) {}

  Outcome Tensor(const std::vector<uint32_t>& dims, uint32_t type, const std::vector<uint8_t>& data);
  Outcome Floats(const std::vector<uint32_t>& dims, const std::vector<float>& values);
  std::vector<uint32_t> Dimensions(uint32_t tensor);
  uint32_t Type(uint32_t tensor);
  std::vector<uint8_t> Data(uint32_t tensor);
  std::vector<float> FloatData(uint32_t tensor);

  Outcome Load(std::string_view model, uint32_t encoding = 6, uint32_t target = 0);
  Outcome LoadByName(std::string_view name);
  Outcome InitContext(uint32_t graph);
  // A graph and a context of a registered model; the graph is dropped.
  uint32_t ContextOf(std::string_view name);

  using Named = std::vector<std::pair<std::string, uint32_t>>;
  Outcome Compute(uint32_t context, const Named& inputs);
  Outcome SetInput(uint32_t context, std::string_view name, uint32_t tensor);
  Outcome ComputeSet(uint32_t context);
  Outcome GetOutput(uint32_t context, std::string_view name);

  // Reads an error object, and drops it.
  Outcome Finish(wasinn_status* status, const wasinn_wit_result& result);

  // Drops a resource; "" or the trap.
  std::string DropTensor(uint32_t rep) { return TrapOf(wit_->tensor_drop(guest_, rep)); }
  std::string DropGraph(uint32_t rep) { return TrapOf(wit_->graph_drop(guest_, rep)); }
  std::string DropContext(uint32_t rep) { return TrapOf(wit_->context_drop(guest_, rep)); }
  std::string DropError(uint32_t rep) { return TrapOf(wit_->error_drop(guest_, rep)); }

  wasinn_statistics stats() const {
    wasinn_statistics stats{.struct_size = sizeof(stats)};
    EXPECT_EQ(wasinn_guest_statistics(guest_, &stats), nullptr);
    return stats;
  }

 private:
  static std::string TrapOf(wasinn_status* status);

  const wasinn_wit_functions* const wit_ = wasinn_wit();
  wasinn_guest* const guest_;
};

}  // namespace wasinn::testing
