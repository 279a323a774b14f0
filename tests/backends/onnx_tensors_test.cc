// Inputs that are read in place, and outputs that are taken along.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <set>
#include <vector>

#include "backends/driver.h"
#include "backends/onnx_writer.h"
#include "backends/taken.h"

namespace wasinn::test {
namespace {

using ::testing::HasSubstr;

// Floats in memory of the test's own, as the core lends it: 64 readable bytes behind them.
class Lent {
 public:
  Lent(std::vector<int64_t> dims, const std::vector<float>& values)
      : dims_(std::move(dims)), bytes_(values.size() * sizeof(float)), data_(std::aligned_alloc(64, Padded(bytes_))) {
    std::memcpy(data_.get(), values.data(), bytes_);
  }
  wasinn_tensor view() const {
    return {.struct_size = sizeof(wasinn_tensor),
            .dtype = WASINN_F32,
            .rank = static_cast<uint32_t>(dims_.size()),
            .dims = dims_.data(),
            .data = data_.get(),
            .bytes = bytes_,
            .owner = nullptr,
            .release = nullptr};
  }

 private:
  static size_t Padded(size_t bytes) { return (bytes + 127) / 64 * 64; }
  struct Free {
    void operator()(void* data) const { std::free(data); }
  };
  std::vector<int64_t> dims_;
  size_t bytes_;
  std::unique_ptr<void, Free> data_;
};

// An output that was taken.
class Taken {
 public:
  Taken(const Host& host, Context& context, uint32_t index) {
    result_ = TakeError(host.table().take_output(context.get(), index, &tensor_));
    if (result_) dims_.assign(tensor_.dims, tensor_.dims + tensor_.rank);
  }
  ~Taken() {
    if (tensor_.release != nullptr) tensor_.release(tensor_.owner);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  const Result& result() const { return result_; }
  const std::vector<int64_t>& dims() const { return dims_; }
  const void* data() const { return tensor_.data; }
  wasinn_tensor view() const {
    wasinn_tensor view = tensor_;
    view.dims = dims_.data();
    return view;
  }
  std::vector<float> floats() const {
    const auto* data = static_cast<const float*>(tensor_.data);
    return {data, data + tensor_.bytes / sizeof(float)};
  }

 private:
  wasinn_tensor tensor_{.struct_size = sizeof(wasinn_tensor)};
  Result result_;
  std::vector<int64_t> dims_;
};

Result Bind(const Host& host, Context& context, uint32_t index, const wasinn_tensor& tensor) {
  return TakeError(host.table().bind_input(context.get(), index, &tensor));
}

constexpr char kRelu[] = "dynamic.onnx";  // open shapes
constexpr char kPair[] = "two_in_two_out.onnx";

TEST(OnnxTensors, TakenOutputsAreFreed) {
  const Host host;
  const Model model(host, ModelBytes("relu.onnx"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  ExpectTakenOutputsAreFreed(model, {Floats({1, 3, 224, 224}, std::vector<float>(3 * 224 * 224, 1))});
}

TEST(OnnxTensors, ABoundInputIsReadInPlace) {
  const Host host;
  const Model model(host, ModelBytes(kPair));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context copied(model), bound(model);
  const Lent a({2, 2}, {5, 6, 7, 8}), b({2, 2}, {1, 1, 1, 1});
  ASSERT_TRUE(copied.Set(0, Floats({2, 2}, {5, 6, 7, 8})));
  ASSERT_TRUE(copied.Set(1, Floats({2, 2}, {1, 1, 1, 1})));
  ASSERT_TRUE(Bind(host, bound, 0, a.view()));
  ASSERT_TRUE(Bind(host, bound, 1, b.view()));
  ASSERT_TRUE(copied.Compute());
  ASSERT_TRUE(bound.Compute());
  for (uint32_t i = 0; i < 2; ++i) {
    Tensor expected, found;
    ASSERT_TRUE(copied.Get(i, &expected));
    ASSERT_TRUE(bound.Get(i, &found));
    EXPECT_EQ(found.bytes, expected.bytes);
  }
  // What is set after it takes its place, and the other way round.
  ASSERT_TRUE(bound.Set(0, Floats({2, 2}, {0, 0, 0, 0})));
  ASSERT_TRUE(bound.Compute());
  ASSERT_TRUE(copied.Set(0, Floats({2, 2}, {0, 0, 0, 0})));
  ASSERT_TRUE(copied.Compute());
  Tensor expected, found;
  ASSERT_TRUE(copied.Get(0, &expected));
  ASSERT_TRUE(bound.Get(0, &found));
  EXPECT_EQ(found.bytes, expected.bytes);
}

TEST(OnnxTensors, ABoundInputOfAnotherShapeIsRefused) {
  const Host host;
  const Model model(host, ModelBytes(kPair));
  Context context(model);
  const Lent a({2, 2}, {5, 6, 7, 8});
  wasinn_tensor wrong = a.view();
  wrong.bytes = 12;
  EXPECT_EQ(Bind(host, context, 0, wrong).code, WASINN_INVALID_ARGUMENT);
  wrong = a.view();
  wrong.dtype = WASINN_I32;
  EXPECT_EQ(Bind(host, context, 0, wrong).code, WASINN_INVALID_ARGUMENT);
}

TEST(OnnxTensors, AnUnboundOptionalInputIsUnset) {
  const Host host;
  const Model model(host, ModelBytes("optional_input.onnx"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  ASSERT_EQ(model.info().n_inputs, 2u);
  const uint32_t optional = (model.input(0).flags & WASINN_IO_OPTIONAL) != 0 ? 0 : 1;
  const auto compute = [&](bool with, bool unbind) {
    Context context(model);
    const std::vector<int64_t> dims(model.input(0).dims, model.input(0).dims + model.input(0).rank);
    size_t n = 1;
    for (int64_t dim : dims) n *= static_cast<size_t>(dim);
    const Lent x(dims, std::vector<float>(n, 2)), y(dims, std::vector<float>(n, 100));
    EXPECT_TRUE(Bind(host, context, 1 - optional, x.view()));
    if (with) {
      EXPECT_TRUE(Bind(host, context, optional, y.view()));
      EXPECT_TRUE(context.Compute());
    }
    if (unbind) host.table().unbind_input(context.get(), optional);
    EXPECT_TRUE(context.Compute());
    Tensor out;
    EXPECT_TRUE(context.Get(0, &out));
    return out.As<float>();
  };
  const std::vector<float> without = compute(false, false);
  EXPECT_NE(compute(true, false), without);
  EXPECT_EQ(compute(true, true), without);
}

TEST(OnnxTensors, TakenOutputsOutliveTheNextComputeAndTheContext) {
  const Host host;
  for (const char* name : {kPair, kRelu}) {
    const Model model(host, ModelBytes(name));
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
    auto context = std::make_unique<Context>(model);
    const auto set = [&](float value) {
      for (uint32_t i = 0; i < model.info().n_inputs; ++i) {
        const Result done = context->Set(i, Floats({2, 2}, std::vector<float>(4, value * static_cast<float>(i + 1))));
        ASSERT_TRUE(done) << done.message;
      }
      ASSERT_TRUE(context->Compute());
    };
    set(3);
    Tensor first;
    ASSERT_TRUE(context->Get(0, &first));
    const Taken taken(host, *context, 0);
    ASSERT_TRUE(taken.result()) << taken.result().message;
    EXPECT_EQ(taken.dims(), first.dims);
    set(4);
    const Taken again(host, *context, 0);
    ASSERT_TRUE(again.result());
    EXPECT_NE(taken.data(), again.data());
    context.reset();
    EXPECT_EQ(taken.floats(), first.As<float>()) << name;
    EXPECT_NE(again.floats(), first.As<float>()) << name;
  }
}

TEST(OnnxTensors, AnOutputCanBeTakenOnce) {
  const Host host;
  for (const char* name : {kPair, kRelu}) {
    const Model model(host, ModelBytes(name));
    Context context(model);
    EXPECT_EQ(Taken(host, context, 0).result().code, WASINN_INVALID_ARGUMENT) << "before a compute";
    for (uint32_t i = 0; i < model.info().n_inputs; ++i) {
      ASSERT_TRUE(context.Set(i, Floats({2, 2}, {1, 2, 3, 4})));
    }
    ASSERT_TRUE(context.Compute());
    const Taken taken(host, context, 0);
    ASSERT_TRUE(taken.result());
    const Taken twice(host, context, 0);
    EXPECT_EQ(twice.result().code, WASINN_INVALID_ARGUMENT);
    EXPECT_THAT(twice.result().message, HasSubstr("was taken"));
    EXPECT_EQ(Taken(host, context, 7).result().code, WASINN_INVALID_ARGUMENT);
  }
}

// Whoever drops an output before the next one pays for no new memory.
TEST(OnnxTensors, MemoryOfTakenOutputsComesBack) {
  const Host host;
  const Model model(host, ModelBytes(kPair));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({2, 2}, {1, 2, 3, 4})));
  ASSERT_TRUE(context.Set(1, Floats({2, 2}, {1, 2, 3, 4})));
  std::set<const void*> places;
  for (int i = 0; i < 10; ++i) {
    ASSERT_TRUE(context.Compute());
    const Taken taken(host, context, 0);
    places.insert(taken.data());
  }
  EXPECT_EQ(places.size(), 1u);
}

TEST(OnnxTensors, ATakenOutputIsTheInputOfAnotherModel) {
  const Host host;
  const Model first(host, ModelBytes(kPair)), second(host, ModelBytes(kRelu));
  Context a(first), b(second);
  ASSERT_TRUE(a.Set(0, Floats({2, 2}, {1, 2, 3, 4})));
  ASSERT_TRUE(a.Set(1, Floats({2, 2}, {1, 1, 1, 1})));
  ASSERT_TRUE(a.Compute());
  const Taken between(host, a, 0);
  ASSERT_TRUE(between.result());
  ASSERT_TRUE(Bind(host, b, 0, between.view()));
  ASSERT_TRUE(b.Compute());
  Tensor out, expected;
  ASSERT_TRUE(b.Get(0, &out));
  ASSERT_TRUE(b.Set(0, Floats(between.dims(), between.floats())));
  ASSERT_TRUE(b.Compute());
  ASSERT_TRUE(b.Get(0, &expected));
  EXPECT_EQ(out.bytes, expected.bytes);
}

}  // namespace
}  // namespace wasinn::test
