#include "backends/llama_native.h"
#include "reference/reference.h"

namespace wasinn::testing {

// Sixteen likeliest tokens.
Infer OpenModel(const std::string& path, const Names&, const Names&) {
  return [model = std::make_shared<test::NativeLlama>(path)](const auto& inputs) -> std::vector<test::Tensor> {
    return {{WASINN_DTYPE_U8, {}, model->Complete(inputs.at(0).bytes, {.predict = 16, .temperature = 0}).bytes}};
  };
}

}  // namespace wasinn::testing
