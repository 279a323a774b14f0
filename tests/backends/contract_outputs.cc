// Models, outputs, limits.
#include <gmock/gmock.h>

#include <memory>
#include <vector>

#include "backends/contract.h"

namespace wasinn::test {
namespace {

void ExpectPort(const wasinn_io& io, const Port& port) {
  EXPECT_EQ(io.struct_size, sizeof(wasinn_io));
  EXPECT_EQ(io.name, port.name);
  EXPECT_EQ(io.dtype, port.dtype);
  EXPECT_EQ(io.flags, port.flags);
  if (port.any_rank) {
    EXPECT_EQ(io.rank, -1);
  } else {
    EXPECT_EQ(std::vector(io.dims, io.dims + io.rank), port.dims);
  }
}

TEST_P(Contract, TellsTheModelsSignature) {
  const wasinn_info& info = model().info();
  EXPECT_EQ(info.struct_size, sizeof info);
  ASSERT_EQ(info.n_inputs, subject().inputs.size());
  ASSERT_EQ(info.n_outputs, subject().outputs.size());
  for (uint32_t i = 0; i < info.n_inputs; ++i) ExpectPort(*info.inputs[i], subject().inputs[i]);
  for (uint32_t i = 0; i < info.n_outputs; ++i) ExpectPort(*info.outputs[i], subject().outputs[i]);
  EXPECT_EQ(&model().info(), &info) << "it lives as long as the model";
}

TEST_P(Contract, HasWholeSetsOfFunctions) {
  EXPECT_NE(table().cancel, nullptr);
  EXPECT_NE(table().bind_input, nullptr);
  EXPECT_NE(table().unbind_input, nullptr);
  EXPECT_EQ(table().bind_align & (table().bind_align - 1), 0u);
  EXPECT_EQ(table().take_output != nullptr, subject().takes_outputs);
  EXPECT_EQ(table().want_outputs != nullptr, subject().wants_outputs);
  EXPECT_EQ(table().discard_outputs != nullptr, subject().discards_outputs);
  EXPECT_EQ(table().step != nullptr, subject().generates);
  EXPECT_EQ(table().piece != nullptr, subject().generates);
  EXPECT_EQ(table().finish != nullptr, subject().generates);
}

TEST_P(Contract, OutputsAreShownUntilTheNextCompute) {
  Context context(model(), 0, "{}", &account_);
  Set(&context, Inputs(0));
  ExpectComputes(&context, Inputs(0));
  const std::vector<Tensor>& expected = Expected(Inputs(0));
  std::vector<wasinn_tensor> views;
  for (uint32_t i = 0; i < expected.size(); ++i) views.push_back(context.View(i));
  const auto lent = Lend(Inputs(2));
  const auto expect_shown = [&] {
    ExpectShows(&context, expected);
    for (size_t i = 0; i < views.size(); ++i) {
      EXPECT_EQ(std::string(static_cast<const char*>(views[i].data), views[i].bytes), expected[i].bytes);
    }
  };
  expect_shown();
  Set(&context, Inputs(1));
  expect_shown();
  Bind(&context, lent);
  expect_shown();
  for (uint32_t i = 0; i < n_inputs(); ++i) lent[i]->Write(std::string(Inputs(2)[i].bytes.size(), 'x'));
  expect_shown();
  for (uint32_t i = 0; i < n_inputs(); ++i) context.Unbind(i);
  expect_shown();
}

TEST_P(Contract, TakenOutputsOutliveComputesAndContexts) {
  if (table().take_output == nullptr) return;  // see HasWholeSetsOfFunctions
  std::vector<std::unique_ptr<Taken>> taken;
  std::vector<Tensor> expected;
  {
    Context context(model(), 0, "{}", &account_);
    EXPECT_EQ(Taken(host(), context, 0).result().code, WASINN_INVALID_ARGUMENT) << "before a compute";
    for (int variant = 0; variant < 3; ++variant) {
      const auto lent = Lend(Inputs(variant));
      if (variant == 1) Bind(&context, lent);
      if (variant != 1) Set(&context, Inputs(variant));
      ExpectComputes(&context, Inputs(variant));
      const std::vector<Tensor>& outputs = Expected(Inputs(variant));
      for (uint32_t i = 0; i < outputs.size(); ++i) {
        taken.push_back(std::make_unique<Taken>(host(), context, i));
        ASSERT_TRUE(taken.back()->result()) << taken.back()->result().message;
        EXPECT_EQ(Taken(host(), context, i).result().code, WASINN_INVALID_ARGUMENT) << "twice";
        expected.push_back(outputs[i]);
      }
      ExpectNoOutput(&context);
      for (uint32_t i = 0; variant == 1 && i < n_inputs(); ++i) {
        context.Unbind(i);
        lent[i]->Revoke();
      }
    }
    Set(&context, Inputs(0));
    ExpectComputes(&context, Inputs(0));
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(taken[i]->Read().dims, expected[i].dims);
    EXPECT_EQ(taken[i]->Read().bytes, expected[i].bytes);
  }
}

TEST_P(Contract, TakenOutputsAreInputsOfOthers) {
  if (table().take_output == nullptr) return;
  Context first(model(), 0, "{}", &account_), second(model(), 0, "{}", &account_);
  Set(&first, Inputs(0));
  ExpectComputes(&first, Inputs(0));
  std::vector<Tensor> inputs = Inputs(1);
  inputs[0] = Expected(Inputs(0))[0];
  const Taken taken(host(), first, 0);
  ASSERT_TRUE(taken.result()) << taken.result().message;
  Set(&second, Inputs(1));
  const Result bound = second.Bind(0, taken.view());
  ASSERT_TRUE(bound) << bound.message;
  ExpectComputes(&second, inputs);
  ExpectComputes(&first, Inputs(0));
  ExpectComputes(&second, inputs);
  second.Unbind(0);
}

TEST_P(Contract, OnlyWhatIsWantedNeedBeThere) {
  if (table().want_outputs == nullptr) return;
  Context context(model(), 0, "{}", &account_);
  const auto want = [&](const std::vector<uint32_t>& wanted) {
    return TakeError(table().want_outputs(context.get(), wanted.data(), wanted.size()));
  };
  Set(&context, Inputs(0));
  const std::vector<Tensor>& expected = Expected(Inputs(0));
  for (uint32_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(want({i}));
    ASSERT_TRUE(context.Compute());
    Tensor shown;
    ASSERT_TRUE(context.Get(i, &shown));
    EXPECT_EQ(shown.bytes, expected[i].bytes);
    EXPECT_EQ(context.Get(1 - i, &shown).code, WASINN_INVALID_ARGUMENT) << "nobody wanted it";
  }
  EXPECT_FALSE(want({7}));
  ASSERT_TRUE(want({}));
  ExpectComputes(&context, Inputs(0));
}

TEST_P(Contract, DiscardedOutputsAreGoneUntilTheNextCompute) {
  Context context(model(), 0, "{}", &account_);
  table().discard_outputs(context.get());
  Set(&context, Inputs(0));
  for (int n = 0; n < 3; ++n) {
    ExpectComputes(&context, Inputs(0));
    table().discard_outputs(context.get());
    ExpectNoOutput(&context);
  }
  Set(&context, Inputs(1));
  ExpectComputes(&context, Inputs(1));
}

// It may come in the moment before a compute begins its work, and after it ended it.
TEST_P(Contract, CancelBesideAComputeHasNoEffectOnIt) {
  Context context(model(), 0, "{}", &account_);
  context.Cancel();
  Set(&context, Inputs(0));
  for (int n = 0; n < 3; ++n) {
    for (int i = 0; i < 3; ++i) context.Cancel();
    ExpectComputes(&context, Inputs(0));
  }
}

// Whether it is the context that needs it, or a compute, or nothing: it is the same context when there is more.
TEST_P(Contract, WhatCannotBePaidIsTooLargeAndNothingElse) {
  account_.limit = 0;
  const wasinn_context_options options = {.struct_size = sizeof(options), .guest_config = "{}", .account = &account_};
  wasinn_backend_context* poor = nullptr;
  const Result made = TakeError(table().context_new(model().get(), &options, &poor));
  EXPECT_EQ(made.code, made ? WASINN_OK : WASINN_TOO_LARGE) << made.message;
  EXPECT_EQ(account_.used, 0u);
  if (poor != nullptr) table().context_free(poor);
  account_.limit = UINT64_MAX;
  Context context(model(), 0, "{}", &account_);
  Set(&context, Inputs(0));
  account_.limit = 0;
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, computed ? WASINN_OK : WASINN_TOO_LARGE) << computed.message;
  if (!computed) ExpectNoOutput(&context);
  account_.limit = UINT64_MAX;
  ExpectComputes(&context, Inputs(0));
}

// Not what its encoding is: nothing, a text, and the beginnings of other frameworks' files.
TEST_P(Contract, BytesThatAreNoModelAreOfAnInvalidEncoding) {
  const std::string own = subject().bytes();
  for (const std::string& bytes :
       {std::string(), std::string("a"), std::string("no model of any kind, but a text\n"), std::string(100, '\0'),
        std::string("GGUF\3\0\0\0", 8), std::string("PK\3\4\0\0\0\0", 8), std::string("\x1c\0\0\0TFL3\0\0\0\0", 12),
        std::string("<?xml version=\"1.0\"?><nothing/>"), own.substr(0, own.size() / 2)}) {
    if (bytes.starts_with("GGUF") && own.starts_with("GGUF")) continue;
    const Model none(host(), bytes, subject().options);
    EXPECT_EQ(none.loaded().code, WASINN_INVALID_ENCODING)
        << bytes.size() << ", " << bytes.substr(0, 20) << ": " << none.loaded().message;
  }
}

TEST_P(ContractOfShapes, OverTheLimitAreTooLargeAndLeaveTheInputs) {
  Context context(model(), 1 << 20, "{}", &account_);
  std::vector<Tensor> inputs = Inputs(0, 1);
  Set(&context, inputs);
  ExpectComputes(&context, inputs);
  for (int n = 0; n < 2; ++n) {
    ASSERT_TRUE(context.Set(1, Inputs(0, 1 << 20)[1]));
    const Result computed = context.Compute();
    if (!subject().has_limits) {
      EXPECT_TRUE(computed) << computed.message;
      continue;
    }
    EXPECT_EQ(computed.code, WASINN_TOO_LARGE) << computed.message;
    ExpectNoOutput(&context);
    inputs[1] = Inputs(1, 3)[1];
    ASSERT_TRUE(context.Set(1, inputs[1]));
    ExpectComputes(&context, inputs);  // on the other input, which was not set again
  }
}

}  // namespace
}  // namespace wasinn::test
