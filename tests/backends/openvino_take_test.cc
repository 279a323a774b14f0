// Outputs that are taken along, large ones with their memory: whatever an output is, the next run does not touch it, and
// writes its own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "backends/expect.h"
#include "backends/openvino_native.h"
#include "backends/openvino_writer.h"
#include "backends/taken.h"
#include "backends/test_host.h"
#include "check/lent.h"

namespace wasinn::test {
namespace {

// Large enough to be given away with its memory; and not.
constexpr int64_t kLarge = 1 << 15, kSmall = 16;

std::vector<float> Filled(int64_t size, float value) { return std::vector<float>(static_cast<size_t>(size), value); }
Tensor Same(int64_t size, float value) { return Floats({size}, Filled(size, value)); }

// The axis 0, and as many floats of 5 as are asked for.
std::string Weights(int64_t size) {
  const std::vector<float> fives = Filled(size, 5);
  return std::string(8, '\0') + std::string(reinterpret_cast<const char*>(fives.data()), fives.size() * sizeof(float));
}

// A model of one input of `size` floats.
struct Made {
  const char* name;
  std::function<void(Ir&, const Ir::Value& x, int64_t size)> make;
  // Of each output, what its floats are where all of the input's are x (which is above 0).
  std::vector<std::function<float(float x)>> values;
};

float Id(float x) { return x; }
float Five(float) { return 5; }
float Double(float x) { return 2 * x; }

const Made kMade[] = {
    {"relu", [](Ir& ir, const Ir::Value& x, int64_t) { ir.Result(ir.Relu(x)); }, {Id}},
    {"an_input", [](Ir& ir, const Ir::Value& x, int64_t) { ir.Result(x); }, {Id}},
    {"an_input_and_more",
     [](Ir& ir, const Ir::Value& x, int64_t) {
       ir.Result(x);
       ir.Result(ir.Add(x, x));
     },
     {Id, Double}},
    {"a_constant",
     [](Ir& ir, const Ir::Value& x, int64_t size) {
       ir.Result(ir.Floats(size, 8));
       ir.Result(ir.Add(x, x));
     },
     {Five, Double}},
    {"a_constant_that_is_read",
     [](Ir& ir, const Ir::Value& x, int64_t size) {
       const Ir::Value five = ir.Floats(size, 8);
       ir.Result(five);
       ir.Result(ir.Add(x, five));
     },
     {Five, [](float x) { return x + 5; }}},
    {"one_node_twice",
     [](Ir& ir, const Ir::Value& x, int64_t) {
       const Ir::Value sum = ir.Add(x, x);
       ir.Result(sum);
       ir.Result(sum);
     },
     {Double, Double}},
    {"one_node_twice_and_another",
     [](Ir& ir, const Ir::Value& x, int64_t) {
       const Ir::Value sum = ir.Add(x, x);
       ir.Result(sum);
       ir.Result(ir.Relu(x));
       ir.Result(sum);
     },
     {Double, Id, Double}},
    {"one_that_another_reads",
     [](Ir& ir, const Ir::Value& x, int64_t) {
       const Ir::Value sum = ir.Add(x, x);
       ir.Result(sum);
       ir.Result(ir.Add(sum, x));
     },
     {Double, [](float x) { return 3 * x; }}},
    {"halves",
     [](Ir& ir, const Ir::Value& x, int64_t) {
       for (const Ir::Value& half : ir.Split(ir.Add(x, x), ir.Int(0))) ir.Result(half);
     },
     {Double, Double}},
    {"halves_of_an_input",
     [](Ir& ir, const Ir::Value& x, int64_t) {
       for (const Ir::Value& half : ir.Split(x, ir.Int(0))) ir.Result(half);
     },
     {Id, Id}},
};

class OpenVinoTake : public ::testing::TestWithParam<std::tuple<const Made*, int64_t>> {
 protected:
  using Takens = std::vector<std::unique_ptr<check::Taken>>;

  void SetUp() override {
    Ir ir;
    made().make(ir, ir.Parameter(size()), size());
    LoadOptions options;
    options.encoding = "openvino";
    options.more_bytes = {Weights(size())};
    options.keeps_bytes = true;
    model_ = std::make_unique<Model>(host_, ir.Xml(), options);
    ASSERT_TRUE(model_->loaded()) << model_->loaded().message;
  }

  static const Made& made() { return *std::get<0>(GetParam()); }
  static int64_t size() { return std::get<1>(GetParam()); }
  static uint32_t n_outputs() { return static_cast<uint32_t>(made().values.size()); }

