// wasi:nn on the real engine, over a table that is a fake: what the engine lifts, calls and lowers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "component/fake_wit.h"
#include "component/puppet.h"

namespace wasinn::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

wasinn_process* ProcessOf(wasmtime_context_t* context, void* user) {
  EXPECT_EQ(user, &fake);
  return static_cast<wasinn_process*>(wasmtime_context_get_data(context));
}

// One engine and one linker for all.
struct Engine {
  Engine() : engine(wasm_engine_new()), linker(wasmtime_component_linker_new(engine)) {
    if (wasinn_status* status = wasinn_wasmtime_component_link(linker, nullptr, ProcessOf, &fake)) {
      std::fprintf(stderr, "%s\n", wasinn_status_message(status));
      std::exit(1);
    }
  }
  ~Engine() {
    wasmtime_component_linker_delete(linker);
    wasm_engine_delete(engine);
  }
  wasm_engine_t* engine;
  wasmtime_component_linker_t* linker;
};

class ComponentEngine : public ::testing::Test {
 protected:
  ComponentEngine() { fake = FakeWit(); }
  ~ComponentEngine() override { EXPECT_EQ(fake.views, 0) << "every view is released"; }

  // Processes are told apart by the store's data.
  static Puppet New(const char* version = kOctober, int process = 0) {
    return Puppet(Show(version), FakeProcess(process));
  }

  static const PuppetShow& Show(const std::string& version) {
    static const Engine engine;
    static const PuppetShow october(engine.engine, engine.linker, PuppetText(kOctober)),
        august(engine.engine, engine.linker, PuppetText(kAugust)),
        june(engine.engine, engine.linker, PuppetText(kJune));
    return version == kOctober ? october : version == kAugust ? august : june;
  }

  // A tensor u8 [1, 3] of "abc".
  static uint32_t NewTensor(Puppet& guest, std::string_view bytes = "abc") {
    guest.PokeWords(0, {1, static_cast<uint32_t>(bytes.size())});
    guest.Poke(64, bytes);
    return guest.Call("tensor-new", {0, 2, 4, 64, static_cast<uint32_t>(bytes.size())});
  }

  static uint32_t Loaded(Puppet& guest, const std::string& function, std::initializer_list<uint32_t> args) {
    guest.Call(function, args);
    EXPECT_EQ(guest.Peek(128) & 0xff, 0u) << function << " succeeds";
    return guest.Peek(132);
  }

  static uint32_t NewContext(Puppet& guest) {
    guest.Poke(0, "model");
    return Loaded(guest, "init", {Loaded(guest, "load-by-name", {0, 5, 128}), 128});
  }
};

TEST_F(ComponentEngine, ListsComeAndGo) {
  Puppet guest = New();
  guest.PokeWords(0, {2, 0, 4294967295});
  guest.Poke(64, std::string_view("\0\1\377", 3));
  const uint32_t tensor = guest.Call("tensor-new", {0, 3, 6, 64, 3});
  ASSERT_EQ(fake.tensors.size(), 1u);
  const FakeTensor& made = fake.tensors.begin()->second;
  EXPECT_THAT(made.dims, ElementsAre(2, 0, 4294967295));
  EXPECT_EQ(made.type, 6u);
  EXPECT_THAT(made.data, ElementsAre(0, 1, 255));

  EXPECT_EQ(guest.Call("tensor-ty", {tensor}), 6u);
  guest.Call("tensor-dimensions", {tensor, 128});
  ASSERT_EQ(guest.Peek(132), 3u);
  const uint32_t dims = guest.Peek(128);
  EXPECT_EQ(guest.Peek(dims), 2u);
  EXPECT_EQ(guest.Peek(dims + 4), 0u);
  EXPECT_EQ(guest.Peek(dims + 8), 4294967295u);
  guest.Call("tensor-data", {tensor, 128});
  ASSERT_EQ(guest.Peek(132), 3u);
  EXPECT_EQ(guest.PeekBytes(guest.Peek(128), 3), std::string("\0\1\377", 3));
  EXPECT_EQ(fake.released, 2);
}

TEST_F(ComponentEngine, EmptyLists) {
  Puppet guest = New();
  const uint32_t tensor = guest.Call("tensor-new", {0, 0, 0, 0, 0});
  guest.Call("tensor-dimensions", {tensor, 128});
  EXPECT_EQ(guest.Peek(132), 0u);
  guest.Call("tensor-data", {tensor, 128});
  EXPECT_EQ(guest.Peek(132), 0u);
  EXPECT_EQ(Loaded(guest, "load", {0, 0, 1, 2, 128}), 2u);
  EXPECT_THAT(fake.builders, ElementsAre());
}

