// The held-out digits: guests that classify them give what ONNX Runtime gives when it is called directly.
#pragma once

#include "support/test.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {

inline const std::string kDigitsModel = InSources("models/digits.onnx");

inline constexpr size_t kHeldOut = 360;
inline constexpr double kWantedAccuracy = 0.97;

// All held-out images, in the order of their names: 64 gray values each, and what they show.
struct HeldOut {
  std::vector<Bytes> images;
  std::vector<size_t> labels;
};
HeldOut ReadHeldOut();
// The inputs of models in floats: each gray value from 0 to 1.
std::vector<float> FromGrays(const Bytes& grays);

// Runs the guest (without ".wasm") with ARGS, "--raw" and all the images, and checks that its outputs have the same
// bytes as ONNX Runtime's, called directly, and are right as often as they should be. The guest prints lines of
// "FILE CLASS HEX".
void ExpectSameDigits(const std::vector<std::string>& flags, const std::string& guest,
                      const std::vector<std::string>& args = {});

}  // namespace wasinn::testing
