// wasi:nn on the real engine, over a table that is a fake: what the engine lifts, calls and lowers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "component/fake_wit.h"
#include "component/puppet.h"

namespace wasinn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ComponentEngine : public ::testing::Test {
 protected:
  ComponentEngine() { fake = FakeWit(); }
  ~ComponentEngine() override { EXPECT_EQ(fake.views, 0) << "every view is released"; }

  // Guests are told apart by the store's data.
  static Puppet New(const char* version = kOctober, int guest = 0) {
    return Puppet(PuppetShow::Of(version), FakeGuest(guest));
  }

  // A tensor u8 [1, 3] of "abc".
  static uint32_t NewTensor(Puppet& program, std::string_view bytes = "abc") {
    program.PokeWords(0, {1, static_cast<uint32_t>(bytes.size())});
    program.Poke(64, bytes);
    return program.Call("tensor-new", {0, 2, 4, 64, static_cast<uint32_t>(bytes.size())});
  }

  static uint32_t NewContext(Puppet& program) {
    program.Poke(0, "model");
    return program.Good("init", {program.Good("load-by-name", {0, 5, 128}), 128});
  }
};

TEST_F(ComponentEngine, ListsComeAndGo) {
  Puppet program = New();
  program.PokeWords(0, {2, 0, 4294967295});
  program.Poke(64, std::string_view("\0\1\377", 3));
  const uint32_t tensor = program.Call("tensor-new", {0, 3, 6, 64, 3});
  ASSERT_EQ(fake.tensors.size(), 1u);
  const FakeTensor& made = fake.tensors.begin()->second;
  EXPECT_THAT(made.dims, ElementsAre(2, 0, 4294967295));
  EXPECT_EQ(made.type, 6u);
  EXPECT_THAT(made.data, ElementsAre(0, 1, 255));

  EXPECT_EQ(program.Call("tensor-ty", {tensor}), 6u);
  program.Call("tensor-dimensions", {tensor, 128});
  ASSERT_EQ(program.Peek(132), 3u);
  const uint32_t dims = program.Peek(128);
  EXPECT_EQ(program.Peek(dims), 2u);
  EXPECT_EQ(program.Peek(dims + 4), 0u);
  EXPECT_EQ(program.Peek(dims + 8), 4294967295u);
  program.Call("tensor-data", {tensor, 128});
  ASSERT_EQ(program.Peek(132), 3u);
  EXPECT_EQ(program.PeekBytes(program.Peek(128), 3), std::string("\0\1\377", 3));
  EXPECT_EQ(fake.released, 2);
}

TEST_F(ComponentEngine, EmptyLists) {
  Puppet program = New();
  const uint32_t tensor = program.Call("tensor-new", {0, 0, 0, 0, 0});
  program.Call("tensor-dimensions", {tensor, 128});
  EXPECT_EQ(program.Peek(132), 0u);
  program.Call("tensor-data", {tensor, 128});
  EXPECT_EQ(program.Peek(132), 0u);
  EXPECT_EQ(program.Good("load", {0, 0, 1, 2, 128}), 2u);
  EXPECT_THAT(fake.builders, ElementsAre());
}

TEST_F(ComponentEngine, EveryResourceHasItsDestructor) {
  Puppet program = New();
  program.Poke(0, "model");
  const uint32_t graph = program.Good("load-by-name", {0, 5, 128});
  const uint32_t context = program.Good("init", {graph, 128});
  program.Call("graph-drop", {graph});
  program.Call("context-drop", {context});
  fake.error = "no";
  program.Call("load-by-name", {0, 5, 128});
  program.Call("error-drop", {program.Peek(132)});
  const uint32_t tensor = NewTensor(program);
  program.Call("tensor-drop", {tensor});
  EXPECT_FALSE(program.Try("tensor-drop", {tensor}));
  EXPECT_EQ(fake.dropped, 4) << "each once";
  EXPECT_TRUE(fake.others.empty() && fake.errors.empty() && fake.tensors.empty());
}

