// The contract, on the backend that others begin with.
#include "backends/contract_test.h"

namespace wasinn::test {
namespace {

// A model of n elements; 0: of any shape.
std::string Affine(float a, float b, uint32_t n) {
  std::string bytes = "AFF1";
  for (const float number : {a, b}) bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  return bytes.append(reinterpret_cast<const char*>(&n), sizeof n);
}

Subject Template(const std::string& name, uint32_t n) {
  const bool is_open = n == 0;
  const auto port = [&](const char* of) { return Port{.name = of, .dims = {int64_t{n}}, .any_rank = is_open}; };
  return {.name = name,
          .bytes = [=] { return Affine(2, 0.5, n); },
          .options = {.encoding = "affine"},
          .inputs = {port("x")},
          .outputs = {port("y")},
          .make_inputs =
              [=](int variant, int64_t rows) {
                std::vector<float> values(is_open ? static_cast<size_t>(2 * rows) : n);
                for (size_t i = 0; i < values.size(); ++i)
                  values[i] = static_cast<float>(i % 100) * 3 + 1000.F * static_cast<float>(variant);
                return std::vector{
                    Floats(is_open ? std::vector<int64_t>{rows, 2} : std::vector<int64_t>{int64_t{n}}, values)};
              },
          .compute =
              [](const std::vector<Tensor>& inputs) {
                std::vector<float> values = inputs[0].As<float>();
                for (float& value : values) value = 2 * value + 0.5F;
                return std::vector{Floats(inputs[0].dims, values)};
              },
          .takes_outputs = false,
          .bindable = is_open ? 0U : 1U};
}

EXPECT_CONTRACT(Template, Contract, Template("Fixed", 4), Template("Open", 0));
EXPECT_CONTRACT(Template, ContractOfShapes, Template("Open", 0));

}  // namespace
}  // namespace wasinn::test
