// Every function of wasi:nn, from a component through the engine to a backend and back; the library's own tests know
// the meaning of each in detail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <wasinn/wasmtime.h>

#include <memory>
#include <string>

#include "component/puppet.h"
#include "support/echo.h"
#include "support/peak_memory.h"

namespace wasinn::testing {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kF32 = 1, kGgml = 5, kCpu = 0;
enum : uint32_t { kInvalidArgument = 0, kTooLarge = 5, kNotFound = 6, kSecurity = 7 };  // error-code
constexpr uint32_t kResult = 128;                                                       // where results are written

wasinn_process* ProcessOf(wasmtime_context_t* context, void*) {
  return static_cast<wasinn_process*>(wasmtime_context_get_data(context));
}

class ComponentReal : public ::testing::Test {
 protected:
  ComponentReal() : host_(EchoHost(log_)), process_(NewProcess(host_.get())) {
    AddEchoModel(host_.get(), "pair", "in x f32 2\nin y f32 1\n");
  }

  static wasm_engine_t* Engine() {
    static wasm_engine_t* const engine = wasm_engine_new();
    return engine;
  }

  static wasmtime_component_linker_t* Linker() {
    static wasmtime_component_linker_t* const linker = [] {
      wasmtime_component_linker_t* made = wasmtime_component_linker_new(Engine());
      const StatusPtr status(wasinn_wasmtime_component_link(made, nullptr, ProcessOf, nullptr));
      EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
      return made;
    }();
    return linker;
  }

  static const PuppetShow& Show(const std::string& version) {
    static const PuppetShow october(Engine(), Linker(), PuppetText(kOctober)),
        august(Engine(), Linker(), PuppetText(kAugust)), june(Engine(), Linker(), PuppetText(kJune));
    return version == kOctober ? october : version == kAugust ? august : june;
  }

  std::unique_ptr<Puppet> New(const std::string& version = kOctober) {
    auto guest = std::make_unique<Puppet>(Show(version), process_.get());
    wasinn_wasmtime_component_set_up(guest->context(), process_.get());
    return guest;
  }

  // f32 [n] with these bits.
  static uint32_t NewTensor(Puppet& guest, std::initializer_list<uint32_t> values) {
    const auto count = static_cast<uint32_t>(values.size());
    guest.PokeWords(0, {count});
    guest.PokeWords(64, values);
    return guest.Call("tensor-new", {0, 1, kF32, 64, count * 4});
  }

  // Calls what gives a result; its resource.
  static uint32_t Good(Puppet& guest, const char* function, std::initializer_list<uint32_t> args) {
    guest.Call(function, args);
    EXPECT_EQ(guest.Peek(kResult) & 0xff, 0u) << function;
    return guest.Peek(kResult + 4);
  }

  static void ExpectError(Puppet& guest, const char* function, std::initializer_list<uint32_t> args, uint32_t code,
                          const std::string& words) {
    guest.Call(function, args);
    ASSERT_EQ(guest.Peek(kResult) & 0xff, 1u) << function;
    const uint32_t error = guest.Peek(kResult + 4);
    EXPECT_EQ(guest.Call("error-code", {error}), code) << function;
    guest.Call("error-data", {error, kResult});
    EXPECT_THAT(guest.PeekBytes(guest.Peek(kResult), guest.Peek(kResult + 4)), HasSubstr(words)) << function;
    guest.Call("error-drop", {error});
  }

  static uint32_t LoadPair(Puppet& guest) {
    guest.Poke(0, "pair");
    return Good(guest, "load-by-name", {0, 4, kResult});
  }

  wasinn_process_stats Statistics() const {
    wasinn_process_stats stats = {};
    stats.struct_size = sizeof stats;
    wasinn_process_statistics(process_.get(), &stats);
    return stats;
  }

