// wasi:nn over the echo backend: resources, names, errors, quotas, and what is copied.
#include "unit/wit_guest.h"

namespace wasinn::testing {
namespace {

class WitTest : public ::testing::Test {
 protected:
  void Open(const std::string& toml = "") {
    host_ = EchoHost(log_, toml);
    AddEchoModel(host_.get(), "one", "in x f32 2\n");
    AddEchoModel(host_.get(), "two", "in a f32 2\nin b i32 1\n");
    AddEchoModel(host_.get(), "unnamed", "in a f32 2 any_name\n");
    AddEchoModel(host_.get(), "optional", "in a f32 2\nin b i32 1 optional\n");
    AddEchoModel(host_.get(), "any", "in x f32 any\n");
    guest_ = NewGuest(host_.get());
    program_ = std::make_unique<WitGuest>(guest_.get());
  }
  WitGuest& program() { return *program_; }
  uint32_t Two() { return program().Floats({2}, {1, 2}).rep; }

  // Nothing is held by the guest, nor by the backend once everything is closed.
  void ExpectNothingHeld() {
    const wasinn_statistics stats = program().stats();
    EXPECT_EQ(stats.tensors, 0u);
    EXPECT_EQ(stats.error_objects, 0u);
    EXPECT_EQ(stats.contexts, 0u);
    EXPECT_EQ(stats.graphs, 0u);
    EXPECT_EQ(stats.tensor_bytes, 0u);
  }
  void ExpectNothingLeaks() {
    guest_.reset();
    host_.reset();
    EXPECT_TRUE(log_.Contains("closed with 0 models and 0 slots alive, 0 outputs taken"));
  }