TEST_F(ComponentEngine, LoadTakesEveryBuilder) {
  Puppet program = New();
  program.Poke(64, "xmlweights");
  program.PokeWords(0, {64, 3, 67, 7, 0, 0});
  program.Good("load", {0, 3, 5, 1, 128});
  EXPECT_THAT(fake.builders, ElementsAre("xml", "weights", ""));
  EXPECT_EQ(fake.encoding, 5u);
  EXPECT_EQ(fake.target, 1u);
}

TEST_F(ComponentEngine, ErrorsHaveACodeAndData) {
  for (const uint32_t code : {0u, 2u, 8u}) {
    Puppet program = New();
    fake.error = "größer";
    fake.code = code;
    program.Poke(0, "model");
    program.Call("load-by-name", {0, 5, 128});
    ASSERT_EQ(program.Peek(128) & 0xff, 1u);
    const uint32_t error = program.Peek(132);
    EXPECT_EQ(program.Call("error-code", {error}), code);
    program.Call("error-data", {error, 128});
    EXPECT_EQ(program.ResultBytes(), "größer");
  }
}

TEST_F(ComponentEngine, ComputeMovesTensorsInAndOut) {
  Puppet program = New();
  const uint32_t context = NewContext(program), a = NewTensor(program), b = NewTensor(program, "defg");
  program.Poke(256, "xlonger");
  program.PokeWords(0, {256, 1, a, 257, 6, b});
  program.Call("compute", {context, 0, 2, 128});
  EXPECT_THAT(fake.names, ElementsAre("x", "longer"));
  ASSERT_EQ(program.Peek(128) & 0xff, 0u);
  ASSERT_EQ(program.Peek(136), 2u);
  const uint32_t outputs = program.Peek(132);
  EXPECT_EQ(program.PeekBytes(program.Peek(outputs), program.Peek(outputs + 4)), "x");
  EXPECT_EQ(program.PeekBytes(program.Peek(outputs + 12), program.Peek(outputs + 16)), "longer");
  program.Call("tensor-data", {program.Peek(outputs + 20), 128});
  EXPECT_EQ(program.PeekBytes(program.Peek(128), 4), "defg");
  EXPECT_EQ(fake.dropped, 0) << "what is moved is not dropped";
  program.Call("tensor-drop", {program.Peek(outputs + 8)});
  program.Call("tensor-drop", {program.Peek(outputs + 20)});
  EXPECT_EQ(fake.dropped, 2);
  EXPECT_FALSE(program.Try("tensor-drop", {program.Peek(outputs + 20)})) << "inputs are not the guest's any more";
}

TEST_F(ComponentEngine, ComputeThatFailsHasTakenTheTensors) {
  Puppet program = New();
  const uint32_t context = NewContext(program), tensor = NewTensor(program);
  fake.error = "no such input";
  program.PokeWords(0, {64, 1, tensor});
  program.Call("compute", {context, 0, 1, 128});
  ASSERT_EQ(program.Peek(128) & 0xff, 1u);
  program.Call("error-data", {program.Peek(132), 128});
  EXPECT_EQ(program.ResultBytes(), "no such input");
  EXPECT_FALSE(program.Try("tensor-ty", {tensor}));
}

TEST_F(ComponentEngine, AStatusIsATrapWithItsMessage) {
  for (const char* function : {"tensor-ty", "tensor-drop"}) {
    Puppet program = New();
    const uint32_t tensor = NewTensor(program);
    fake.trap = "the guest is closed";
    const auto result = program.Try(function, {tensor});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error(), HasSubstr("wasm backtrace"));
    EXPECT_THAT(result.error(), ::testing::EndsWith("Caused by:\n    the guest is closed\n"));
  }
}

