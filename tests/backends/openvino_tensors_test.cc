// Inputs that are read in place, outputs that are taken along, and limits on them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "backends/driver.h"
#include "backends/expect.h"
#include "backends/openvino_native.h"
#include "backends/openvino_writer.h"
#include "backends/taken.h"
#include "support/peak_memory.h"

namespace wasinn::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Floats in memory of the test's own, as the core lends it: 64 readable bytes behind them.
class Lent {
 public:
  Lent(std::vector<int64_t> dims, const std::vector<float>& values)
      : dims_(std::move(dims)),
        bytes_(values.size() * sizeof(float)),
        data_(std::aligned_alloc(64, (bytes_ + 127) / 64 * 64)) {
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
  float* values() const { return static_cast<float*>(data_.get()); }

 private:
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
  Taken(const Host& host, const Context& context, uint32_t index) {
    result_ = TakeError(host.table().take_output(context.get(), index, &tensor_));
  }
  ~Taken() {
    if (tensor_.release != nullptr) tensor_.release(tensor_.owner);
  }
  Taken(const Taken&) = delete;
  Taken& operator=(const Taken&) = delete;

  const Result& result() const { return result_; }
  const void* data() const { return tensor_.data; }
  std::vector<float> floats() const {
    const auto* data = static_cast<const float*>(tensor_.data);
    return {data, data + tensor_.bytes / sizeof(float)};
  }

 private:
  wasinn_tensor tensor_ = {.struct_size = sizeof(tensor_)};
  Result result_;
};

Result Bind(const Host& host, const Context& context, uint32_t index, const Lent& lent) {
  const wasinn_tensor view = lent.view();
  return TakeError(host.table().bind_input(context.get(), index, &view));
}

TEST(OpenVinoTensors, TakenOutputsAreFreed) {
  const Host host;
  const Model model(host, ReadFile(WASINN_TEST_ROOT "/tests/models/tiny/relu.onnx"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  ExpectTakenOutputsAreFreed(model, {Floats({1, 3, 224, 224}, std::vector<float>(size_t{3} * 224 * 224, 1))});
}

TEST(OpenVinoBind, ReadsInputsWhereTheyLie) {
  const Host host;
  const Model model(host, IrXml("two_in_two_out"), IrOptions("two_in_two_out"));
  Context context(model);
  const Lent lent({2, 2}, {5, 6, 7, 8});
  ASSERT_TRUE(Bind(host, context, 0, lent));
  ASSERT_TRUE(context.Set(1, Floats({2, 2}, {1, 1, 1, 1})));
  Tensor out;
  ASSERT_TRUE(context.Compute());
  ASSERT_TRUE(context.Get(0, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(4, 5, 6, 7));
  // In place: what is written there now is the input of the next compute.
  lent.values()[0] = 50;
  ASSERT_TRUE(context.Compute());
  ASSERT_TRUE(context.Get(0, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(49, 5, 6, 7));
  // Other memory, then a buffer of the context's own, then the first again.
  const Lent other({2, 2}, {2, 2, 2, 2});
  ASSERT_TRUE(Bind(host, context, 0, other));
  ASSERT_TRUE(context.Compute());
  ASSERT_TRUE(context.Get(0, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(1, 1, 1, 1));
  ASSERT_TRUE(context.Set(0, Floats({2, 2}, {9, 9, 9, 9})));
  ASSERT_TRUE(context.Compute());
  ASSERT_TRUE(context.Get(0, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(8, 8, 8, 8));
  ASSERT_TRUE(Bind(host, context, 0, lent));
  ASSERT_TRUE(context.Compute());
  ASSERT_TRUE(context.Get(0, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(49, 5, 6, 7));
}

TEST(OpenVinoBind, ForgetsAnInputThatWasUnbound) {
  const Host host;
  const Model model(host, IrXml("two_in_two_out"), IrOptions("two_in_two_out"));
  Context context(model);
  const Lent lent({2, 2}, {5, 6, 7, 8});
  ASSERT_TRUE(Bind(host, context, 0, lent));
  ASSERT_TRUE(Bind(host, context, 1, lent));
  ASSERT_TRUE(context.Compute());
  host.table().unbind_input(context.get(), 0);
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_INVALID_ARGUMENT);
  EXPECT_THAT(computed.message, HasSubstr("'a'"));
  const Lent wrong({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_FALSE(Bind(host, context, 0, wrong));
}

TEST(OpenVinoTake, OutlivesTheNextComputeAndTheContext) {
  const Host host;
  for (const char* name : {"dynamic", "passed_on"}) {
    const Model model(host, IrXml(name), IrOptions(name));
    const std::vector<int64_t> dims(model.input(0).rank == 2 ? std::vector<int64_t>{1, 2} : std::vector<int64_t>{2});
    std::unique_ptr<Taken> first, second;
    {
      Context context(model);
      ASSERT_TRUE(context.Set(0, Floats(dims, {1, 2})));
      ASSERT_TRUE(context.Compute());
      first = std::make_unique<Taken>(host, context, 0);
      ASSERT_TRUE(first->result()) << first->result().message;
      const Taken again(host, context, 0);
      EXPECT_EQ(again.result().code, WASINN_INVALID_ARGUMENT) << "it is gone";
      Tensor out;
      EXPECT_EQ(context.Get(0, &out).code, WASINN_INVALID_ARGUMENT);
      ASSERT_TRUE(context.Set(0, Floats(dims, {3, 4})));
      ASSERT_TRUE(context.Compute());
      second = std::make_unique<Taken>(host, context, 0);
      ASSERT_TRUE(context.Set(0, Floats(dims, {5, 6})));
      ASSERT_TRUE(context.Compute());
    }
    EXPECT_THAT(first->floats(), ElementsAre(1, 2));
    EXPECT_THAT(second->floats(), ElementsAre(3, 4));
  }
}

TEST(OpenVinoTake, UsesMemoryAgainThatCameBack) {
  const Host host;
  const Model model(host, IrXml("mean"), IrOptions("mean"));
  Context context(model);
  ASSERT_TRUE(context.Set(0, Floats({1, 3, 8, 8}, std::vector<float>(192, 2))));
  const void* data = nullptr;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(context.Compute());
    const Taken taken(host, context, 0);
    ASSERT_TRUE(taken.result());
    EXPECT_THAT(taken.floats(), ElementsAre(2, 2, 2));
    EXPECT_TRUE(data == nullptr || taken.data() == data);
    data = taken.data();
  }
}

// What one context computes is the input of another, uncopied.
TEST(OpenVinoTake, FeedsAnotherContext) {
  const Host host;
  const Model model(host, IrXml("relu"), IrOptions("relu"));
  Context first(model), second(model);
  const Tensor in = Floats({1, 3, 224, 224}, std::vector<float>(size_t{3} * 224 * 224, 1.25f));
  ASSERT_TRUE(first.Set(0, in));
  ASSERT_TRUE(first.Compute());
  wasinn_tensor taken = {.struct_size = sizeof(taken)};
  ASSERT_TRUE(TakeError(host.table().take_output(first.get(), 0, &taken)));
  ASSERT_TRUE(TakeError(host.table().bind_input(second.get(), 0, &taken)));
  ASSERT_TRUE(second.Compute());
  Tensor out;
  ASSERT_TRUE(second.Get(0, &out));
  EXPECT_EQ(out.bytes, in.bytes);
  host.table().unbind_input(second.get(), 0);
  taken.release(taken.owner);
}

TEST(OpenVinoLimits, OutputsOverTheLimitAreErrors) {
  const Host host;
  const Model model(host, IrXml("huge_output"), IrOptions("huge_output"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context limited(model, 1 << 16);
  ASSERT_TRUE(limited.Set(0, MakeTensor<int64_t>(WASINN_I64, {2}, {1024, 1024})));
  const Result computed = limited.Compute();
  EXPECT_EQ(computed.code, WASINN_TOO_LARGE) << computed.message;
  Tensor out;
  EXPECT_EQ(limited.Get(0, &out).code, WASINN_INVALID_ARGUMENT);
  ASSERT_TRUE(limited.Set(0, MakeTensor<int64_t>(WASINN_I64, {2}, {2, 2})));
  const Result small = limited.Compute();
  ASSERT_TRUE(small) << small.message;
  ASSERT_TRUE(limited.Get(0, &out));
  EXPECT_THAT(out.As<float>(), ElementsAre(1, 1, 1, 1));
  // Too much for any machine.
  Context context(model);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {2}, {int64_t{1} << 31, int64_t{1} << 31})));
  EXPECT_FALSE(context.Compute());
}

TEST(OpenVinoLimits, FixedOutputsAreCountedBeforehand) {
  const Host host;
  const Model model(host, IrXml("relu"), IrOptions("relu"));
  const wasinn_context_options options = {.struct_size = sizeof(options), .max_bytes = 602111};
  wasinn_backend_context* context = nullptr;
  const Result made = TakeError(host.table().context_new(model.get(), &options, &context));
  EXPECT_EQ(made.code, WASINN_TOO_LARGE) << made.message;
  EXPECT_EQ(context, nullptr);
}

// They are shown as copies, which nobody but their context holds.
class OpenVinoPassedOn : public ::testing::Test {
 protected:
  static constexpr int64_t kSize = 1 << 22;
  static constexpr uint64_t kBytes = sizeof(float) * kSize;

  static LoadOptions Options() {
    LoadOptions options;
    options.encoding = WASINN_OPENVINO;
    options.more_bytes = {""};
    return options;
  }
  static Result Compute(Context* context, int64_t size = kSize) {
    EXPECT_TRUE(context->Set(0, Floats({size}, std::vector<float>(static_cast<size_t>(size), 1))));
    return context->Compute();
  }
  // All that the context holds now is no more than these.
  void ExpectHeld(uint64_t bytes) const { EXPECT_LT(AllocatedBytes(), at_first_ + bytes + kBytes / 2); }
  void Begin() { at_first_ = AllocatedBytes(); }

  const Host host_;

 private:
  uint64_t at_first_ = 0;
};

TEST_F(OpenVinoPassedOn, NoCopyIsMadeBeyondTheLimit) {
  const Model model(host_, PassedOn(40), Options());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Begin();
  Context context(model, 40 * kBytes - 1);
  const testing::PeakMemory memory;
  const Result computed = Compute(&context);
  EXPECT_EQ(computed.code, WASINN_TOO_LARGE) << computed.message;
  EXPECT_THAT(computed.message, HasSubstr(std::to_string(40 * kBytes)));
  EXPECT_LT(memory.grown(), 8 * kBytes);
  ExpectHeld(kBytes);
  ASSERT_TRUE(Compute(&context, 40));
  EXPECT_THAT(MustGet(&context, 39).As<float>(), ::testing::SizeIs(40));
}

TEST_F(OpenVinoPassedOn, NothingIsLeftAfterADiscard) {
  const Model model(host_, PassedOn(4), Options());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Begin();
  Account account;
  Context context(model, 0, "{}", &account);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(Compute(&context));
    // The core charges four outputs and the input; what is held beside them is charged here.
    ExpectHeld(account.used + 5 * kBytes);
    EXPECT_LE(account.used, kBytes);
    host_.table().discard_outputs(context.get());
    EXPECT_EQ(account.used, 0u);
    ExpectHeld(kBytes);
  }
  ASSERT_TRUE(Compute(&context));
  ASSERT_TRUE(Compute(&context, 4));
  ExpectHeld(account.used);
}

TEST_F(OpenVinoPassedOn, NothingIsLeftWhereItCannotBePaid) {
  const Model model(host_, PassedOn(4), Options());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Begin();
  Account account = {.limit = kBytes - 1};
  Context context(model, 0, "{}", &account);
  EXPECT_EQ(Compute(&context).code, WASINN_TOO_LARGE);
  EXPECT_EQ(account.used, 0u);
  ExpectHeld(kBytes);
  ASSERT_TRUE(Compute(&context, 4));
  EXPECT_THAT(MustGet(&context, 3).As<float>(), ElementsAre(1, 1, 1, 1));
}

TEST_F(OpenVinoPassedOn, WhatIsTakenDoesNotStay) {
  const Model model(host_, PassedOn(4), Options());
  Begin();
  Account account;
  Context context(model, 0, "{}", &account);
  ASSERT_TRUE(Compute(&context));
  for (uint32_t i = 0; i < 4; ++i) {
    const Taken taken(host_, context, i);
    ASSERT_TRUE(taken.result()) << taken.result().message;
    const std::vector<float> floats = taken.floats();
    ASSERT_EQ(floats.size(), static_cast<size_t>(kSize));
    EXPECT_EQ(floats.back(), 1);
  }
  ExpectHeld(account.used + kBytes);
}

// A model that makes its input, of a shape, numbers of four bits.
std::string Narrowed(const std::string& dim) {
  const std::string shape = "<dim>" + dim + "</dim>";
  const auto port = [&](const std::string& precision) {
    return R"(<port id="0" precision=")" + precision + "\">" + shape + "</port>";
  };
  const std::string open = dim == "-1" ? "?" : dim;
  return R"(<?xml version="1.0"?><net name="narrowed" version="11"><layers>)"
         R"(<layer id="0" name="x" type="Parameter" version="opset1"><data shape=")" +
         open + R"(" element_type="f32" /><output>)" + port("FP32") + "</output></layer>" +
         R"(<layer id="1" name="c" type="Convert" version="opset1"><data destination_type="u4" /><input>)" +
         port("FP32") + R"(</input><output><port id="1" precision="U4">)" + shape + "</port></output></layer>" +
         R"(<layer id="2" name="r" type="Result" version="opset1"><input>)" + port("U4") + "</input></layer>" +
         R"(</layers><edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0" />)"
         R"(<edge from-layer="1" from-port="1" to-layer="2" to-port="0" /></edges></net>)";
}

// Of a type that is not shown the core knows no bytes.
TEST_F(OpenVinoPassedOn, WhatCannotBeShownIsCharged) {
  constexpr uint64_t kNarrow = kSize / 2;
  for (const char* dim : {"-1", "4194304"}) {
    const Model model(host_, Narrowed(dim), Options());
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
    ASSERT_NE(model.output(0).flags & WASINN_IO_UNSERVABLE, 0u);
    Account account = {.limit = kNarrow};
    Context context(model, 0, "{}", &account);
    const Result computed = Compute(&context);
    EXPECT_TRUE(computed) << computed.message;
    EXPECT_EQ(account.used, kNarrow);
    account.limit = 0;
    host_.table().discard_outputs(context.get());
    EXPECT_EQ(account.used, 0u);
    EXPECT_EQ(Compute(&context).code, WASINN_TOO_LARGE);
    EXPECT_EQ(account.used, 0u);
    Context limited(model, kNarrow - 1);
    EXPECT_EQ(Compute(&limited).code, WASINN_TOO_LARGE);
  }
}

TEST(OpenVinoDiscard, LeavesNoOutputsAndAContextThatWorks) {
  const Host host;
  for (const char* name : {"mean", "dynamic"}) {
    const Model model(host, IrXml(name), IrOptions(name));
    Context context(model);
    const bool mean = std::string(name) == "mean";
    const Tensor in = mean ? Floats({1, 3, 8, 8}, std::vector<float>(192, 2)) : Floats({1, 2}, {3, 4});
    ASSERT_TRUE(context.Set(0, in));
    Tensor out;
    for (int i = 0; i < 2; ++i) {
      const Result computed = context.Compute();
      ASSERT_TRUE(computed) << computed.message;
      ASSERT_TRUE(context.Get(0, &out));
      host.table().discard_outputs(context.get());
      Tensor none;
      EXPECT_EQ(context.Get(0, &none).code, WASINN_INVALID_ARGUMENT);
    }
    EXPECT_EQ(out.As<float>().at(0), mean ? 2 : 3);
  }
}

}  // namespace
}  // namespace wasinn::test