TEST_F(ComponentEngine, DroppingCallsTheDestructorOnce) {
  Puppet guest = New();
  const uint32_t tensor = NewTensor(guest);
  guest.Call("tensor-drop", {tensor});
  EXPECT_EQ(fake.dropped, 1);
  EXPECT_TRUE(fake.tensors.empty());
  const auto again = guest.Try("tensor-drop", {tensor});
  ASSERT_FALSE(again);
  EXPECT_THAT(again.error(), HasSubstr("unknown handle index"));
  EXPECT_EQ(fake.dropped, 1);
}

TEST_F(ComponentEngine, EveryResourceHasItsDestructor) {
  Puppet guest = New();
  guest.Poke(0, "model");
  const uint32_t graph = Loaded(guest, "load-by-name", {0, 5, 128});
  const uint32_t context = Loaded(guest, "init", {graph, 128});
  guest.Call("graph-drop", {graph});
  guest.Call("context-drop", {context});
  fake.error = "no";
  guest.Call("load-by-name", {0, 5, 128});
  guest.Call("error-drop", {guest.Peek(132)});
  EXPECT_EQ(fake.dropped, 3);
  EXPECT_TRUE(fake.others.empty() && fake.errors.empty());
}

TEST_F(ComponentEngine, AHandleOfAnotherKindTraps) {
  Puppet guest = New();
  const uint32_t tensor = NewTensor(guest);
  const auto wrong = guest.Try("init", {tensor, 128});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error(), HasSubstr("handle"));
}

TEST_F(ComponentEngine, LoadTakesEveryBuilder) {
  Puppet guest = New();
  guest.Poke(64, "xmlweights");
  guest.PokeWords(0, {64, 3, 67, 7, 0, 0});
  Loaded(guest, "load", {0, 3, 5, 1, 128});
  EXPECT_THAT(fake.builders, ElementsAre("xml", "weights", ""));
  EXPECT_EQ(fake.encoding, 5u);
  EXPECT_EQ(fake.target, 1u);
}

TEST_F(ComponentEngine, ErrorsHaveACodeAndData) {
  for (const uint32_t code : {0u, 2u, 8u}) {
    Puppet guest = New();
    fake.error = "größer";
    fake.code = code;
    guest.Poke(0, "model");
    guest.Call("load-by-name", {0, 5, 128});
    ASSERT_EQ(guest.Peek(128) & 0xff, 1u);
    const uint32_t error = guest.Peek(132);
    EXPECT_EQ(guest.Call("error-code", {error}), code);
    guest.Call("error-data", {error, 128});
    EXPECT_EQ(guest.PeekBytes(guest.Peek(128), guest.Peek(132)), "größer");
  }
}

TEST_F(ComponentEngine, ComputeMovesTensorsInAndOut) {
  Puppet guest = New();
  const uint32_t context = NewContext(guest), a = NewTensor(guest), b = NewTensor(guest, "defg");
  guest.Poke(256, "xlonger");
  guest.PokeWords(0, {256, 1, a, 257, 6, b});
  guest.Call("compute", {context, 0, 2, 128});
  EXPECT_THAT(fake.names, ElementsAre("x", "longer"));
  ASSERT_EQ(guest.Peek(128) & 0xff, 0u);
  ASSERT_EQ(guest.Peek(136), 2u);
  const uint32_t outputs = guest.Peek(132);
  EXPECT_EQ(guest.PeekBytes(guest.Peek(outputs), guest.Peek(outputs + 4)), "x");
  EXPECT_EQ(guest.PeekBytes(guest.Peek(outputs + 12), guest.Peek(outputs + 16)), "longer");
  guest.Call("tensor-data", {guest.Peek(outputs + 20), 128});
  EXPECT_EQ(guest.PeekBytes(guest.Peek(128), 4), "defg");
  EXPECT_EQ(fake.dropped, 0) << "what is moved is not dropped";
  guest.Call("tensor-drop", {guest.Peek(outputs + 8)});
  guest.Call("tensor-drop", {guest.Peek(outputs + 20)});
  EXPECT_EQ(fake.dropped, 2);
  EXPECT_FALSE(guest.Try("tensor-drop", {guest.Peek(outputs + 20)})) << "inputs are not the guest's any more";
}

TEST_F(ComponentEngine, ComputeThatFailsHasTakenTheTensors) {
  Puppet guest = New();
  const uint32_t context = NewContext(guest), tensor = NewTensor(guest);
  fake.error = "no such input";
  guest.PokeWords(0, {64, 1, tensor});
  guest.Call("compute", {context, 0, 1, 128});
  ASSERT_EQ(guest.Peek(128) & 0xff, 1u);
  guest.Call("error-data", {guest.Peek(132), 128});
  EXPECT_EQ(guest.PeekBytes(guest.Peek(128), guest.Peek(132)), "no such input");
  EXPECT_FALSE(guest.Try("tensor-ty", {tensor}));
}

TEST_F(ComponentEngine, TheSameTensorTwiceTraps) {
  Puppet guest = New();
  const uint32_t context = NewContext(guest), tensor = NewTensor(guest);
  guest.PokeWords(0, {64, 1, tensor, 64, 1, tensor});
  const auto result = guest.Try("compute", {context, 0, 2, 128});
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error(), HasSubstr("unknown handle index"));
}

