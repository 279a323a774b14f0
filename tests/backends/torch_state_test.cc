// What a model keeps from one compute to the next: contexts, and with them guests, never share it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "backends/expect.h"
#include "backends/torch_models.h"

namespace wasinn::test {
namespace {

using ::testing::HasSubstr;

struct Kept {
  const char* name;
  bool stateful;
  std::function<std::string()> make;
};

// Adds its input to something of its own, where `forward` may do so in many ways, and gives the sum.
std::string Buffered(const std::string& lines) {
  return TorchModel("def forward(self, x):\n" + lines, {{"total", Floats({1}, {0})}});
}

const Kept kKept[] = {
    {"AnAttribute", true, [] { return Buffered("    self.total = self.total + x\n    return self.total * 1\n"); }},
    {"WhatItGives", true, [] { return Buffered("    self.total = self.total + x\n    return self.total\n"); }},
    {"ABuffer", true, [] { return Buffered("    self.total.add_(x)\n    return self.total * 1\n"); }},
    {"AView", true, [] { return Buffered("    part = self.total[0:1]\n    part += x\n    return self.total * 1\n"); }},
    {"AnInnerFunction", true,
     [] {
       return TorchModel(
           "def forward(self, x):\n    return self.add(x)\n"
           "def add(self, x):\n    self.total.add_(x)\n    return self.total * 1\n",
           {{"total", Floats({1}, {0})}});
     }},
    {"ATensorInAList", true, [] { return TorchHolder(Holder::kList); }},
    {"ATensorInATuple", true, [] { return TorchHolder(Holder::kTuple); }},
    {"ATensorInADictionary", true, [] { return TorchHolder(Holder::kDictionary); }},
    {"ANumber", true, [] { return TorchHolder(Holder::kNumber); }},
    {"ASubmodule", true, [] { return TorchHolder(Holder::kSubmodule); }},
    // Each run begins with what the file says.
    {"AConstant", false, [] { return TorchHolder(Holder::kConstant); }},
};

class TorchState : public ::testing::TestWithParam<Kept> {};

TEST_P(TorchState, BelongsToOneContext) {
  const Host host;
  const Model model(host, GetParam().make(), TorchOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  const bool stateful = GetParam().stateful;
  EXPECT_THAT(host.table().describe(model.get()), HasSubstr(stateful ? "\"stateful\": true" : "\"stateful\": false"));
  const auto add = [](Context* context, float x) {
    EXPECT_TRUE(context->Set(0, Floats({1}, {x})));
    MustCompute(context);
    return MustGet(context, 0).As<float>().at(0);
  };
  Context beside(model);
  {
    Context gone(model);
    EXPECT_EQ(add(&gone, 5), 5);
    EXPECT_EQ(add(&beside, 1), 1);
    EXPECT_EQ(add(&gone, 2), stateful ? 7 : 2);
  }
  Context after(model);
  EXPECT_EQ(add(&after, 3), 3);
  EXPECT_EQ(add(&beside, 1), stateful ? 2 : 1);
}

INSTANTIATE_TEST_SUITE_P(All, TorchState, ::testing::ValuesIn(kKept),
                         [](const auto& kept) { return std::string(kept.param.name); });

}  // namespace
}  // namespace wasinn::test
