// Models, outputs, limits.

#include <map>
#include <memory>
#include <vector>

#include "check/contract_check.h"
#include "check/failures.h"
#include "common/dtype.h"

namespace wasinn::check {
namespace {

void ExpectPort(const wasinn_io& io, const Port& port) {
  EXPECT_EQ(io.struct_size, sizeof(wasinn_io)) << "struct_size of '" << port.name << "'";
  EXPECT_EQ(io.name, port.name) << "a name";
  EXPECT_EQ(io.dtype, port.dtype) << "the type of '" << port.name << "'";
  EXPECT_EQ(io.flags & ~uint32_t{WASINN_IO_BINDABLE}, port.flags) << "the flags of '" << port.name << "'";
  if (port.any_rank) {
    EXPECT_EQ(io.rank, -1) << "the rank of '" << port.name << "'";
  } else {
    EXPECT_EQ(std::vector(io.dims, io.dims + io.rank), port.dims) << "the dims of '" << port.name << "'";
  }
}

CHECK_OF(Contract, ReportsTheModelsSignature, "info lists the inputs and outputs, in structs of their size") {
  const wasinn_info& info = model().info();
  EXPECT_EQ(info.struct_size, sizeof info) << "struct_size of info";
  ASSERT_EQ(info.n_inputs, subject().inputs.size()) << "the number of inputs";
  const bool is_late = info.n_outputs == WASINN_COUNT_UNKNOWN;
  EXPECT_TRUE(!is_late || (info.outputs == nullptr && table().outputs != nullptr))
      << "if the outputs are only known after a compute, info has none and the table has `outputs`";
  ASSERT_EQ(is_late ? 0 : info.n_outputs, subject().outputs.size()) << "the number of outputs";
  for (uint32_t i = 0; i < info.n_inputs; ++i) ExpectPort(*info.inputs[i], subject().inputs[i]);
  uint32_t bindable = 0;
  for (uint32_t i = 0; i < subject().outputs.size(); ++i) {
    ExpectPort(*info.outputs[i], subject().outputs[i]);
    if ((info.outputs[i]->flags & WASINN_IO_BINDABLE) != 0) ++bindable;
  }
  EXPECT_EQ(bindable, subject().bindable) << "the number of outputs that can be bound";
  EXPECT_EQ((info.flags & WASINN_GRAPH_SHARES_SLOTS) != 0, subject().shares_slots) << "whether slots are shared";
  EXPECT_EQ(&model().info(), &info) << "the address of info, which lives as long as the model";
}

CHECK_OF(Contract, HasWholeSetsOfFunctions, "the table has whole sets of functions") {
  EXPECT_EQ(table().cancel != nullptr, subject().cancels) << "whether there is cancel";
  EXPECT_TRUE(table().bind_input != nullptr) << "there is no bind_input";
  EXPECT_TRUE(table().unbind_input != nullptr) << "there is no unbind_input";
  EXPECT_TRUE((table().bind_align & (table().bind_align - 1)) == 0)
      << "bind_align is " << table().bind_align << ", which is not a power of two";
  EXPECT_EQ(table().take_output != nullptr, subject().takes_outputs) << "whether there is take_output";
  EXPECT_EQ(table().discard_outputs != nullptr, subject().discards_outputs) << "whether there is discard_outputs";
  EXPECT_EQ(table().step != nullptr, subject().generates) << "whether there is step";
  EXPECT_EQ(table().piece != nullptr, subject().generates) << "whether there is piece";
  EXPECT_EQ(table().finish != nullptr, subject().generates) << "whether there is finish";
  EXPECT_TRUE(table().bind_output != nullptr || subject().bindable == 0)
      << "an output can be bound, and there is no bind_output";
  EXPECT_TRUE(table().reset != nullptr || !subject().shares_slots) << "slots are shared, and there is no reset";
}

// The rank and dims of a signature may be open.
bool Fits(const wasinn_io& io, const wasinn_tensor& view) {
  if (io.dtype != WASINN_DTYPE_UNKNOWN && io.dtype != view.dtype) return false;
  if (io.rank < 0) return true;
  if (static_cast<uint32_t>(io.rank) != view.rank) return false;
  for (uint32_t i = 0; i < view.rank; ++i) {
    if (io.dims[i] >= 0 && io.dims[i] != view.dims[i]) return false;
  }
  return true;
}

CHECK_OF(Contract, OutputsAreWhatTheySay,
         "an output has the type and dims of the signature, and their number of bytes") {
  Context context(model(), 0, "{}", &account_);
  Set(&context, Inputs(0));
  ExpectComputes(&context, Inputs(0));
  const wasinn_info& info = model().info();
  std::map<uint32_t, wasinn_tensor> views;  // all before the first is looked at: one must not change another
  for (uint32_t i = 0; info.n_outputs != WASINN_COUNT_UNKNOWN && i < info.n_outputs; ++i) {
    if ((info.outputs[i]->flags & WASINN_IO_UNSERVABLE) == 0) views.emplace(i, context.View(i));
  }
  for (const auto& [i, view] : views) {
    ASSERT_TRUE(view.rank <= WASINN_MAX_RANK)
        << "output " << i << " has " << view.rank << " dimensions, which are too many";
    EXPECT_EQ(view.bytes, backend::TensorBytes({view.dims, view.rank}, backend::ElementSize(view.dtype)))
        << "the number of bytes of output " << i;
    EXPECT_TRUE(view.data != nullptr || view.bytes == 0) << "output " << i << " has no data";
    EXPECT_TRUE(Fits(*info.outputs[i], view)) << "output " << i << " is not of its signature";
    EXPECT_EQ(view.struct_size, sizeof view) << "struct_size of the view of output " << i << ", which is the host's";
  }
}

CHECK_OF(Contract, OutputsAreShownUntilTheNextCompute,
         "outputs stay as they are until the next compute, whatever happens to inputs") {
  Context context(model(), 0, "{}", &account_);
  Set(&context, Inputs(0));
  ExpectComputes(&context, Inputs(0));
  const std::vector<Tensor>& expected = Expected(Inputs(0));
  std::vector<wasinn_tensor> views;
  views.reserve(expected.size());
  for (uint32_t i = 0; i < expected.size(); ++i) views.push_back(context.View(i));
  const auto lent = Lend(Inputs(2));
  const auto expect_shown = [&] {
    ExpectShows(&context, expected);
    for (size_t i = 0; i < views.size(); ++i) {
      EXPECT_EQ(std::string(static_cast<const char*>(views[i].data), views[i].bytes), expected[i].bytes)
          << "the earlier view of output " << i;
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

CHECK_OF(Contract, TakenOutputsOutliveComputesAndContexts, "outputs that were taken outlive computes and slots") {
  if (table().take_output == nullptr) return ReportNothingToCheck("there is no take_output");
  std::vector<std::unique_ptr<Taken>> taken;
  std::vector<Tensor> expected;
  {
    Context context(model(), 0, "{}", &account_);
    EXPECT_EQ(Taken(&context, 0).result().code, WASINN_ERROR_INVALID_ARGUMENT) << "taking output 0 before a compute";
    for (int variant = 0; variant < 3; ++variant) {
      const auto lent = Lend(Inputs(variant));
      if (variant == 1) Bind(&context, lent);
      if (variant != 1) Set(&context, Inputs(variant));
      ExpectComputes(&context, Inputs(variant));
      const std::vector<Tensor>& outputs = Expected(Inputs(variant));
      for (uint32_t i = 0; i < outputs.size(); ++i) {
        taken.push_back(std::make_unique<Taken>(&context, i));
        ASSERT_TRUE(taken.back()->result()) << "output " << i << " cannot be taken: " << taken.back()->result().message;
        EXPECT_EQ(Taken(&context, i).result().code, WASINN_ERROR_INVALID_ARGUMENT) << "taking output " << i << " twice";
        expected.push_back(outputs[i]);
        Tensor none;
        EXPECT_EQ(context.Get(i, &none).code, WASINN_ERROR_INVALID_ARGUMENT)
            << "getting output " << i << ", which was taken";
      }
      for (uint32_t i = 0; variant == 1 && i < n_inputs(); ++i) {
        context.Unbind(i);
        lent[i]->Revoke();
      }
    }
    Set(&context, Inputs(0));
    ExpectComputes(&context, Inputs(0));
  }
  for (size_t i = 0; i < taken.size(); ++i) {
    EXPECT_EQ(taken[i]->Read().dims, expected[i].dims) << "the dims of an output that was taken";
    EXPECT_EQ(taken[i]->Read().bytes, expected[i].bytes) << "the bytes of an output that was taken";
  }
}

CHECK_OF(Contract, TakenOutputsAreInputsOfOthers, "an output that was taken can be another slot's input") {
  if (table().take_output == nullptr) return ReportNothingToCheck("there is no take_output");
  if (Expected(Inputs(0)).empty()) return ReportNothingToCheck("the model has no output of a compute");
  const Tensor& output = Expected(Inputs(0))[0];
  if (output.dtype != Inputs(0)[0].dtype || output.dims != Inputs(0)[0].dims) {
    return ReportNothingToCheck("the model's first output cannot be its first input");
  }
  Context first(model(), 0, "{}", &account_), second(model(), 0, "{}", &account_);
  Set(&first, Inputs(0));
  ExpectComputes(&first, Inputs(0));
  std::vector<Tensor> inputs = Inputs(1);
  inputs[0] = Expected(Inputs(0))[0];
  const Taken taken(&first, 0);
  ASSERT_TRUE(taken.result()) << "output 0 cannot be taken: " << taken.result().message;
  Set(&second, Inputs(1));
  const Result bound = second.Bind(0, taken.view());
  ASSERT_TRUE(bound) << "an output that was taken cannot be bound as an input: " << bound.message;
  ExpectComputes(&second, inputs);
  ExpectComputes(&first, Inputs(0));
  ExpectComputes(&second, inputs);
  second.Unbind(0);
}

CHECK_OF(Contract, BoundOutputsFollowTheirMemory,
         "a bound output is in its memory after each compute, and not where it was bound before") {
  if (subject().bindable == 0) return ReportNothingToCheck("the model has no output that can be bound");
  Context context(model(), 0, "{}", &account_);
  Set(&context, Inputs(0));
  const wasinn_compute_options options = {.struct_size = sizeof(options), .n_wanted = 0, .wanted = nullptr};
  wasinn_compute_result result = {.struct_size = sizeof(result)};
  EXPECT_EQ(TakeError(table().compute(context.get(), &options, &result)).code, WASINN_ERROR_INVALID_ARGUMENT)
      << "compute where no output is bound";
  std::vector<std::unique_ptr<Taken>> taken;  // so that each compute has other memory
  for (int variant = 0; variant < 3; ++variant) {
    Set(&context, Inputs(variant));
    ExpectComputes(&context, Inputs(variant));
    EXPECT_FALSE(context.has_outputs_elsewhere()) << "outputs are elsewhere, and the signature is true";
    ExpectComputes(&context, Inputs(variant));
    for (uint32_t i = 0; i < Expected(Inputs(variant)).size(); ++i) {
      if (!IsBindable(i)) continue;
      wasinn_tensor small = context.View(i);
      small.bytes -= 1;
      EXPECT_EQ(TakeError(table().bind_output(context.get(), i, &small)).code, WASINN_ERROR_INVALID_ARGUMENT)
          << "binding output " << i << " to too few bytes";
      taken.push_back(std::make_unique<Taken>(&context, i));
      EXPECT_EQ(taken.back()->Read().bytes, Expected(Inputs(variant))[i].bytes)
          << "the memory that was bound as output " << i;
    }
  }
}

// The bound memory is freed by then.
CHECK_OF(Contract, ASlotThatIsResetIsAsNew, "a slot that was reset has no earlier input, output or memory") {
  if (!subject().shares_slots) return ReportNothingToCheck("the model's slots are not shared");
  Context context(model(), 0, "{}", &account_);
  for (int variant = 0; variant < 3; ++variant) {
    ExpectNoOutput(&context);
    if (needs_inputs()) {
      EXPECT_EQ(context.Compute().code, WASINN_ERROR_INVALID_ARGUMENT) << "compute where no input is set";
      ExpectNoOutput(&context);
    }
    auto lent = Lend(Inputs(variant));
    if (variant == 1) Bind(&context, lent);
    if (variant != 1) Set(&context, Inputs(variant));
    ExpectComputes(&context, Inputs(variant));
    lent.clear();  // while the slot is idle
    const Result reset = context.Reset();
    ASSERT_TRUE(reset) << "reset fails: " << reset.message;
    ExpectNoOutput(&context);
  }
  ASSERT_TRUE(context.Reset()) << "a second reset fails";
  Set(&context, Inputs(0));
  ExpectComputes(&context, Inputs(0));
}

CHECK_OF(Contract, OnlyWhatIsWantedNeedBeThere, "outputs that are wanted are there") {
  Context context(model(), 0, "{}", &account_);
  Set(&context, Inputs(0));
  const std::vector<Tensor>& expected = Expected(Inputs(0));
  for (uint32_t i = 0; i < expected.size(); ++i) {
    const Result computed = context.Compute({i});
    ASSERT_TRUE(computed) << "compute fails: " << computed.message;
    Tensor shown;
    ASSERT_TRUE(context.Get(i, &shown)) << "output " << i << ", which was wanted, cannot be got";
    EXPECT_EQ(shown.bytes, expected[i].bytes) << "output " << i << ", which was wanted";
    const uint32_t other = (i + 1) % static_cast<uint32_t>(expected.size());
    if (other == i || IsBindable(other)) continue;
    ASSERT_TRUE(context.Get(other, &shown))
        << "output " << other << " cannot be got: what is held of it is to be shown";
    if (!subject().wants_outputs && shown.bytes.empty()) continue;
    EXPECT_EQ(shown.bytes, subject().wants_outputs.value_or(false) ? "" : expected[other].bytes)
        << "output " << other << ", which was not wanted";
  }
  ExpectComputes(&context, Inputs(0));
}

CHECK_OF(Contract, DiscardedOutputsAreGoneUntilTheNextCompute,
         "outputs that were discarded are gone until the next compute") {
  if (table().discard_outputs == nullptr) return ReportNothingToCheck("there is no discard_outputs");
  Context context(model(), 0, "{}", &account_);
  context.DiscardOutputs();
  Set(&context, Inputs(0));
  for (int n = 0; n < 3; ++n) {
    ExpectComputes(&context, Inputs(0));
    context.DiscardOutputs();
    ExpectNoOutput(&context);
  }
  Set(&context, Inputs(1));
  ExpectComputes(&context, Inputs(1));
}

// It may come just before a compute begins its work, or just after its end.
CHECK_OF(Contract, ACancelIsForItsComputeOnly, "a cancel that comes during a compute does the next one no harm") {
  if (table().cancel == nullptr) return ReportNothingToCheck("there is no cancel");
  Context context(model(), 0, "{}", &account_);
  Set(&context, Inputs(0));
  for (int n = 0; n < 10; ++n) {
    const Result cancelled = context.ComputeCancelled();
    EXPECT_TRUE(cancelled || !cancelled.message.empty()) << "a compute that was cancelled does not say so";
    ExpectComputes(&context, Inputs(0));
  }
}

CHECK_OF(Contract, AComputeWithoutAThreadIsTheSame, "compute_async does what compute does, and reports its end once") {
  if (table().compute_async == nullptr) return ReportNothingToCheck("there is no compute_async");
  if (model().info().max_parallel != UINT32_MAX) return ReportNothingToCheck("the model's computes take turns");
  Context context(model(), 0, "{}", &account_);
  context.ComputeAsync();
  Set(&context, Inputs(0));
  for (int n = 0; n < 3; ++n) {
    if (table().cancel != nullptr) (void)context.ComputeCancelled();
    ExpectComputes(&context, Inputs(0));
  }
  Set(&context, Inputs(1));
  ExpectComputes(&context, Inputs(1));
}

// The context may need it, or a compute, or neither: the same context works when there is more.
CHECK_OF(Contract, MemoryBeyondTheAccountIsTooLargeAndTheSlotStillWorks,
         "if memory cannot be reserved, the call is too_large, and the slot still works") {
  account_.limit = 0;
  const wasinn_slot_options options = {.struct_size = sizeof(options), .guest_config = "{}", .account = &account_};
  wasinn_backend_slot* poor = nullptr;
  const Result made = TakeError(table().slot_new(model().get(), &options, &poor));
  EXPECT_EQ(made.code, made ? WASINN_OK : WASINN_ERROR_TOO_LARGE) << "slot_new where no memory can be reserved";
  EXPECT_EQ(account_.used.load(), 0u) << "bytes that are charged where none can be";
  if (poor != nullptr) table().slot_free(poor);
  account_.limit = UINT64_MAX;
  Context context(model(), 0, "{}", &account_);
  Set(&context, Inputs(0));
  account_.limit = 0;
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, computed ? WASINN_OK : WASINN_ERROR_TOO_LARGE) << "compute where no memory can be reserved";
  if (!computed) ExpectNoOutput(&context);
  account_.limit = UINT64_MAX;
  ExpectComputes(&context, Inputs(0));
}

// Bytes without the encoding: none, a text, and the beginnings of other frameworks' files.
CHECK_OF(Contract, BytesThatAreNoModelAreOfAnInvalidEncoding, "bytes that are not of the format are invalid_encoding") {
  const std::string own = subject().bytes();
  for (const std::string& bytes :
       {std::string(), std::string("a"), std::string("no model of any kind, but a text\n"), std::string(100, '\0'),
        std::string("GGUF\3\0\0\0", 8), std::string("PK\3\4\0\0\0\0", 8), std::string("\x1c\0\0\0TFL3\0\0\0\0", 12),
        std::string("<?xml version=\"1.0\"?><nothing/>"), own.substr(0, own.size() / 2)}) {
    if (bytes.starts_with("GGUF") && own.starts_with("GGUF")) continue;
    const Model none(host(), bytes, subject().options);
    EXPECT_EQ(none.loaded().code, WASINN_ERROR_INVALID_ENCODING)
        << "loading " << bytes.size() << " bytes that begin \"" << bytes.substr(0, 20) << "\"";
  }
}

CHECK_OF(ContractOfShapes, OverTheLimitAreTooLargeAndLeaveTheInputs,
         "a compute over max_bytes is too_large, and leaves the inputs") {
  Context context(model(), 1 << 20, "{}", &account_);
  std::vector<Tensor> inputs = Inputs(0, 1);
  const uint32_t last = n_inputs() - 1;
  Set(&context, inputs);
  ExpectComputes(&context, inputs);
  for (int n = 0; n < 2; ++n) {
    ASSERT_TRUE(context.Set(last, Inputs(0, 1 << 20)[last])) << "input " << last << " is refused";
    const Result computed = context.Compute();
    if (!subject().has_limits) {
      EXPECT_TRUE(computed) << "compute fails: " << computed.message;
      continue;
    }
    EXPECT_EQ(computed.code, WASINN_ERROR_TOO_LARGE) << "compute over max_bytes";
    ExpectNoOutput(&context);
    inputs[last] = Inputs(1, 3)[last];
    ASSERT_TRUE(context.Set(last, inputs[last])) << "input " << last << " is refused";
    ExpectComputes(&context, inputs);  // on the other inputs, which were not set again
  }
}

}  // namespace
}  // namespace wasinn::check