  static void Compute(Context* context, float x) {
    ASSERT_TRUE(context->Set(0, Same(size(), x)));
    MustCompute(context);
  }
  static Takens TakeAll(Context* context) {
    Takens all;
    for (uint32_t i = 0; i < n_outputs(); ++i) {
      all.push_back(std::make_unique<check::Taken>(context, i));
      EXPECT_TRUE(all.back()->result()) << all.back()->result().message;
    }
    return all;
  }
  void ExpectIs(uint32_t index, const Tensor& output, float x) const {
    EXPECT_EQ(output.dims, std::vector<int64_t>{model_->output(index).dims[0]});
    EXPECT_TRUE(output.bytes == Same(output.dims[0], made().values[index](x)).bytes)
        << "output " << index << " begins with " << output.As<float>().at(0) << " after " << x;
  }
  void ExpectShows(Context* context, float x) const {
    for (uint32_t i = 0; i < n_outputs(); ++i) ExpectIs(i, MustGet(context, i), x);
  }
  void ExpectAre(const Takens& all, float x) const {
    for (uint32_t i = 0; i < n_outputs(); ++i) ExpectIs(i, all[i]->Read(), x);
  }

  const Host host_;
  std::unique_ptr<Model> model_;
};

TEST_P(OpenVinoTake, ComputesLeaveWhatWasTaken) {
  Context context(*model_);
  std::vector<Takens> taken;
  for (int i = 0; i < 4; ++i) {
    Compute(&context, static_cast<float>(i + 1));
    ExpectShows(&context, static_cast<float>(i + 1));
    taken.push_back(TakeAll(&context));
  }
  for (int i = 0; i < 4; ++i) ExpectAre(taken[static_cast<size_t>(i)], static_cast<float>(i + 1));
  Compute(&context, 9);
  ExpectShows(&context, 9);
  for (int i = 0; i < 4; ++i) ExpectAre(taken[static_cast<size_t>(i)], static_cast<float>(i + 1));
}

// Others of the same model meanwhile: they compute with what OpenVINO has of it, in turns.
TEST_P(OpenVinoTake, WhatIsReleasedIsNotTouched) {
  Context context(*model_), other(*model_);
  for (int i = 1; i <= 4; ++i) {
    const auto x = static_cast<float>(i);
    Compute(&context, x);
    ExpectAre(TakeAll(&context), x);  // which are released
    Compute(&other, x + 10);
    ExpectShows(&other, x + 10);
  }
}

TEST_P(OpenVinoTake, WhatWasTakenOutlivesItsContext) {
  Takens first, second;
  {
    Context context(*model_);
    Compute(&context, 1);
    first = TakeAll(&context);
    Compute(&context, 2);
    second = TakeAll(&context);
  }
  Context other(*model_);
  Compute(&other, 3);
  ExpectAre(first, 1);
  ExpectAre(second, 2);
}

TEST_P(OpenVinoTake, IsAnInputOfAnother) {
  if (model_->output(0).dims[0] != size()) return;
  Context context(*model_), other(*model_);
  for (int i = 1; i <= 3; ++i) {
    const auto x = static_cast<float>(i);
    Compute(&context, x);
    const check::Taken taken(&context, 0);
    const Result bound = other.Bind(0, taken.view());
    ASSERT_TRUE(bound) << bound.message;
    Compute(&context, 100);
    MustCompute(&other);
    ExpectShows(&other, made().values[0](x));
    // Of the context itself, too, which has written it.
    ASSERT_TRUE(context.Bind(0, taken.view()));
    MustCompute(&context);
    ExpectShows(&context, made().values[0](x));
    const Takens again = TakeAll(&context);
    context.Unbind(0);
    other.Unbind(0);
    ExpectAre(again, made().values[0](x));
  }
}

TEST_P(OpenVinoTake, NeedsACompute) {
  Context context(*model_);
  Compute(&context, 1);
  const check::Taken taken(&context, 0);
  EXPECT_EQ(check::Taken(&context, 0).result().code, WASINN_INVALID_ARGUMENT);
  host_.table().discard_outputs(context.get());
  EXPECT_EQ(check::Taken(&context, 0).result().code, WASINN_INVALID_ARGUMENT);
  Compute(&context, 2);
  ExpectShows(&context, 2);
  ASSERT_TRUE(context.Reset());
  EXPECT_EQ(check::Taken(&context, 0).result().code, WASINN_INVALID_ARGUMENT);
  Compute(&context, 3);
  ExpectShows(&context, 3);
}

// Several of them, and in any order.
TEST_P(OpenVinoTake, WhatIsHeldIsReleasedLater) {
  for (const size_t held : {1u, 2u, 3u}) {
    for (const bool newest_first : {false, true}) {
      Context context(*model_);
      std::deque<std::pair<float, Takens>> taken;
      for (int i = 1; i <= 12; ++i) {
        const auto x = static_cast<float>(i);
        Compute(&context, x);
        taken.emplace_back(x, TakeAll(&context));
        for (const auto& [then, outputs] : taken) ExpectAre(outputs, then);
        if (i % 4 == 0) {
          for (size_t n = 0; n < held; ++n) taken.erase(newest_first ? std::prev(taken.end()) : taken.begin());
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OpenVinoTake,
                         ::testing::Combine(::testing::ValuesIn([] {
                                              std::vector<const Made*> all;
                                              for (const Made& made : kMade) all.push_back(&made);
                                              return all;
                                            }()),
                                            ::testing::Values(kSmall, kLarge)),
                         [](const auto& test) {
                           return std::string(std::get<0>(test.param)->name) +
                                  (std::get<1>(test.param) == kLarge ? "_large" : "_small");
                         });

class OpenVinoGiven : public ::testing::Test {
 protected:
  static constexpr uint64_t kBytes = sizeof(float) * kLarge;

  static LoadOptions Options() {
    LoadOptions options;
    options.encoding = "openvino";
    options.more_bytes = {""};
    return options;
  }
  static std::string Relu() {
    Ir ir;
    ir.Result(ir.Relu(ir.Parameter(kLarge)));
    return ir.Xml();
  }
  static void Compute(Context* context, float x) {
    ASSERT_TRUE(context->Set(0, Same(kLarge, x)));
    MustCompute(context);
  }

  const Host host_;
};

TEST_F(OpenVinoGiven, LargeOutputsAreNotCopied) {
  const Model model(host_, Relu(), Options());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  std::vector<std::unique_ptr<check::Taken>> held;
  for (int i = 0; i < 3; ++i) {
    Compute(&context, 1);
    const void* const place = context.View(0).data;
    held.push_back(std::make_unique<check::Taken>(&context, 0));
    EXPECT_EQ(held.back()->view().data, place);
  }
}

// As much as the core charges: one output for the slot, and those that are held.
TEST_F(OpenVinoGiven, NoMoreIsHeldThanIsCharged) {
  const Model model(host_, Relu(), Options());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model);
  Compute(&context, 1);
  const uint64_t at_first = AllocatedBytes();
  std::deque<std::unique_ptr<check::Taken>> held;
  const auto expect_held = [&] {
    EXPECT_LT(AllocatedBytes(), at_first + held.size() * kBytes + kBytes / 2) << held.size() << " are held";
  };
  for (int i = 0; i < 6; ++i) {
    held.push_back(std::make_unique<check::Taken>(&context, 0));
    expect_held();
    Compute(&context, 1);
    expect_held();
  }
  while (held.size() > 1) {
    held.pop_front();
    expect_held();
  }
  held.push_back(std::make_unique<check::Taken>(&context, 0));
  while (!held.empty()) {
    held.pop_front();
    expect_held();
  }
}

TEST_F(OpenVinoGiven, AnyThreadReleases) {
  const Model model(host_, Relu(), Options());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  std::vector<std::thread> threads;
  {
    Context context(model);
    for (int i = 1; i <= 200; ++i) {
      const auto x = static_cast<float>(i);
      Compute(&context, x);
      auto taken = std::make_unique<check::Taken>(&context, 0);
      threads.emplace_back([x, taken = std::move(taken)]() mutable {
        EXPECT_TRUE(taken->Read().bytes == Same(kLarge, x).bytes);
        taken.reset();
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
}

// It goes with a discard, for what it has beside: the next output is another request's.
TEST_F(OpenVinoGiven, OutlivesItsRequest) {
  constexpr int64_t kMany = 128 * kLarge;  // so that what cannot be shown is worth a new request
  Ir ir;
  const Ir::Value x = ir.Parameter(kMany);
  ir.Result(ir.Relu(x));
  ir.Result(ir.Narrow(x));
  const Model model(host_, ir.Xml(), Options());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Account account;
  Context context(model, 0, "{}", &account);
  const auto compute = [&](float value) {
    ASSERT_TRUE(context.Set(0, Same(kMany, value)));
    MustCompute(&context);
    EXPECT_TRUE(MustGet(&context, 0).bytes == Same(kMany, value).bytes);
  };
  for (int i = 1; i <= 3; ++i) {
    const auto value = static_cast<float>(i);
    compute(value);
    const check::Taken first(&context, 0);
    compute(value + 1);
    const auto second = std::make_unique<check::Taken>(&context, 0);
    ASSERT_GT(account.used, 0u);
    context.DiscardOutputs();
    ASSERT_EQ(account.used, 0u) << "so there is a request still";
    EXPECT_TRUE(first.Read().bytes == Same(kMany, value).bytes);
    EXPECT_TRUE(second->Read().bytes == Same(kMany, value + 1).bytes);
  }
}

}  // namespace
}  // namespace wasinn::test
