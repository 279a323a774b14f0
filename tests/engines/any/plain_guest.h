// A guest of no engine at all: calls of every function in the table of wasinn.h, honest or not, on
// memory of any kind.
#pragma once

#include <wasinn/engine.h>

#include "engines/any/plain_memory.h"
#include "support/echo.h"
#include "support/test.h"

namespace wasinn::testing {

// The model "model", for the echo backend.
inline constexpr char kPlainModel[] = "in image f32 1,3,8,8\npieces 100\n";

// The places of an honest guest's data, so that any function finds its arguments.
namespace place {
inline constexpr uint32_t kName = 64, kConfig = 96, kInputName = 128, kDims = 160, kTensor = 200, kBuilders = 240,
                          kContexts = 248, kLegacyArray = 256, kLegacyDims = 264, kLegacyTensor = 272, kSize = 288,
                          kOnceInput = 292, kOnceOutput = 320, kOut = 340, kWritten = 344, kFormat = 352,
                          kRecords = kName, kRecordsEnd = 360;
inline constexpr uint32_t kData = 1024, kBuffer = 2048, kModel = 8192, kEnd = 16384;
inline constexpr uint32_t kDataSize = 768, kBufferSize = 4096;
}  // namespace place

using Args = std::array<uint64_t, WASINN_MAX_PARAMS>;

class PlainGuest {
 public:
  explicit PlainGuest(wasinn_host* host);

  wasinn_guest* guest() const { return guest_.get(); }
  uint32_t graph() const { return graph_; }
  uint32_t context() const { return context_; }

  // Writes the honest guest's things, as much of them as fits. `records_only`: not data and model.
  void Fill(const wasinn_memory& memory, bool records_only = false) const;
  // An honest guest's arguments for this function; fails the test for an unknown function.
  Args Honest(const wasinn_function& function) const;
  // The result of the function for these.
  static uint32_t Expected(const wasinn_function& function);

  uint32_t Call(const wasinn_function& function, const wasinn_memory& memory, const Args& args) const {
    return function.call(guest_.get(), &memory, args.data(), sizeof(uint64_t));
  }
  // A whole inference on new handles, in memory that is like any other; returns the output.
  std::string Infer() const;

 private:
  std::map<std::string, Args> HonestCalls() const;

  GuestPtr guest_;
  std::string model_, records_, data_;
  uint32_t graph_ = 0, begun_ = 0;  // a context whose begun compute has ended
  uint32_t context_ = 0;            // with an inference behind it
  std::map<std::string, Args> honest_;
};

std::vector<wasinn_function> AllFunctions();
const wasinn_function& Find(const std::string& module, const std::string& name);

// Whether docs/abi.md has this errno.
inline bool IsDocumented(uint32_t error) { return error <= 8 || (error >= 100 && error <= 103); }

}  // namespace wasinn::testing
