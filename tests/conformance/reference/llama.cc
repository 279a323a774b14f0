#include "backends/llama_native.h"
#include "reference/reference.h"

namespace wasinn::testing {

// Sixteen likeliest tokens.
Infer OpenModel(const std::string& path, const std::string&, const std::string&) {
  return [model = std::make_shared<test::NativeLlama>(path)](const test::Tensor& prompt) {
    return model->Complete(prompt.bytes, {.predict = 16, .temperature = 0}).bytes;
  };
}

}  // namespace wasinn::testing
