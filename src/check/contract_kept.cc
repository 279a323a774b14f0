// Outputs that stay in the memory of the device that computes them.
#include <optional>
#include <string_view>
#include <vector>

#include "check/contract_check.h"
#include "check/failures.h"

namespace wasinn::check {
namespace {

CHECK_OF(Contract, KeptOutputsAreTaken, "outputs stay in the graph's own memory only for the computes that keep them") {
  const char* const memory = model().info().memory;
  if (memory == nullptr) return ReportNothingToCheck("the model computes in the host's memory");
  ASSERT_TRUE(table().take_output != nullptr) << "there is own memory, and no take_output";
  Context context(model(), 0, "{}", &account_);
  std::vector<uint32_t> all;
  for (uint32_t i = 0; i < model().info().n_outputs; ++i) {
    if ((model().output(i).flags & (WASINN_IO_UNSERVABLE | WASINN_IO_ALWAYS)) == 0) all.push_back(i);
  }
  for (int variant = 0; variant < 3; ++variant) {
    Set(&context, Inputs(variant));
    context.Keep(all);
    ASSERT_TRUE(context.Compute()) << "a compute that keeps its outputs failed";
    for (const uint32_t i : all) {
      const Taken taken(&context, i);
      ASSERT_TRUE(taken.result()) << "output " << i << " cannot be taken: " << taken.result().message;
      const wasinn_tensor view = taken.view();
      EXPECT_EQ(view.bytes, Expected(Inputs(variant))[i].bytes.size()) << "the bytes of output " << i;
      EXPECT_TRUE(view.memory == nullptr || std::string_view(view.memory) == memory)
          << "the memory of output " << i << " is another than the graph's";
    }
    context.Keep({});
    ExpectComputes(&context, Inputs(variant));
    ExpectShows(&context, Expected(Inputs(variant)));
    for (const uint32_t i : all) EXPECT_TRUE(context.View(i).memory == nullptr) << "output " << i << " was not kept";
  }
}

CHECK_OF(Contract, KeptOutputsAreInputsOfOthers, "an output in the graph's own memory can be another slot's input") {
  if (model().info().memory == nullptr) return ReportNothingToCheck("the model computes in the host's memory");
  if (Expected(Inputs(0)).empty()) return ReportNothingToCheck("the model has no output of a compute");
  const Tensor& output = Expected(Inputs(0))[0];
  if (output.dtype != Inputs(0)[0].dtype || output.dims != Inputs(0)[0].dims) {
    return ReportNothingToCheck("the model's first output cannot be its first input");
  }
  std::vector<Tensor> inputs = Inputs(1);
  std::optional<Taken> taken;
  Context second(model(), 0, "{}", &account_);
  {
    Context first(model(), 0, "{}", &account_);
    Set(&first, Inputs(0));
    first.Keep({0});
    ASSERT_TRUE(first.Compute()) << "a compute that keeps an output failed";
    taken.emplace(&first, 0);
    ASSERT_TRUE(taken->result()) << "the output cannot be taken: " << taken->result().message;
  }
  wasinn_tensor kept = taken->view();
  Set(&second, inputs);
  ASSERT_TRUE(second.Bind(0, kept)) << "it cannot be bound";
  inputs[0] = output;
  ExpectComputes(&second, inputs);
  ExpectShows(&second, Expected(inputs));
  if (kept.memory == nullptr) return;
  kept.memory = "nobody's:0";
  EXPECT_EQ(second.Bind(0, kept).code, WASINN_ERROR_INVALID_ARGUMENT) << "a tensor in memory that is not the graph's";
}

}  // namespace
}  // namespace wasinn::check
