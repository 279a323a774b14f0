// Tensors of pipelines that stay in the memory of a device. Echo's device gives away what is no address in the host's
// memory: a read there ends the OS process.
#include "unit/pipeline_host.h"

namespace wasinn::testing {
namespace {

class Devices : public PipelineTest {
 protected:
  std::string Describe(const HostPtr& host, const char* name) {
    BytesGuest guest(host.get());
    uint32_t graph = 0;
    EXPECT_EQ(guest.LoadByName(name, graph), kSuccess);
    return guest.Text("wasinn_ext_0.describe", {graph});
  }
  // Again and again, with other bytes.
  void ExpectEcho(const HostPtr& host, const char* name) {
    BytesGuest guest(host.get());
    const uint32_t context = guest.NewContext(name);
    for (uint8_t i = 1; i < 4; ++i) {
      ASSERT_EQ(guest.Compute(context, {i, 2, 3, 4}), kSuccess) << guest.LastError();
      EXPECT_THAT(guest.Output(context), ElementsAre(i, 2, 3, 4));
    }
  }
};

// Cases: the allocator of outputs, and whether the slot is the context's own.
TEST_F(Devices, TensorsBetweenStepsStayThere) {
  const std::string kinds[] = {"in x u8 4\n", "in x u8 4 bindable\n", "in x u8 -1\n", "in x u8 4 bindable\nshares\n"};
  for (size_t i = 0; i < std::size(kinds); ++i) {
    const std::string n = std::to_string(i);
    Model("m" + n, kinds[i] + "memory npu:0\n");
    const std::string step = "model_name = 'm" + n + "'";
    Pipeline("p" + n, "{" + step + ", output_map = {x = 'a'}}, {" + step +
                          ", input_map = {x = 'a'}, output_map = {x = 'b'}}, {" + step +
                          ", input_map = {x = 'b'}, output_map = {x = 'c'}}");
  }
  const HostPtr host = Host();
  for (const char* name : {"p0", "p1", "p2", "p3"}) {
    ExpectEcho(host, name);
    const std::string described = Describe(host, name);
    EXPECT_THAT(described, HasSubstr(R"("output_map":{"x":"a"},"kept":["a"],"memory":"npu:0")"));
    EXPECT_THAT(described, HasSubstr(R"("output_map":{"x":"b"},"kept":["b"])"));
    EXPECT_THAT(described, Not(HasSubstr(R"("kept":["c"])"))) << "the guest's";
  }
}

// Users of the output: another device, the host, several of which one is elsewhere, a guest that wants it too; and
// outputs that the host checks.
TEST_F(Devices, OrComeBackForStepsThatComputeElsewhere) {
  Model("here", "in x u8 4\nmemory npu:0\n");
  Model("there", "in x u8 4\nmemory npu:1\n");
  Model("host", "in x u8 4\n");
  Model("bools", "in x bool 4\nmemory npu:0\n");
  const std::string make = "{model_name = 'here', output_map = {x = 'a'}}, ";
  const std::string take = ", input_map = {x = 'a'}, output_map = {x = 'b'}}";
  Pipeline("other", make + "{model_name = 'there'" + take);
  Pipeline("cpu", make + "{model_name = 'host'" + take);
  Pipeline("both", make + "{model_name = 'here'" + take +
                       ", {model_name = 'host', input_map = {x = 'a'}, output_map = {x = 'c'}}");
  Pipeline("wanted", make + "{model_name = 'here'" + take, "outputs = ['b', 'a']\n");
  Pipeline("bool", "{model_name = 'bools', output_map = {x = 'a'}}, {model_name = 'bools'" + take);
  const HostPtr host = Host();
  for (const char* name : {"other", "cpu", "both", "wanted", "bool"}) {
    EXPECT_THAT(Describe(host, name), Not(HasSubstr("kept"))) << name;
    if (std::string_view(name) != "bool") ExpectEcho(host, name);
  }
}

// Guests that chain by themselves, and batches, get what is in the host's memory.
TEST_F(Devices, NothingElseIsThere) {
  Model("m", "in x u8 -1,4\nmemory npu:0\n");
  Model("batched", "in x u8 -1,4\nmemory npu:0\n", "batching = { max_batch_size = 4 }\n");
  const std::string steps =
      "{model_name = 'batched', output_map = {x = 'a'}}, {model_name = 'batched', input_map = {x = 'a'}, output_map = "
      "{x = 'b'}}";
  Pipeline("p", steps);
  const HostPtr host = Host();
  BytesGuest guest(host.get());
  const uint32_t input = guest.wit.Tensor({1, 4}, kWitU8, {1, 2, 3, 4}).rep;
  const Outcome first = guest.wit.Compute(guest.wit.ContextOf("m"), {{"x", input}});
  ASSERT_TRUE(first.ok()) << first;
  const Outcome second = guest.wit.Compute(guest.wit.ContextOf("m"), {{"x", first.outputs[0].second}});
  ASSERT_TRUE(second.ok()) << second;
  EXPECT_THAT(guest.wit.Data(second.outputs[0].second), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(Describe(host, "p"), Not(HasSubstr("kept")));
}

// The guest pays for its memory, on any device.
TEST_F(Devices, MemoryThatStaysOnTheDeviceIsCharged) {
  Model("m", "in x u8 -1\nmemory npu:0\n");
  Model("grows", "in x u8 -1\noutgrows 4000\nmemory npu:0\n");
  Pipeline("p",
           "{model_name = 'grows', output_map = {x = 'a'}}, {model_name = 'm', input_map = {x = 'a'}, output_map = {x "
           "= 'b'}}");
  const HostPtr host = Host("[limits]\nmax_tensor_bytes = 3000\n");
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("p");
  EXPECT_NE(guest.Compute(context, {1}), kSuccess);
  EXPECT_THAT(guest.LastError(), HasSubstr("max_tensor_bytes"));
  EXPECT_EQ(guest.Stats().tensor_bytes, 1u) << "its input";
}

// A backend whose output is there, although that was not requested.
TEST_F(Devices, AnOutputThatStraysToTheDeviceIsAnError) {
  for (const std::string more : {"", "shares\n"}) {
    const std::string name = "m" + more.substr(0, 1);
    Model(name, "in x u8 4\nmemory npu:0\nstrays\n" + more);
    const HostPtr host = Host();
    BytesGuest guest(host.get());
    const uint32_t context = guest.NewContext(name);
    EXPECT_NE(guest.Compute(context, {1, 2, 3, 4}), kSuccess);
    EXPECT_THAT(guest.LastError(), HasSubstr("is in the memory of npu:0: expected the host's"));
  }
}

// Nothing stays behind a step that fails or is stopped, whosever the slot is.
TEST_F(Devices, AFailedComputeLeavesNoMemoryOnTheDevice) {
  const std::string kinds[] = {"", "shares\n"};
  for (const std::string& more : kinds) {
    const std::string n = more.substr(0, 1);
    const auto model = [&](const std::string& name, const std::string& directives) {
      Model(name + n, "in x u8 -1\nmemory npu:0\n" + more + directives);
      if (name == "m") return;
      Pipeline(name + "_p" + n, "{model_name = 'm" + n + "', output_map = {x = 'a'}}, {model_name = '" + name + n +
                                    "', input_map = {x = 'a'}, output_map = {x = 'b'}}");
    };
    model("m", "");
    model("fails", "fail 7\n");
    model("slow", "endless 9\n");
    model("grows", "outgrows 4000\n");
  }
  const HostPtr host = Host("[limits]\nmax_tensor_bytes = 3000\n");
  for (const char* name : {"fails_p", "slow_p", "grows_p", "fails_ps", "slow_ps", "grows_ps"}) {
    BytesGuest guest(NewGuest(host.get(), &wasinn_limits::compute_timeout_ms, 100u));
    const uint32_t context = guest.NewContext(name);
    for (int i = 0; i < 2; ++i) {
      EXPECT_NE(guest.Compute(context, {9, 2, 3, 4}), kSuccess) << name;
      EXPECT_EQ(guest.held(), 4u) << name << ": its input";
    }
    EXPECT_EQ(guest.Finalize(context), kSuccess);
    EXPECT_EQ(guest.held(), 0u) << name;
  }
  ExpectEcho(host, "slow_p");
  ExpectEcho(host, "slow_ps");
}

TEST_F(Devices, TensorsWithoutElementsAreThere) {
  for (const std::string more : {"", "shares\n"}) {
    const std::string name = "m" + more.substr(0, 1);
    Model(name, "in x u8 -1\nmemory npu:0\n" + more);
    Pipeline("p" + more.substr(0, 1), "{model_name = '" + name + "', output_map = {x = 'a'}}, {model_name = '" + name +
                                          "', input_map = {x = 'a'}, output_map = {x = 'b'}}");
  }
  const HostPtr host = Host();
  for (const char* name : {"p", "ps"}) {
    BytesGuest guest(host.get());
    const uint32_t context = guest.NewContext(name);
    for (const std::vector<uint8_t>& bytes : {std::vector<uint8_t>{}, {1, 2}, {}}) {
      ASSERT_EQ(guest.Compute(context, bytes), kSuccess) << guest.LastError();
      EXPECT_EQ(guest.Output(context), bytes);
    }
  }
}

// Outputs that were to be bound, and are larger than their signature.
TEST_F(Devices, WhatOutgrowsItsSignatureIsCharged) {
  for (const std::string more : {"", "shares\n"}) {
    const std::string n = more.substr(0, 1);
    Model("g" + n, "in x u8 4 bindable\noutgrows 3000\nmemory npu:0\n" + more);
    Model("m" + n, "in x u8 -1\nmemory npu:0\n" + more);
    Pipeline("p" + n, "{model_name = 'g" + n + "', output_map = {x = 'a'}}, {model_name = 'm" + n +
                          "', input_map = {x = 'a'}, output_map = {x = 'b'}}");
  }
  const HostPtr host = Host("[limits]\nmax_tensor_bytes = 10000\n");
  for (const char* name : {"p", "ps"}) {
    BytesGuest guest(host.get());
    const uint32_t context = guest.NewContext(name);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(guest.Compute(context, {1, 2, 3, 4}), kSuccess) << name << guest.LastError();
    EXPECT_LE(guest.held(), 3012u) << name << ": input, output and what the slot may have";
    BytesGuest poor(NewGuest(host.get(), &wasinn_limits::max_tensor_bytes, 2999));
    EXPECT_EQ(poor.Compute(poor.NewContext(name), {1, 2, 3, 4}), kTooLarge) << name;
  }
}

// Inner pipelines, workers and batches are between devices and the host.
TEST_F(Devices, StepsThatAreElsewhere) {
  Model("m", "in x u8 4\nmemory npu:0\n");
  Model("apart", "in x u8 4\nmemory npu:0\n", "isolate = true\n");
  Pipeline("inner",
           "{model_name = 'm', output_map = {x = 'a'}}, {model_name = 'm', input_map = {x = 'a'}, output_map "
           "= {x = 'o'}}");
  const auto of = [](const std::string& first, const std::string& input, const std::string& made,
                     const std::string& second, const std::string& taken, const std::string& out) {
    return "{model_name = '" + first + "', input_map = {" + input + " = 'i'}, output_map = {" + made +
           " = 't'}}, {model_name = '" + second + "', input_map = {" + taken + " = 't'}, output_map = {" + out +
           " = 'z'}}";
  };
  Pipeline("in_out", of("inner", "x", "o", "m", "x", "x"));
  Pipeline("out_in", of("m", "x", "x", "inner", "x", "o"));
  Pipeline("apart_m", of("apart", "x", "x", "m", "x", "x"));
  Pipeline("m_apart", of("m", "x", "x", "apart", "x", "x"));
  const HostPtr host = Host();
  for (const char* name : {"in_out", "out_in", "apart_m", "m_apart"}) {
    EXPECT_THAT(Describe(host, name), Not(HasSubstr(R"("kept":["t"])"))) << name;
    ExpectEcho(host, name);
  }
}

// On slots of one model that all share.
TEST_F(Devices, ContextsRunAtTheSameTime) {
  Model("m", "in x u8 4 bindable\nshares\nturns 2\nmemory npu:0\n");
  Pipeline("p",
           "{model_name = 'm', output_map = {x = 'a'}}, {model_name = 'm', input_map = {x = 'a'}, output_map = {x "
           "= 'b'}}");
  const HostPtr host = Host();
  std::vector<std::thread> threads;
  for (uint8_t i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      BytesGuest guest(host.get());
      const uint32_t context = guest.NewContext(i % 2 == 0 ? "p" : "m");
      for (uint8_t j = 0; j < 50; ++j) {
        ASSERT_EQ(guest.Compute(context, {i, j, 3, 4}), kSuccess) << guest.LastError();
        ASSERT_THAT(guest.Output(context), ElementsAre(i, j, 3, 4));
        guest.Rewind();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace wasinn::testing