  Log log_;
  HostPtr host_;
  ProcessPtr process_;
};

TEST_F(ComponentReal, AModelOfTheGuestsOwn) {
  const auto guest = New();
  guest->Poke(256, EchoModel("in x f32 2\n"));
  guest->PokeWords(0, {256, static_cast<uint32_t>(EchoModel("in x f32 2\n").size())});
  const uint32_t graph = Good(*guest, "load", {0, 1, kGgml, kCpu, kResult});
  const uint32_t context = Good(*guest, "init", {graph, kResult});
  const uint32_t tensor = NewTensor(*guest, {0x3f800000, 0x40000000});
  guest->Poke(256, "x");
  guest->PokeWords(0, {256, 1, tensor});
  const uint32_t outputs = Good(*guest, "compute", {context, 0, 1, kResult});
  ASSERT_EQ(guest->Peek(kResult + 8), 1u);
  EXPECT_EQ(guest->PeekBytes(guest->Peek(outputs), guest->Peek(outputs + 4)), "x");
  const uint32_t output = guest->Peek(outputs + 8);
  // An output outlives all that it came from.
  guest->Call("context-drop", {context});
  guest->Call("graph-drop", {graph});
  EXPECT_EQ(guest->Call("tensor-ty", {output}), kF32);
  guest->Call("tensor-dimensions", {output, kResult});
  ASSERT_EQ(guest->Peek(kResult + 4), 1u);
  EXPECT_EQ(guest->Peek(guest->Peek(kResult)), 2u);
  guest->Call("tensor-data", {output, kResult});
  ASSERT_EQ(guest->Peek(kResult + 4), 8u);
  const uint32_t data = guest->Peek(kResult);
  EXPECT_EQ(guest->Peek(data), 0x3f800000u);
  EXPECT_EQ(guest->Peek(data + 4), 0x40000000u);
  guest->Call("tensor-drop", {output});
  const wasinn_process_stats stats = Statistics();
  EXPECT_EQ(stats.tensors, 0u);
  EXPECT_EQ(stats.graphs, 0u);
  EXPECT_EQ(stats.contexts, 0u);
}

TEST_F(ComponentReal, OlderVersions) {
  for (const char* version : {kAugust, kJune}) {
    const auto guest = New(version);
    const uint32_t context = Good(*guest, "init", {LoadPair(*guest), kResult});
    guest->Poke(256, "xy");
    Good(*guest, "set-input", {context, 256, 1, NewTensor(*guest, {1, 2}), kResult});
    Good(*guest, "set-input", {context, 257, 1, NewTensor(*guest, {3}), kResult});
    Good(*guest, "compute", {context, kResult});
    const uint32_t output = Good(*guest, "get-output", {context, 257, 1, kResult});
    guest->Call("tensor-data", {output, kResult});
    ASSERT_EQ(guest->Peek(kResult + 4), 4u);
    EXPECT_EQ(guest->Peek(guest->Peek(kResult)), 3u);
  }
}

TEST_F(ComponentReal, AnErrorOfTheGuestsOwn) {
  const auto guest = New(kJune);
  guest->Poke(0, "mine");
  const uint32_t error = guest->Call("error-new", {kSecurity, 0, 4});
  EXPECT_EQ(guest->Call("error-code", {error}), static_cast<uint32_t>(kSecurity));
  guest->Call("error-data", {error, kResult});
  EXPECT_EQ(guest->PeekBytes(guest->Peek(kResult), guest->Peek(kResult + 4)), "mine");
}

TEST_F(ComponentReal, ErrorsSayWhatIsWrong) {
  const auto guest = New();
  guest->Poke(0, "nowhere");
  ExpectError(*guest, "load-by-name", {0, 7, kResult}, kNotFound, "nowhere");
  const uint32_t context = Good(*guest, "init", {LoadPair(*guest), kResult});
  guest->Poke(256, "xyz");
  const uint32_t wrong = NewTensor(*guest, {1});
  guest->PokeWords(0, {258, 1, wrong});
  ExpectError(*guest, "compute", {context, 0, 1, kResult}, kInvalidArgument, "z");
  EXPECT_FALSE(guest->Try("tensor-ty", {wrong})) << "compute took it";
  EXPECT_EQ(Statistics().tensors, 0u);
}

TEST_F(ComponentReal, BytesThatDoNotFitAreRefusedByCompute) {
  const auto guest = New();
  const uint32_t context = Good(*guest, "init", {LoadPair(*guest), kResult});
  guest->PokeWords(0, {2});
  const uint32_t tensor = guest->Call("tensor-new", {0, 1, kF32, 64, 7});
  guest->Poke(256, "x");
  guest->PokeWords(0, {256, 1, tensor});
  ExpectError(*guest, "compute", {context, 0, 1, kResult}, kInvalidArgument, "7");
}

TEST_F(ComponentReal, TellsTheLastErrorAndASignature) {
  const auto guest = New();
  const auto text = [&] { return guest->PeekBytes(guest->Peek(kResult), guest->Peek(kResult + 4)); };
  guest->Call("last-error", {kResult});
  EXPECT_EQ(text(), "");
  const uint32_t graph = LoadPair(*guest);
  guest->Call("describe", {graph, kResult});
  EXPECT_EQ(
      text(),
      R"({"backend":"echo","inputs":[{"name":"x","type":"f32","shape":[2]},{"name":"y","type":"f32","shape":[1]}],)"
      R"("outputs":[{"name":"x","type":"f32","shape":[2]},{"name":"y","type":"f32","shape":[1]}],)"
      R"("model":{"guest_config":{}}})");
  guest->Poke(0, "nobody");
  guest->Call("load-by-name", {0, 6, kResult});
  guest->Call("error-drop", {guest->Peek(kResult + 4)});
  guest->Call("last-error", {kResult});
  EXPECT_THAT(text(), HasSubstr("load-by-name: not_found: "));
}

// A piece, or "none" at the end.
std::string Next(Puppet& guest, uint32_t context) {
  guest.Call("next", {context, kResult});
  EXPECT_EQ(guest.Peek(kResult) & 0xff, 0u);
  if ((guest.Peek(kResult + 4) & 0xff) == 0) return "none";
  return guest.PeekBytes(guest.Peek(kResult + 8), guest.Peek(kResult + 12));
}

TEST_F(ComponentReal, GeneratesPieceByPiece) {
  AddEchoModel(host_.get(), "m", "in prompt u8 -1 opaque\nin mood u8 -1 optional always\npieces 3\n");
  const auto guest = New();
  const auto output = [&](uint32_t context, std::string_view name) {
    guest->Poke(300, name);
    const uint32_t tensor = Good(*guest, "output", {context, 300, static_cast<uint32_t>(name.size()), kResult});
    guest->Call("tensor-data", {tensor, kResult});
    std::string text = guest->PeekBytes(guest->Peek(kResult), guest->Peek(kResult + 4));
    guest->Call("tensor-drop", {tensor});
    return text;
  };
  const auto start = [&](uint32_t context) {
    guest->Poke(256, "promptmood");
    guest->PokeWords(0, {5});
    guest->Poke(64, "abcde");
    guest->PokeWords(0, {256, 6, guest->Call("tensor-new", {0, 1, 4, 64, 5})});
    Good(*guest, "start", {context, 0, 1, kResult});
  };
  guest->Poke(0, R"(m{"mood":1})");
  const uint32_t graph = Good(*guest, "load-with", {0, 1, 1, 10, kResult});
  const uint32_t context = Good(*guest, "init", {graph, kResult});
  EXPECT_EQ(output(context, "mood"), R"({"mood":1})") << "before any compute";
  start(context);
  EXPECT_EQ(Next(*guest, context), "abc");
  start(context);
  EXPECT_EQ(Next(*guest, context), "abc");
  EXPECT_EQ(Next(*guest, context), "de");
  EXPECT_EQ(Next(*guest, context), "none");
  EXPECT_EQ(output(context, "prompt"), "abcde");
  Good(*guest, "finish", {context, kResult});
  Good(*guest, "finish", {context, kResult});
  EXPECT_EQ(output(context, "prompt"), "abcde");
  ExpectError(*guest, "start", {context, 0, 0, kResult}, kInvalidArgument, "input 0 ('prompt') was not set");
  EXPECT_EQ(Statistics().tensors, 0u);
  EXPECT_EQ(Statistics().model_bytes, 0u);
}

TEST_F(ComponentReal, WhatDoesNotGenerate) {
  const auto guest = New();
  const uint32_t context = Good(*guest, "init", {LoadPair(*guest), kResult});
  ExpectError(*guest, "next", {context, kResult}, kInvalidArgument, "was not set");
  guest->Poke(0, "pair[]");
  ExpectError(*guest, "load-with", {0, 4, 4, 2, kResult}, kInvalidArgument, "JSON object");
}

TEST_F(ComponentReal, SelectsOutputs) {
  const auto guest = New();
  const uint32_t context = Good(*guest, "init", {LoadPair(*guest), kResult});
  const auto computed = [&] {
    guest->Poke(256, "xyz");
    const uint32_t x = NewTensor(*guest, {1, 2}), y = NewTensor(*guest, {3});
    guest->PokeWords(0, {256, 1, x, 257, 1, y});
    Good(*guest, "compute", {context, 0, 2, kResult});
    return guest->Peek(kResult + 8);
  };
  EXPECT_EQ(computed(), 2u);
  guest->PokeWords(0, {257, 1, 257, 1});
  Good(*guest, "select", {context, 0, 2, kResult});
  EXPECT_EQ(computed(), 1u);
  guest->PokeWords(0, {258, 1});
  ExpectError(*guest, "select", {context, 0, 1, kResult}, kInvalidArgument, "z");
  EXPECT_EQ(computed(), 1u);
  Good(*guest, "select", {context, 0, 0, kResult});
  EXPECT_EQ(computed(), 2u);
}

// The most memory that this program ever had.
size_t PeakBytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<size_t>(usage.ru_maxrss) << 10;
}

