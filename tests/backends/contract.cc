#include "backends/contract.h"

#include <gmock/gmock.h>

namespace wasinn::test {

using ::testing::HasSubstr;

namespace {

// Each broadcasts along its rows.
Tensor Combine(const Tensor& a, const Tensor& b, float sign) {
  const std::vector<float> x = a.As<float>(), y = b.As<float>();
  const Tensor& larger = x.size() < y.size() ? b : a;
  std::vector<float> result(larger.bytes.size() / sizeof(float));
  for (size_t i = 0; i < result.size(); ++i) result[i] = x[i % x.size()] + sign * y[i % y.size()];
  return Floats(larger.dims, result);
}

}  // namespace

std::vector<Tensor> DifferenceAndSum(const std::vector<Tensor>& inputs) {
  return {Combine(inputs[0], inputs[1], -1), Combine(inputs[0], inputs[1], 1)};
}

std::vector<Tensor> InputsThemselves(const std::vector<Tensor>& inputs) { return inputs; }

// Not all subjects take other shapes.
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ContractOfShapes);

std::unique_ptr<Host> Contract::host_;
std::map<std::string, std::unique_ptr<Model>> Contract::models_;
std::map<std::string, std::vector<Tensor>> Contract::expected_;

Contract::Contract() {
  if (host_ == nullptr) host_ = std::make_unique<Host>("{}", 2);
  std::unique_ptr<Model>& model = models_[subject().name];
  if (model == nullptr) model = std::make_unique<Model>(host(), subject().bytes(), subject().options);
  model_ = model.get();
}

void Contract::SetUp() { ASSERT_TRUE(model_->loaded()) << model_->loaded().message; }

void Contract::TearDownTestSuite() {
  expected_.clear();
  models_.clear();
  host_.reset();
}

std::vector<Tensor> Contract::Inputs(int variant, int64_t rows) const {
  if (subject().make_inputs) return subject().make_inputs(variant, rows);
  std::vector<Tensor> inputs;
  for (int i = 0; i < 2; ++i) {
    std::vector<float> values;
    for (int64_t n = 0; n < 2 * rows; ++n) values.push_back(static_cast<float>(1000 * i + 10 * variant + n % 100));
    inputs.push_back(Floats({rows, 2}, values));
  }
  return inputs;
}

const std::vector<Tensor>& Contract::Expected(const std::vector<Tensor>& inputs) const {
  std::string key = subject().name;
  for (const Tensor& input : inputs) key += '\n' + input.bytes;
  const auto [found, is_new] = expected_.try_emplace(key);
  std::vector<Tensor>& outputs = found->second;
  if (!is_new) return outputs;
  if (subject().compute) return outputs = subject().compute(inputs);
  Context fresh(*model_);
  Set(&fresh, inputs);
  const Result computed = fresh.Compute();
  EXPECT_TRUE(computed) << computed.message;
  EXPECT_TRUE(fresh.Get(0, &outputs.emplace_back()));
  return outputs;
}

void Contract::Set(Context* context, const std::vector<Tensor>& inputs) {
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const Result set = context->Set(i, inputs[i]);
    ASSERT_TRUE(set) << set.message;
  }
}

std::vector<std::unique_ptr<Lent>> Contract::Lend(const std::vector<Tensor>& inputs) {
  std::vector<std::unique_ptr<Lent>> lent;
  for (const Tensor& input : inputs) lent.push_back(std::make_unique<Lent>(input));
  return lent;
}

void Contract::Bind(Context* context, const std::vector<std::unique_ptr<Lent>>& lent) {
  for (uint32_t i = 0; i < lent.size(); ++i) {
    const Result bound = context->Bind(i, lent[i]->view());
    ASSERT_TRUE(bound) << bound.message;
  }
}

void Contract::ExpectShows(Context* context, const std::vector<Tensor>& outputs) {
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    Tensor shown;
    const Result got = context->Get(i, &shown);
    ASSERT_TRUE(got) << got.message;
    EXPECT_EQ(shown.dtype, outputs[i].dtype);
    EXPECT_EQ(shown.dims, outputs[i].dims);
    if (shown.dtype == WASINN_F32) {  // in numbers, for people
      EXPECT_EQ(shown.As<float>(), outputs[i].As<float>());
    }
    EXPECT_EQ(shown.bytes, outputs[i].bytes);
  }
}

void Contract::ExpectComputes(Context* context, const std::vector<Tensor>& inputs) const {
  const Result computed = context->Compute();
  ASSERT_TRUE(computed) << computed.message;
  ExpectShows(context, Expected(inputs));
}

void Contract::ExpectNoOutput(Context* context) const {
  Tensor none;
  for (uint32_t i = 0; i < model_->info().n_outputs; ++i) {
    if ((model_->output(i).flags & WASINN_IO_ALWAYS) != 0) continue;
    EXPECT_EQ(context->Get(i, &none).code, WASINN_INVALID_ARGUMENT);
  }
}

void Contract::ExpectLacks(Context* context, uint32_t index) const {
  const Result computed = context->Compute();
  EXPECT_EQ(computed.code, WASINN_INVALID_ARGUMENT) << computed.message;
  EXPECT_THAT(computed.message, HasSubstr(subject().inputs[index].name));
  ExpectNoOutput(context);
}

}  // namespace wasinn::test
