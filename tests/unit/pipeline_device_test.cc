// Tensors of pipelines that stay in the memory of a device. Echo's device gives away what is no address in the host's
// memory: whoever reads there ends the OS process.
#include <gmock/gmock.h>

#include "unit/pipeline_host.h"

namespace wasinn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class Devices : public PipelineTest {
 protected:
  std::string Describe(const HostPtr& host, const char* name) {
    BytesGuest guest(host.get());
    uint32_t graph = 0;
    EXPECT_EQ(guest.calls.LoadByName(name, graph), kSuccess);
    return Text(guest, "wasinn_ext_0.describe", {graph});
  }
  std::string LastError(BytesGuest& guest) { return Text(guest, "wasinn_ext_0.last_error", {}); }
  // Again and again, with other bytes.
  void ExpectEcho(const HostPtr& host, const char* name) {
    BytesGuest guest(host.get());
    const uint32_t context = guest.NewContext(name);
    for (uint8_t i = 1; i < 4; ++i) {
      ASSERT_EQ(guest.Compute(context, {i, 2, 3, 4}), kSuccess) << LastError(guest);
      EXPECT_THAT(guest.Output(context), ElementsAre(i, 2, 3, 4));
    }
  }

 private:
  std::string Text(BytesGuest& guest, const char* call, std::vector<uint64_t> arguments) {
    const uint32_t buffer = guest.calls.Reserve(2000), written = guest.calls.Reserve(4);
    arguments.insert(arguments.end(), {buffer, 2000, written});
    EXPECT_EQ(guest.calls.Call(call, arguments), kSuccess);
    return {reinterpret_cast<const char*>(guest.calls.memory().data()) + buffer, guest.calls.Read<uint32_t>(written)};
  }
};

// Whoever allocates outputs, and whether the slot is the context's own.
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

// Of another device, the host, several of whom one is elsewhere, a guest that wants it too; and what the host looks at.
TEST_F(Devices, OrComeBackForWhoIsNotThere) {
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

// What it takes is the guest's, wherever it lies.
TEST_F(Devices, WhatStaysThereIsCharged) {
  Model("m", "in x u8 -1\nmemory npu:0\n");
  Model("grows", "in x u8 -1\noutgrows 4000\nmemory npu:0\n");
  Pipeline("p",
           "{model_name = 'grows', output_map = {x = 'a'}}, {model_name = 'm', input_map = {x = 'a'}, output_map = {x "
           "= 'b'}}");
  const HostPtr host = Host("[limits]\nmax_tensor_bytes = 3000\n");
  BytesGuest guest(host.get());
  const uint32_t context = guest.NewContext("p");
  EXPECT_NE(guest.Compute(context, {1}), kSuccess);
  EXPECT_THAT(LastError(guest), HasSubstr("max_tensor_bytes"));
  EXPECT_EQ(guest.wit.stats().tensor_bytes, 1u) << "its input";
}

// A backend whose output is there though nobody asked for that.
TEST_F(Devices, WhoStraysIsAnError) {
  for (const std::string more : {"", "shares\n"}) {
    const std::string name = "m" + more.substr(0, 1);
    Model(name, "in x u8 4\nmemory npu:0\nstrays\n" + more);
    const HostPtr host = Host();
    BytesGuest guest(host.get());
    const uint32_t context = guest.NewContext(name.c_str());
    EXPECT_NE(guest.Compute(context, {1, 2, 3, 4}), kSuccess);
    EXPECT_THAT(LastError(guest), HasSubstr("is in the memory of npu:0: expected the host's"));
  }
}

}  // namespace
}  // namespace wasinn::testing