// A list of names that take no bytes: 128 MB of zeros that the guest never touched.
TEST_F(ComponentReal, SixteenMillionNamesOfNothing) {
  constexpr uint32_t kNames = 16'000'000, kFrom = 16 << 16;
  const PuppetShow show(Engine(), Linker(), PuppetText(kOctober, 16 + kNames / 8192 + 1));
  Puppet guest(show, process_.get());
  wasinn_wasmtime_component_set_up(guest.context(), process_.get());
  const uint32_t context = Good(guest, "init", {LoadPair(guest), kResult});
  const size_t before = PeakBytes();
  ExpectError(guest, "select", {context, kFrom, kNames, kResult}, kTooLarge, "16000000 names of outputs");
  EXPECT_LT(PeakBytes() - before, size_t{64} << 20);
  EXPECT_FALSE(guest.Try("compute", {context, kFrom, kNames, kResult})) << "no tensor is there";
  EXPECT_LT(PeakBytes() - before, size_t{64} << 20);
}

// Strings that must be converted before anyone can look at them.
class ComponentReal16 : public ComponentReal, public ::testing::WithParamInterface<const char*> {
 protected:
  static std::string Utf16(std::string_view text) {
    std::string bytes;
    for (const char c : text) bytes += {c, '\0'};
    return bytes;
  }
  // As a string's length says it.
  static uint32_t Units(uint32_t units) {
    return std::string_view(GetParam()) == "utf16" ? units : units | uint32_t{1} << 31;
  }
};

