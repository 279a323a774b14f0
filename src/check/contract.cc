#include "check/contract.h"

#include <algorithm>

#include "check/contract_check.h"

namespace wasinn::check {

namespace {

// Each input broadcasts along its rows.
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

const Model* Session::model() {
  if (model_ == nullptr) model_ = std::make_unique<Model>(host_, subject_.bytes(), subject_.options);
  EXPECT_TRUE(model_->loaded()) << "the model does not load: " << model_->loaded().message;
  return model_->loaded() ? model_.get() : nullptr;
}

const std::vector<Tensor>& Session::Expected(const std::vector<Tensor>& inputs) {
  Key key;
  for (const Tensor& input : inputs) key.emplace_back(input.dtype, input.dims, input.bytes);
  const auto [found, is_new] = expected_.try_emplace(key);
  std::vector<Tensor>& outputs = found->second;
  if (!is_new) return outputs;
  if (subject_.compute) return outputs = subject_.compute(inputs);
  Context fresh(*model_);
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const Result set = fresh.Set(i, inputs[i]);
    EXPECT_TRUE(set) << "input " << i << " is refused: " << set.message;
  }
  const Result computed = fresh.Compute();
  EXPECT_TRUE(computed) << "compute fails: " << computed.message;
  const wasinn_info& info = model_->info();
  const bool is_late = info.n_outputs == WASINN_COUNT_UNKNOWN;  // then the first one stands for all
  for (uint32_t i = 0; i < (is_late ? 1 : info.n_outputs); ++i) {
    if (!is_late && (info.outputs[i]->flags & (WASINN_IO_ALWAYS | WASINN_IO_UNSERVABLE)) != 0) break;
    const Result got = fresh.Get(i, &outputs.emplace_back());
    EXPECT_TRUE(got) << "output " << i << " cannot be got: " << got.message;
  }
  return outputs;
}

std::vector<Check>& MutableChecks() {
  static std::vector<Check> checks;
  return checks;
}
std::vector<Check>& MutableChecksOfShapes() {
  static std::vector<Check> checks;
  return checks;
}
const std::vector<Check>& Checks() { return MutableChecks(); }
const std::vector<Check>& ChecksOfShapes() { return MutableChecksOfShapes(); }

bool Contract::needs_inputs() const {
  return std::ranges::any_of(subject().inputs, [](const Port& port) { return (port.flags & WASINN_IO_OPTIONAL) == 0; });
}

bool Contract::IsBindable(uint32_t output) const {
  const wasinn_info& info = model().info();
  return info.outputs != nullptr && (info.outputs[output]->flags & WASINN_IO_BINDABLE) != 0;
}

std::vector<Tensor> Contract::Inputs(int variant, int64_t rows) const {
  if (subject().make_inputs) return subject().make_inputs(variant, rows);
  std::vector<Tensor> inputs;
  for (int i = 0; i < 2; ++i) {
    std::vector<float> values;
    values.reserve(static_cast<size_t>(2 * rows));
    for (int64_t n = 0; n < 2 * rows; ++n) values.push_back(static_cast<float>(1000 * i + 10 * variant + n % 100));
    inputs.push_back(Floats({rows, 2}, values));
  }
  return inputs;
}

void Contract::Set(Context* context, const std::vector<Tensor>& inputs) {
  for (uint32_t i = 0; i < inputs.size(); ++i) {
    const Result set = context->Set(i, inputs[i]);
    ASSERT_TRUE(set) << "input " << i << " is refused: " << set.message;
  }
}

std::vector<std::unique_ptr<Borrowed>> Contract::Lend(const std::vector<Tensor>& inputs) {
  std::vector<std::unique_ptr<Borrowed>> lent;
  lent.reserve(inputs.size());
  for (const Tensor& input : inputs) lent.push_back(std::make_unique<Borrowed>(input));
  return lent;
}

void Contract::Bind(Context* context, const std::vector<std::unique_ptr<Borrowed>>& lent) {
  for (uint32_t i = 0; i < lent.size(); ++i) {
    const Result bound = context->Bind(i, lent[i]->view());
    ASSERT_TRUE(bound) << "input " << i << " cannot be bound: " << bound.message;
  }
}

void Contract::ExpectShows(Context* context, const std::vector<Tensor>& outputs) {
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    Tensor shown;
    const Result got = context->Get(i, &shown);
    ASSERT_TRUE(got) << "output " << i << " cannot be got: " << got.message;
    EXPECT_EQ(shown.dtype, outputs[i].dtype) << "the type of output " << i;
    EXPECT_EQ(shown.dims, outputs[i].dims) << "the dims of output " << i;
    if (shown.bytes == outputs[i].bytes) continue;
    if (shown.dtype == WASINN_DTYPE_F32 && shown.As<float>() != outputs[i].As<float>()) {  // in numbers, for people
      EXPECT_EQ(shown.As<float>(), outputs[i].As<float>()) << "output " << i;
    } else {
      EXPECT_EQ(shown.bytes, outputs[i].bytes) << "output " << i;
    }
  }
}

void Contract::ExpectComputes(Context* context, const std::vector<Tensor>& inputs) const {
  const Result computed = context->Compute();
  ASSERT_TRUE(computed) << "compute fails: " << computed.message;
  ExpectShows(context, Expected(inputs));
}

void Contract::ExpectNoOutput(Context* context) const {
  Tensor none;
  const wasinn_info& info = model_->info();
  const bool is_late = info.n_outputs == WASINN_COUNT_UNKNOWN;  // then the first one stands for all
  for (uint32_t i = 0; i < (is_late ? 1 : info.n_outputs); ++i) {
    if (!is_late && (info.outputs[i]->flags & WASINN_IO_ALWAYS) != 0) continue;
    EXPECT_EQ(context->Get(i, &none).code, WASINN_ERROR_INVALID_ARGUMENT)
        << "output " << i << ", which should not be there";
  }
}

void Contract::ExpectLacks(Context* context, uint32_t index) const {
  const Result computed = context->Compute();
  const std::string& name = subject().inputs[index].name;
  EXPECT_EQ(computed.code, WASINN_ERROR_INVALID_ARGUMENT) << "compute without input '" << name << "'";
  EXPECT_TRUE(computed.message.contains(name))
      << "compute's error does not name input '" << name << "': " << computed.message;
  ExpectNoOutput(context);
}

}  // namespace wasinn::check
