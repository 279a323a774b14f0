// The held-out digits: guests that classify them give what ONNX Runtime gives when it is called directly.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace wasinn::testing {

inline constexpr char kDigitsModel[] = CONFORMANCE_SOURCE "/models/digits.onnx";

// Runs the guest (without ".wasm") with ARGS, "--raw" and all the images, and checks that its outputs have the same
// bytes as ONNX Runtime's, called in this process, and that both are right as often as they should be. The guest prints
// lines of "FILE CLASS HEX".
void ExpectSameDigits(const std::vector<std::string>& flags, const std::string& guest,
                      const std::vector<std::string>& args = {});

// The same network in another format, on another framework: every image is the same digit, and no probability differs
// by more than `rounding`. That a backend gives its own framework's bytes is a test of the backend.
void ExpectCloseDigits(const std::string& model, const std::string& guest, float rounding);

}  // namespace wasinn::testing