TEST_P(ComponentReal16, LongStringsAreNotConverted) {
  constexpr uint32_t kLong = 4 << 16, kMany = 600;
  const PuppetShow show(Engine(), Linker(), PuppetText(kOctober, 400, GetParam()));
  Puppet guest(show, process_.get());
  wasinn_wasmtime_component_set_up(guest.context(), process_.get());
  guest.Poke(0, Utf16("pair"));
  const uint32_t graph = Good(guest, "load-by-name", {0, Units(4), kResult});
  const uint32_t context = Good(guest, "init", {graph, kResult});
  guest.PokeWords(0, {256, Units(1)});
  guest.Poke(256, Utf16("y"));
  Good(guest, "select", {context, 0, 1, kResult});
  const size_t before = PeakBytes();
  const auto long_name = guest.Try("load-by-name", {0, Units(10 << 20), kResult});
  ASSERT_FALSE(long_name);
  EXPECT_THAT(long_name.error(), HasSubstr("strings of 20971520 bytes that are not in UTF-8 are over the limit"));
  EXPECT_LT(PeakBytes() - before, size_t{8} << 20);
  // Each is short enough, but all together are not.
  Puppet other(show, process_.get());
  for (uint32_t i = 0; i < kMany; ++i) other.PokeWords(1024 + i * 8, {kLong, Units(1 << 10)});
  other.Poke(0, Utf16("pair"));
  const uint32_t others = Good(other, "init", {Good(other, "load-by-name", {0, Units(4), kResult}), kResult});
  const auto names = other.Try("select", {others, 1024, kMany, kResult});
  ASSERT_FALSE(names);
  EXPECT_THAT(names.error(), HasSubstr("strings of 1228800 bytes that are not in UTF-8"));
}