TEST_F(ComponentEngine, AStatusIsATrapWithItsMessage) {
  for (const char* function : {"tensor-ty", "tensor-drop"}) {
    Puppet guest = New();
    const uint32_t tensor = NewTensor(guest);
    fake.trap = "the process is closed";
    const auto result = guest.Try(function, {tensor});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error(), HasSubstr("wasm backtrace"));
    EXPECT_THAT(result.error(), ::testing::EndsWith("Caused by:\n    the process is closed\n"));
  }
}

TEST_F(ComponentEngine, AMessageThatIsNoUtf8CanBeRead) {
  Puppet guest = New();
  fake.error = "bad \xff byte";
  guest.Poke(0, "model");
  guest.Call("load-by-name", {0, 5, 128});
  guest.Call("error-data", {guest.Peek(132), 128});
  EXPECT_EQ(guest.PeekBytes(guest.Peek(128), guest.Peek(132)), "bad \xef\xbf\xbd byte");
}

TEST_F(ComponentEngine, ATrapLeavesNoViewBehind) {
  Puppet guest = New();
  EXPECT_FALSE(guest.Try("tensor-data", {NewTensor(guest), 4 << 20})) << "a result outside of memory";
}

TEST_F(ComponentEngine, WhatTheCanonicalAbiForbids) {
  EXPECT_FALSE(New().Try("tensor-new", {0, 0, 7, 0, 0})) << "an enum's case";
  EXPECT_FALSE(New().Try("tensor-new", {2, 1, 0, 0, 0})) << "alignment";
  EXPECT_FALSE(New().Try("tensor-new", {0, 0, 0, 16, 1 << 20})) << "a list beyond memory";
  EXPECT_FALSE(New().Try("tensor-new", {0, 0x40000001, 0, 0, 0})) << "a list whose bytes overflow";
  Puppet guest = New();
  guest.Poke(0, "\xff");
  EXPECT_FALSE(guest.Try("load-by-name", {0, 1, 128})) << "UTF-8";
  EXPECT_TRUE(fake.tensors.empty() && fake.builders.empty());
}

TEST_F(ComponentEngine, TheProcessIsFoundAtEachCall) {
  Puppet first = New(kOctober, 1), second = New(kOctober, 2);
  const uint32_t tensor = NewTensor(first);
  EXPECT_EQ(fake.process, FakeProcess(1));
  NewTensor(second);
  EXPECT_EQ(fake.process, FakeProcess(2));
  wasmtime_context_set_data(first.context(), FakeProcess(3));
  first.Call("tensor-drop", {tensor});
  EXPECT_EQ(fake.process, FakeProcess(3));
}

TEST_F(ComponentEngine, OlderVersionsGoStepByStep) {
  for (const char* version : {kAugust, kJune}) {
    fake = FakeWit();
    Puppet guest = New(version);
    const uint32_t context = NewContext(guest), tensor = NewTensor(guest);
    guest.Poke(256, "in");
    guest.Call("set-input", {context, 256, 2, tensor, 128});
    ASSERT_EQ(guest.Peek(128) & 0xff, 0u);
    EXPECT_THAT(fake.names, ElementsAre("in"));
    guest.Call("compute", {context, 128});
    ASSERT_EQ(guest.Peek(128) & 0xff, 0u);
    guest.Poke(256, "out");
    guest.Call("tensor-data", {Loaded(guest, "get-output", {context, 256, 3, 128}), 128});
    EXPECT_THAT(fake.names, ElementsAre("out"));
    EXPECT_EQ(guest.PeekBytes(guest.Peek(128), guest.Peek(132)), "abc");
    for (const char* function : {"set-input", "compute", "get-output"}) {
      fake.error = function;
      const uint32_t input = NewTensor(guest);
      if (function == std::string("set-input")) guest.Call(function, {context, 256, 2, input, 128});
      if (function == std::string("compute")) guest.Call(function, {context, 128});
      if (function == std::string("get-output")) guest.Call(function, {context, 256, 2, 128});
      ASSERT_EQ(guest.Peek(128) & 0xff, 1u);
      guest.Call("error-data", {guest.Peek(132), 128});
      EXPECT_EQ(guest.PeekBytes(guest.Peek(128), guest.Peek(132)), function);
    }
  }
}

TEST_F(ComponentEngine, JuneHasAConstructorForErrors) {
  Puppet guest = New(kJune);
  guest.Poke(0, "mine");
  const uint32_t error = guest.Call("error-new", {7, 0, 4});
  EXPECT_EQ(guest.Call("error-code", {error}), 7u);
  guest.Call("error-data", {error, 128});
  EXPECT_EQ(guest.PeekBytes(guest.Peek(128), guest.Peek(132)), "mine");
}

}  // namespace
}  // namespace wasinn::testing