  Log log_;
  HostPtr host_;
  GuestPtr guest_;
  std::unique_ptr<WitGuest> program_;
};

TEST_F(WitTest, TensorsShowWhatTheyWereMadeOf) {
  Open();
  const uint32_t tensor = program().Tensor({2, 3}, kWitI64, {1, 2, 3}).rep;
  EXPECT_THAT(program().Dimensions(tensor), ElementsAre(2, 3));
  EXPECT_EQ(program().Type(tensor), kWitI64);
  EXPECT_THAT(program().Data(tensor), ElementsAre(1, 2, 3)) << "a length that does not fit is an error at compute";
  const uint32_t empty = program().Tensor({}, kWitBf16, {}).rep;
  EXPECT_THAT(program().Dimensions(empty), ElementsAre());
  EXPECT_EQ(program().Type(empty), kWitBf16);
  EXPECT_EQ(program().DropTensor(tensor), "");
  EXPECT_THAT(program().DropTensor(tensor), HasSubstr("not a handle of a live tensor"));
  EXPECT_EQ(program().DropTensor(empty), "");
  ExpectNothingHeld();
}

TEST_F(WitTest, ComputesAndCopiesOnceEachWay) {
  Open();
  const uint32_t context = program().ContextOf("one");
  const Outcome done = program().Compute(context, {{"x", Two()}});
  ASSERT_TRUE(done.ok()) << done;
  ASSERT_EQ(done.outputs.size(), 1u);
  EXPECT_EQ(done.outputs[0].first, "x");
  EXPECT_EQ(program().stats().tensors, 1u) << "the input was consumed";
  EXPECT_EQ(program().stats().copies_out, 0u) << "the data was not requested";
  EXPECT_THAT(program().FloatData(done.outputs[0].second), ElementsAre(1, 2));
  EXPECT_EQ(program().stats().copies_in, 1u);
  EXPECT_EQ(program().stats().copies_out, 1u);
  program().DropTensor(done.outputs[0].second);
  program().DropContext(context);
  ExpectNothingHeld();
}

TEST_F(WitTest, AnOutputOutlivesTheNextComputeItsContextAndItsGraph) {
  Open();
  const uint32_t context = program().ContextOf("one");
  const Outcome first = program().Compute(context, {{"x", Two()}});
  const Outcome second = program().Compute(context, {{"x", program().Floats({2}, {3, 4}).rep}});
  ASSERT_TRUE(second.ok()) << second;
  EXPECT_EQ(program().DropContext(context), "");
  const StatusPtr removed(wasinn_host_remove_model(host_.get(), "one"));
  EXPECT_THAT(program().FloatData(first.outputs[0].second), ElementsAre(1, 2));
  EXPECT_THAT(program().FloatData(second.outputs[0].second), ElementsAre(3, 4));
}

TEST_F(WitTest, AChainOfModelsCopiesNothingBetweenThem) {
  Open();
  const uint32_t first = program().ContextOf("one"), second = program().ContextOf("any");
  const Outcome between = program().Compute(first, {{"x", Two()}});
  ASSERT_TRUE(between.ok()) << between;
  const Outcome last = program().Compute(second, {{"x", between.outputs[0].second}});
  ASSERT_TRUE(last.ok()) << last;
  EXPECT_EQ(program().stats().copies_in, 1u);
  EXPECT_EQ(program().stats().copies_out, 0u);
  EXPECT_THAT(program().FloatData(last.outputs[0].second), ElementsAre(1, 2));
}

TEST_F(WitTest, NamesAreTheModelsOrIndices) {
  Open();
  const uint32_t context = program().ContextOf("two");
  const auto ints = [&] { return program().Tensor({1}, kWitI32, {1, 0, 0, 0}).rep; };
  EXPECT_TRUE(program().Compute(context, {{"b", ints()}, {"a", Two()}}).ok());
  EXPECT_TRUE(program().Compute(context, {{"0", Two()}, {"1", ints()}}).ok());
  const struct {
    WitGuest::Named inputs;
    const char* message;
  } kBad[] = {{{{"c", Two()}, {"b", ints()}}, "the model has no input 'c', only 'a', 'b'"},
              {{{"", Two()}, {"b", ints()}}, "the model has no input '', only 'a', 'b'"},
              {{{"2", Two()}, {"b", ints()}}, "the model has no input '2'"},
              {{{"+1", Two()}, {"b", ints()}}, "the model has no input '+1'"},
              {{{"a", Two()}, {"a", Two()}}, "input 'a' is given twice"},
              {{{"a", Two()}, {"0", Two()}}, "input 'a' is given twice"},
              {{{"a", Two()}}, "input 1 ('b') was not set"},
              {{{"a", Two()}, {"b", ints()}, {"c", Two()}}, "3 inputs are given, the model has 2"},
              {{{"a", ints()}, {"b", ints()}}, "takes f32 [2], given i32 [1]"}};
  EXPECT_TRUE(program().Compute(program().ContextOf("unnamed"), {{"whatever", Two()}}).ok());
  const uint32_t held = program().stats().tensors;
  uint32_t consumed = 0;
  for (const auto& bad : kBad) {
    const Outcome outcome = program().Compute(context, bad.inputs);
    EXPECT_EQ(outcome.error, kWitInvalidArgument) << outcome;
    EXPECT_THAT(outcome.message, HasSubstr(bad.message));
    EXPECT_EQ(program().stats().tensors, held - (consumed += static_cast<uint32_t>(bad.inputs.size())));
  }
}

TEST_F(WitTest, InputsOfOneComputeAreNotThoseOfTheNext) {
  Open();
  const uint32_t context = program().ContextOf("optional");
  const uint32_t number = program().Tensor({1}, kWitI32, {9, 0, 0, 0}).rep;
  ASSERT_TRUE(program().Compute(context, {{"a", Two()}, {"b", number}}).ok());
  const Outcome without = program().Compute(context, {{"a", Two()}});
  ASSERT_TRUE(without.ok()) << without;
  EXPECT_THAT(program().Data(without.outputs[1].second), ElementsAre()) << "echo shows that b is unset";
  EXPECT_EQ(program().Compute(context, {}).error, kWitInvalidArgument);
}

TEST_F(WitTest, AWrongLengthIsReportedAtCompute) {
  Open();
  const uint32_t context = program().ContextOf("one");
  const Outcome outcome = program().Compute(context, {{"x", program().Tensor({2}, kWitF32, {1, 2, 3}).rep}});
  EXPECT_EQ(outcome.error, kWitInvalidArgument);
  EXPECT_THAT(outcome.message, HasSubstr("f32 [2] needs 8 bytes, given 3"));
  EXPECT_EQ(program().stats().tensors, 0u);
}

TEST_F(WitTest, TheOlderFunctions) {
  Open();
  const uint32_t context = program().ContextOf("one");
  EXPECT_EQ(program().ComputeSet(context).error, kWitInvalidArgument);
  EXPECT_EQ(program().GetOutput(context, "x").error, kWitInvalidArgument) << "before a compute";
  EXPECT_EQ(program().SetInput(context, "y", Two()).error, kWitInvalidArgument);
  ASSERT_TRUE(program().SetInput(context, "x", Two()).ok());
  EXPECT_EQ(program().stats().tensors, 0u) << "all were consumed";
  ASSERT_TRUE(program().ComputeSet(context).ok());
  const Outcome output = program().GetOutput(context, "0");
  const Outcome again = program().GetOutput(context, "x");
  ASSERT_TRUE(output.ok() && again.ok()) << output << again;
  ASSERT_TRUE(program().ComputeSet(context).ok()) << "inputs stay set";
  EXPECT_THAT(program().FloatData(output.rep), ElementsAre(1, 2));
  EXPECT_EQ(program().DropTensor(output.rep), "");
  EXPECT_THAT(program().FloatData(again.rep), ElementsAre(1, 2));
  EXPECT_EQ(program().GetOutput(context, "nonsense").error, kWitInvalidArgument);
}

TEST_F(WitTest, ErrorsHaveCodeAndFullMessage) {
  Open("[policy]\nmodels = [\"one\", \"slow\", \"broken\"]\n");
  AddEchoModel(host_.get(), "slow", "in x f32 2\ndelay 1000000\n");
  AddEchoModel(host_.get(), "broken", "in x f32 2\nfail 5\n");
  const auto expect = [&](const Outcome& outcome, uint32_t code, const char* message) {
    EXPECT_EQ(outcome.error, code) << outcome;
    EXPECT_THAT(outcome.message, HasSubstr(message));
  };
  expect(program().LoadByName("two"), kWitSecurity, "policy (policy.models) does not let this guest use model 'two'");
  expect(program().Load("nonsense"), kWitInvalidEncoding, "");
  expect(program().Load("nonsense", 7), kWitInvalidEncoding, "7 is not a graph-encoding");
  expect(program().Load(EchoModel("in x f32 2\n"), 5, 3), kWitInvalidArgument, "3 is not an execution-target");
  expect(program().Load(EchoModel("in x f32 2\n"), 5, 1), kWitUnsupportedOperation, "echo: echo has no gpu");
  const GuestPtr hurried = NewGuest(host_.get(), &wasinn_limits::compute_timeout_ms, 50u);
  WitGuest slow(hurried.get());
  expect(slow.Compute(slow.ContextOf("slow"), {{"x", slow.Floats({2}, {1, 2}).rep}}), kWitTimeout, "after 50 ms");
  expect(program().Compute(program().ContextOf("broken"), {{"x", Two()}}), kWitRuntimeError,
         "echo: compute fails as the model says");
  expect(program().InitContext(12345), kWitInvalidArgument, "is not a handle of a live graph");
  EXPECT_EQ(program().stats().error_objects, 0u);
  Open();
  expect(program().LoadByName("nobody"), kWitNotFound, "nobody");
  expect(program().LoadByName(std::string(1025, 'x')), kWitTooLarge, "a model's name of 1025 bytes");
}

// Several have one word of WIT.
TEST_F(WitTest, AHostGetsTheCodesBehindItsErrors) {
  Open();
  AddEchoModel(host_.get(), "broken", "in x f32 2\nfail 5\n");
  AddEchoModel(host_.get(), "away", "in x f32 2\nfail 15\n");
  const auto status = [&](const char* model, wasinn_code code) {
    const Outcome failed = program().Compute(program().ContextOf(model), {{"x", Two()}});
    EXPECT_EQ(failed.error, kWitRuntimeError) << failed;
    EXPECT_EQ(failed.status, code) << failed;
  };
  status("broken", WASINN_ERROR_RUNTIME);
  status("away", WASINN_ERROR_UNAVAILABLE);
  EXPECT_EQ(program().LoadByName("nobody").status, WASINN_ERROR_NOT_FOUND);
}

TEST_F(WitTest, ErrorsThatGuestsMake) {
  Open();
  uint32_t rep = 0, code = 0;
  const std::string text = "made by a guest";
  const StatusPtr made(wasinn_wit()->error_new(guest_.get(), kWitSecurity, text.data(), text.size(), &rep));
  ASSERT_EQ(made, nullptr);
  const StatusPtr read(wasinn_wit()->error_code(guest_.get(), rep, &code));
  EXPECT_EQ(code, kWitSecurity);
  const StatusPtr reported(wasinn_wit()->error_status(guest_.get(), rep, &code));
  EXPECT_EQ(code, 0U);
  EXPECT_EQ(program().stats().error_objects, 1u);
  EXPECT_EQ(program().DropError(rep), "");
  EXPECT_THAT(program().DropError(rep), HasSubstr("live error"));
}

TEST_F(WitTest, AGuestSeesTypesThatItHasNumbersFor) {
  Open();
  const struct {
    const char* model;
    std::vector<uint32_t> dims;
    uint32_t type;
    size_t bytes;
    std::vector<uint32_t> shown;
  } kTypes[] = {{"bool 3", {3}, kWitU8, 3, {3}},         {"i8 3", {3}, kWitU8, 3, {3}},
                {"u32 2", {2}, kWitI32, 8, {2}},         {"u64 2", {2}, kWitI64, 16, {2}},
                {"i16 2,3", {2, 6}, kWitU8, 12, {2, 6}}, {"u16 scalar", {2}, kWitU8, 2, {2}},
                {"bf16 3", {3}, kWitBf16, 6, {3}},       {"f64 scalar", {1}, kWitF64, 8, {}}};
  for (const auto& type : kTypes) {
    AddEchoModel(host_.get(), "typed", std::string("in x ") + type.model + "\n");
    const uint32_t tensor = program().Tensor(type.dims, type.type, std::vector<uint8_t>(type.bytes, 1)).rep;
    const Outcome done = program().Compute(program().ContextOf("typed"), {{"x", tensor}});
    ASSERT_TRUE(done.ok()) << type.model << ": " << done;
    EXPECT_EQ(program().Type(done.outputs[0].second), type.type) << type.model;
    EXPECT_EQ(program().Dimensions(done.outputs[0].second), type.shown) << type.model;
    EXPECT_EQ(program().Data(done.outputs[0].second).size(), type.bytes) << type.model;
  }
  AddEchoModel(host_.get(), "bools", "in x bool 2\n");
  EXPECT_EQ(program().Compute(program().ContextOf("bools"), {{"x", program().Tensor({2}, kWitU8, {1, 2}).rep}}).error,
            kWitInvalidArgument);
}

TEST_F(WitTest, AnOutputThatCannotBePassedIsAnErrorUnlessOthersAreChosen) {
  Open();
  AddEchoModel(host_.get(), "mixed", "in a f32 2\nin s f32 2 unservable optional\n");
  const uint32_t context = program().ContextOf("mixed");
  EXPECT_EQ(program().Compute(context, {{"a", Two()}}).error, kWitUnsupportedOperation);
  const wasinn_bytes a = {reinterpret_cast<const uint8_t*>("a"), 1};
  wasinn_wit_result chosen{};
  ASSERT_EQ(wasinn_wit()->context_select_outputs(guest_.get(), context, &a, 1, &chosen), nullptr);
  ASSERT_EQ(chosen.is_error, 0);
  const Outcome done = program().Compute(context, {{"a", Two()}});
  ASSERT_TRUE(done.ok()) << done;
  ASSERT_EQ(done.outputs.size(), 1u);
  EXPECT_EQ(done.outputs[0].first, "a");
  EXPECT_EQ(program().Compute(context, {{"a", Two()}, {"s", Two()}}).error, kWitUnsupportedOperation);
}

TEST_F(WitTest, QuotasTrapIfWitHasNoError) {
  Open("[limits]\nmax_tensors = 3\nmax_errors = 2\nmax_tensor_bytes = 100\n");
  EXPECT_THAT(program().Tensor({101}, kWitU8, std::vector<uint8_t>(101)).trap, HasSubstr("limit of 100"));
  EXPECT_THAT(program().Tensor(std::vector<uint32_t>(33, 1), kWitU8, {1}).trap,
              HasSubstr("a tensor of 33 dimensions is over the limit of 32"));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(program().Tensor({1}, kWitU8, {1}).ok());
  EXPECT_THAT(program().Tensor({1}, kWitU8, {1}).trap, HasSubstr("tensors would exceed the limit of 3"));
  EXPECT_EQ(program().stats().tensor_bytes, 3u);
  wasinn_wit_result result{};
  for (int i = 0; i < 3; ++i) {
    const StatusPtr status(wasinn_wit()->graph_load_by_name(guest_.get(), "nobody", 6, &result));
    EXPECT_EQ(status != nullptr, i == 2);
  }
}

TEST_F(WitTest, AnOutputOverTheQuotaIsAnErrorAndNothingIsKept) {
  Open("[limits]\nmax_tensors = 1\n");
  const uint32_t context = program().ContextOf("two");
  uint32_t one = 0;
  ASSERT_TRUE((one = Two()) != 0);
  EXPECT_EQ(program().Compute(context, {{"a", one}}).error, kWitInvalidArgument);
  AddEchoModel(host_.get(), "wide", "in a f32 2\nin b f32 2 optional\n");
  const Outcome outcome = program().Compute(program().ContextOf("wide"), {{"a", Two()}});
  EXPECT_EQ(outcome.error, kWitTooLarge) << outcome;
  EXPECT_EQ(program().stats().tensors, 0u);
}

TEST_F(WitTest, DroppedInAnyOrder) {
  Open("log.level = 'info'\n");
  const Outcome graph = program().LoadByName("one");
  const Outcome context = program().InitContext(graph.rep);
  const Outcome done = program().Compute(context.rep, {{"x", Two()}});
  EXPECT_EQ(program().DropGraph(graph.rep), "");
  ASSERT_TRUE(program().Compute(context.rep, {{"x", Two()}}).ok());
  EXPECT_EQ(program().DropContext(context.rep), "");
  EXPECT_NE(program().DropContext(context.rep), "");
  EXPECT_NE(program().DropGraph(graph.rep), "");
  EXPECT_EQ(program().Compute(context.rep, {{"x", Two()}}).error, kWitInvalidArgument);
  EXPECT_THAT(program().FloatData(done.outputs[0].second), ElementsAre(1, 2));
  ExpectNothingLeaks();  // a tensor is still held: closing frees it
}

TEST_F(WitTest, RepsOfOtherKindsAreRefused) {
  Open();
  const Outcome graph = program().LoadByName("one");
  const uint32_t tensor = Two();
  EXPECT_NE(program().DropTensor(graph.rep), "");
  EXPECT_NE(program().DropGraph(tensor), "");
  EXPECT_NE(program().DropError(tensor), "");
  EXPECT_NE(program().DropContext(graph.rep), "");
  EXPECT_EQ(program().InitContext(tensor).error, kWitInvalidArgument);
  const uint32_t context = program().ContextOf("one");
  EXPECT_EQ(program().Compute(context, {{"x", graph.rep}}).error, kWitInvalidArgument);
}

TEST_F(WitTest, AClosedGuestTraps) {
  Open("log.level = 'info'\n");
  const uint32_t tensor = Two();
  ASSERT_TRUE(program().Compute(program().ContextOf("one"), {{"x", tensor}}).ok());
  EXPECT_EQ(program().stats().tensors, 1u);
  wasinn_guest_close(guest_.get());
  EXPECT_EQ(program().stats().tensors, 0u);
  EXPECT_THAT(program().Tensor({1}, kWitU8, {1}).trap, HasSubstr("closed"));
  EXPECT_THAT(program().DropTensor(tensor), HasSubstr("closed"));
  EXPECT_THAT(program().LoadByName("one").trap, HasSubstr("closed"));
  WitGuest nobody(nullptr);
  EXPECT_THAT(nobody.LoadByName("one").trap, HasSubstr("not known"));
  ExpectNothingLeaks();
}

TEST_F(WitTest, DescribesAModel) {
  Open();
  AddEchoModel(host_.get(), "odd",
               "in a bool -1,2 optional\nin b bf16 any\nin c u8 any opaque\nin d nothing 1 unservable\n");
  const auto describe = [&](uint32_t graph) {
    wasinn_wit_view view{};
    const StatusPtr status(wasinn_wit()->describe(guest_.get(), graph, &view));
    if (status != nullptr) return std::string(wasinn_status_message(status.get()));
    std::string text(static_cast<const char*>(view.data), view.count);
    view.release(view.owner);
    return text;
  };
  const std::string text = describe(program().LoadByName("odd").rep);
  for (const char* part :
       {R"({"name":"a","type":"bool","shape":[-1,2],"optional":true})", R"({"name":"b","type":"bf16","shape":null})",
        R"({"name":"c","type":"u8","shape":null,"opaque":true})",
        R"({"name":"d","type":"echo","shape":[1],"unservable":true})"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
  EXPECT_THAT(describe(7), HasSubstr("not a handle of a live graph"));
}

TEST_F(WitTest, LimitsForEngines) {
  Open(
      "[limits]\nmax_tensor_bytes = 5000000\nmax_model_bytes = 7000000\nmax_tensors = 10\nmax_errors = 4\n"
      "max_graphs = 2\nmax_contexts = 3\n");
  wasinn_wit_limits limits{.struct_size = sizeof(limits)};
  wasinn_wit_guest_limits(guest_.get(), &limits);
  EXPECT_GE(limits.max_call_bytes, 7'000'000u);
  EXPECT_LT(limits.max_call_bytes, 9'000'000u);
  EXPECT_EQ(limits.max_handles, 19u);
}

}  // namespace
}  // namespace wasinn::testing