INSTANTIATE_TEST_SUITE_P(, ComponentReal16, ::testing::Values("utf16", "latin1+utf16"), [](const auto& encoding) {
  return std::string(encoding.param) == "utf16" ? "Utf16" : "CompactUtf16";
});

TEST_F(ComponentReal, TheSameTensorTwiceLeaksNothing) {
  const auto guest = New();
  const uint32_t context = Good(*guest, "init", {LoadPair(*guest), kResult});
  const uint32_t tensor = NewTensor(*guest, {1, 2});
  guest->PokeWords(0, {256, 1, tensor, 257, 1, tensor});
  guest->Poke(256, "xy");
  EXPECT_FALSE(guest->Try("compute", {context, 0, 2, kResult}));
  wasinn_process_close(process_.get());
  EXPECT_EQ(Statistics().tensors, 0u);
}

TEST_F(ComponentReal, AGuestThatDropsNothing) {
  {
    const auto guest = New();
    for (int i = 0; i < 3; ++i) Good(*guest, "init", {LoadPair(*guest), kResult});
    for (int i = 0; i < 10; ++i) NewTensor(*guest, {1, 2});
    EXPECT_EQ(Statistics().tensors, 10u);
    wasinn_process_close(process_.get());
    const auto closed = guest->Try("tensor-new", {0, 1, kF32, 64, 8});
    ASSERT_FALSE(closed);
    EXPECT_THAT(closed.error(), HasSubstr("closed"));
  }
  const wasinn_process_stats stats = Statistics();
  EXPECT_EQ(stats.tensors + stats.graphs + stats.contexts, 0u);
}

#ifndef __SANITIZE_ADDRESS__  // which has memory of its own for each of ours
TEST_F(ComponentReal, ALargeTensorTakesItsOwnSizeAndLittleMore) {
  constexpr uint32_t kBytes = 100'000'000;
  const PuppetShow show(Show(kOctober).engine(), Linker(), PuppetText(kOctober, 3200));
  Puppet guest(show, process_.get());
  wasinn_wasmtime_component_set_up(guest.context(), process_.get());
  const PeakMemory memory;
  const uint32_t tensor = guest.Call("tensor-new", {0, 0, 4, 0, kBytes});
  EXPECT_GE(memory.grown(), kBytes) << "it is there";
  EXPECT_LE(memory.grown(), kBytes + kBytes / 10);
  // Into the guest's own memory, of which so much is resident then.
  guest.Call("tensor-data", {tensor, kResult});
  EXPECT_LE(memory.grown(), 2ull * kBytes + kBytes / 10);
}
#endif

TEST_F(ComponentReal, WithoutAProcess) {
  Puppet guest(Show(kOctober), nullptr);
  EXPECT_FALSE(guest.Try("tensor-new", {0, 0, kF32, 0, 0}));
}

}  // namespace
}  // namespace wasinn::testing
