// Runs guests as a user does, with the built command.
#pragma once

#include <wasi_nn.h>

#include "support/files.h"
#include "support/guest_command.h"
#include "support/test.h"

namespace wasinn::testing {

using Bytes = std::vector<uint8_t>;

// The flag "NAME=PATH" for a model of tests/models/tiny, named as its file.
std::string TinyModel(const std::string& name);
std::filesystem::path TinyModelPath(const std::string& name);

Bytes ReadBytes(const std::filesystem::path& path);
// Lower case digits, without blanks; what is no hex ends it.
Bytes FromHex(std::string_view text);
std::string ToHex(const Bytes& bytes);

template <typename T>
Bytes BytesOf(const std::vector<T>& values) {
  const auto* begin = reinterpret_cast<const uint8_t*>(values.data());
  return {begin, begin + values.size() * sizeof(T)};
}
inline Bytes Floats(const std::vector<float>& values) { return BytesOf(values); }

// A script for the guest "steps", each step with what it shall answer.
class Script {
 public:
  struct Answer {
    uint32_t error = ~0u;
    double microseconds = 0;
    Bytes bytes;
  };

  Script& Do(const std::string& step) { return Fails(step, WASI_NN_SUCCESS); }
  Script& Gives(const std::string& step, const Bytes& bytes);
  Script& Fails(const std::string& step, uint32_t error);
  // "set CONTEXT INDEX TYPE DIMS" with the bytes at the end.
  static std::string Set(const std::string& step, const Bytes& bytes) { return step + " " + ToHex(bytes); }

  // Runs it in one guest and checks every answer. The guest sees `folder` as "/files", and may write there.
  std::vector<Answer> Run(const std::vector<std::string>& flags, const std::filesystem::path& folder);

 private:
  struct Step {
    std::string text;
    uint32_t error;
    bool check_bytes;
    Bytes bytes;
  };
  std::vector<Step> steps_;
};

}  // namespace wasinn::testing