TEST_F(ComponentEngine, AMessageThatIsNoUtf8CanBeRead) {
  Puppet program = New();
  fake.error = "bad \xff byte";
  program.Poke(0, "model");
  program.Call("load-by-name", {0, 5, 128});
  program.Call("error-data", {program.Peek(132), 128});
  EXPECT_EQ(program.ResultBytes(), "bad \xef\xbf\xbd byte");
}

TEST_F(ComponentEngine, ATrapLeavesNoViewBehind) {
  Puppet program = New();
  EXPECT_FALSE(program.Try("tensor-data", {NewTensor(program), 4 << 20})) << "a result outside of memory";
}

TEST_F(ComponentEngine, WhatTheCanonicalAbiForbids) {
  EXPECT_FALSE(New().Try("tensor-new", {0, 0, 7, 0, 0})) << "an enum's case";
  EXPECT_FALSE(New().Try("tensor-new", {2, 1, 0, 0, 0})) << "alignment";
  EXPECT_FALSE(New().Try("tensor-new", {0, 0, 0, 16, 1 << 20})) << "a list beyond memory";
  EXPECT_FALSE(New().Try("tensor-new", {0, 0x40000001, 0, 0, 0})) << "a list whose bytes overflow";
  Puppet program = New();
  program.Poke(0, "\xff");
  EXPECT_FALSE(program.Try("load-by-name", {0, 1, 128})) << "UTF-8";
  EXPECT_TRUE(fake.tensors.empty() && fake.builders.empty());
}

TEST_F(ComponentEngine, TheGuestIsFoundAtEachCall) {
  Puppet first = New(kOctober, 1), second = New(kOctober, 2);
  const uint32_t tensor = NewTensor(first);
  EXPECT_EQ(fake.guest, FakeGuest(1));
  NewTensor(second);
  EXPECT_EQ(fake.guest, FakeGuest(2));
  wasmtime_context_set_data(first.context(), FakeGuest(3));
  first.Call("tensor-drop", {tensor});
  EXPECT_EQ(fake.guest, FakeGuest(3));
}

TEST_F(ComponentEngine, OlderVersionsGoStepByStep) {
  for (const char* version : {kAugust, kJune}) {
    fake = FakeWit();
    Puppet program = New(version);
    const uint32_t context = NewContext(program), tensor = NewTensor(program);
    program.Poke(256, "in");
    program.Call("set-input", {context, 256, 2, tensor, 128});
    ASSERT_EQ(program.Peek(128) & 0xff, 0u);
    EXPECT_THAT(fake.names, ElementsAre("in"));
    program.Call("compute", {context, 128});
    ASSERT_EQ(program.Peek(128) & 0xff, 0u);
    program.Poke(256, "out");
    program.Call("tensor-data", {program.Good("get-output", {context, 256, 3, 128}), 128});
    EXPECT_THAT(fake.names, ElementsAre("out"));
    EXPECT_EQ(program.ResultBytes(), "abc");
    for (const char* function : {"set-input", "compute", "get-output"}) {
      fake.error = function;
      const uint32_t input = NewTensor(program);
      if (function == std::string("set-input")) program.Call(function, {context, 256, 2, input, 128});
      if (function == std::string("compute")) program.Call(function, {context, 128});
      if (function == std::string("get-output")) program.Call(function, {context, 256, 2, 128});
      ASSERT_EQ(program.Peek(128) & 0xff, 1u);
      program.Call("error-data", {program.Peek(132), 128});
      EXPECT_EQ(program.ResultBytes(), function);
    }
  }
}

TEST_F(ComponentEngine, JuneHasAConstructorForErrors) {
  Puppet program = New(kJune);
  program.Poke(0, "mine");
  const uint32_t error = program.Call("error-new", {7, 0, 4});
  EXPECT_EQ(program.Call("error-code", {error}), 7u);
  program.Call("error-data", {error, 128});
  EXPECT_EQ(program.ResultBytes(), "mine");
}

}  // namespace
}  // namespace wasinn::testing
