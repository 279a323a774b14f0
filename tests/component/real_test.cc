// Every function of wasi:nn, from a component through the engine to a backend and back; the library's own tests know
// the meaning of each in detail.
#include <wasinn/wasmtime.h>

#include "component/puppet.h"
#include "support/echo.h"
#include "support/own_process.h"

namespace wasinn::testing {
namespace {

constexpr uint32_t kF32 = 1, kGgml = 5, kCpu = 0;
// error-code
enum : uint32_t {
  kInvalidArgument = 0,
  kInvalidEncoding = 1,
  kRuntimeError = 3,
  kUnsupportedOperation = 4,
  kTooLarge = 5,
  kNotFound = 6
};
constexpr uint32_t kResult = Puppet::kResult;

class ComponentReal : public ::testing::Test {
 protected:
  ComponentReal() : host_(EchoHost(log_)), guest_(NewGuest(host_.get())) {
    AddEchoModel(host_.get(), "pair", "in x f32 2\nin y f32 1\n");
  }

  std::unique_ptr<Puppet> New(const std::string& version = kOctober) {
    auto program = std::make_unique<Puppet>(PuppetShow::Of(version), guest_.get());
    wasinn_wasmtime_component_set_up(program->context(), guest_.get());
    return program;
  }

  // f32 [n] with these bits.
  static uint32_t NewTensor(Puppet& program, std::initializer_list<uint32_t> values) {
    const auto count = static_cast<uint32_t>(values.size());
    program.PokeWords(0, {count});
    program.PokeWords(64, values);
    return program.Call("tensor-new", {0, 1, kF32, 64, count * 4});
  }

  static void ExpectError(Puppet& program, const char* function, std::initializer_list<uint32_t> args, uint32_t code,
                          const std::string& words) {
    program.Call(function, args);
    ASSERT_EQ(program.Peek(kResult) & 0xff, 1u) << function;
    const uint32_t error = program.Peek(kResult + 4);
    EXPECT_EQ(program.Call("error-code", {error}), code) << function;
    program.Call("error-data", {error, kResult});
    EXPECT_THAT(program.ResultBytes(), HasSubstr(words)) << function;
    program.Call("error-drop", {error});
  }

  static uint32_t LoadPair(Puppet& program) {
    program.Poke(0, "pair");
    return program.Good("load-by-name", {0, 4, kResult});
  }

  Log log_;
  HostPtr host_;
  GuestPtr guest_;
};

TEST_F(ComponentReal, LoadsAGuestsOwnModel) {
  const auto program = New();
  program->Poke(256, EchoModel("in x f32 2\n"));
  program->PokeWords(0, {256, static_cast<uint32_t>(EchoModel("in x f32 2\n").size())});
  const uint32_t graph = program->Good("load", {0, 1, kGgml, kCpu, kResult});
  const uint32_t context = program->Good("init", {graph, kResult});
  const uint32_t tensor = NewTensor(*program, {0x3f800000, 0x40000000});
  program->Poke(256, "x");
  program->PokeWords(0, {256, 1, tensor});
  const uint32_t outputs = program->Good("compute", {context, 0, 1, kResult});
  ASSERT_EQ(program->Peek(kResult + 8), 1u);
  EXPECT_EQ(program->PeekBytes(program->Peek(outputs), program->Peek(outputs + 4)), "x");
  const uint32_t output = program->Peek(outputs + 8);
  // An output outlives all that it came from.
  program->Call("context-drop", {context});
  program->Call("graph-drop", {graph});
  EXPECT_EQ(program->Call("tensor-ty", {output}), kF32);
  program->Call("tensor-dimensions", {output, kResult});
  ASSERT_EQ(program->Peek(kResult + 4), 1u);
  EXPECT_EQ(program->Peek(program->Peek(kResult)), 2u);
  program->Call("tensor-data", {output, kResult});
  ASSERT_EQ(program->Peek(kResult + 4), 8u);
  const uint32_t data = program->Peek(kResult);
  EXPECT_EQ(program->Peek(data), 0x3f800000u);
  EXPECT_EQ(program->Peek(data + 4), 0x40000000u);
  program->Call("tensor-drop", {output});
  const wasinn_statistics stats = StatsOf(guest_);
  EXPECT_EQ(stats.tensors, 0u);
  EXPECT_EQ(stats.graphs, 0u);
  EXPECT_EQ(stats.contexts, 0u);
}

TEST_F(ComponentReal, ListsArePassedBothWays) {
  const auto program = New();
  program->PokeWords(0, {2, 0, 4294967295});
  program->Poke(64, std::string_view("\0\1\377", 3));
  const uint32_t tensor = program->Call("tensor-new", {0, 3, 6, 64, 3});
  EXPECT_EQ(program->Call("tensor-ty", {tensor}), 6u);
  program->Call("tensor-dimensions", {tensor, kResult});
  ASSERT_EQ(program->Peek(kResult + 4), 3u);
  const uint32_t dims = program->Peek(kResult);
  EXPECT_EQ(program->Peek(dims), 2u);
  EXPECT_EQ(program->Peek(dims + 4), 0u);
  EXPECT_EQ(program->Peek(dims + 8), 4294967295u);
  program->Call("tensor-data", {tensor, kResult});
  EXPECT_EQ(program->ResultBytes(), std::string("\0\1\377", 3));
  const uint32_t empty = program->Call("tensor-new", {0, 0, 0, 0, 0});
  for (const char* list : {"tensor-dimensions", "tensor-data"}) {
    program->Call(list, {empty, kResult});
    EXPECT_EQ(program->Peek(kResult + 4), 0u) << list;
  }
}

TEST_F(ComponentReal, EachResourceIsDroppedOnce) {
  const auto program = New();
  const uint32_t graph = LoadPair(*program), context = program->Good("init", {graph, kResult});
  program->Call("graph-drop", {graph});
  program->Call("context-drop", {context});
  program->Call("load-by-name", {0, 5, kResult});
  program->Call("error-drop", {program->Peek(kResult + 4)});
  const uint32_t tensor = NewTensor(*program, {1});
  program->Call("tensor-drop", {tensor});
  EXPECT_FALSE(program->Try("tensor-drop", {tensor}));
  const wasinn_statistics stats = StatsOf(guest_);
  EXPECT_EQ(stats.graphs + stats.contexts + stats.tensors + stats.error_objects, 0u);
}

TEST_F(ComponentReal, LoadTakesEveryBuilderTheEncodingAndTheTarget) {
  const auto program = New();
  const std::string model = EchoModel("in x f32 2\n");
  const auto size = static_cast<uint32_t>(model.size());
  program->Poke(256, model + "weights");
  program->PokeWords(0, {256, size, 256 + size, 7, 0, 0});
  program->Good("load", {0, 3, kGgml, kCpu, kResult});
  EXPECT_EQ(StatsOf(guest_).model_bytes, size + 7);
  ExpectError(*program, "load", {0, 3, 0, kCpu, kResult}, kInvalidEncoding, "not openvino");
  ExpectError(*program, "load", {0, 3, kGgml, 1, kResult}, kUnsupportedOperation, "echo has no gpu");
  ExpectError(*program, "load", {0, 0, kGgml, kCpu, kResult}, kInvalidArgument, "at least one part");
}

TEST_F(ComponentReal, ErrorsHaveACodeAndData) {
  const auto program = New();
  program->Poke(0, "größer");
  ExpectError(*program, "load-by-name", {0, 8, kResult}, kNotFound, "'größer'");
  AddEchoModel(host_.get(), "words", "fail_load 5\nsays bad\xff\n");
  program->Poke(0, "words");
  ExpectError(*program, "load-by-name", {0, 5, kResult}, kRuntimeError, "bad\xef\xbf\xbd");
}

TEST_F(ComponentReal, ComputeMovesTensorsInAndOut) {
  AddEchoModel(host_.get(), "two", "in x f32 2\nin longer f32 1\n");
  const auto program = New();
  program->Poke(0, "two");
  const uint32_t context = program->Good("init", {program->Good("load-by-name", {0, 3, kResult}), kResult});
  const uint32_t a = NewTensor(*program, {1, 2}), b = NewTensor(*program, {3});
  program->Poke(256, "xlonger");
  program->PokeWords(0, {257, 6, b, 256, 1, a});
  const uint32_t outputs = program->Good("compute", {context, 0, 2, kResult});
  ASSERT_EQ(program->Peek(kResult + 8), 2u);
  EXPECT_EQ(program->PeekBytes(program->Peek(outputs), program->Peek(outputs + 4)), "x");
  EXPECT_EQ(program->PeekBytes(program->Peek(outputs + 12), program->Peek(outputs + 16)), "longer");
  program->Call("tensor-data", {program->Peek(outputs + 20), kResult});
  EXPECT_EQ(program->Peek(program->Peek(kResult)), 3u);
  EXPECT_EQ(StatsOf(guest_).tensors, 2u) << "inputs are not the guest's any more";
  // Nor if it fails.
  const uint32_t wrong = NewTensor(*program, {1});
  program->PokeWords(0, {258, 1, wrong});
  ExpectError(*program, "compute", {context, 0, 1, kResult}, kInvalidArgument, "no input 'o'");
  EXPECT_EQ(StatsOf(guest_).tensors, 2u);
  EXPECT_FALSE(program->Try("tensor-ty", {wrong}));
}

TEST_F(ComponentReal, AStatusIsATrapWithItsMessage) {
  for (const char* function : {"tensor-ty", "tensor-drop"}) {
    guest_ = NewGuest(host_.get());
    const auto program = New();
    const uint32_t tensor = NewTensor(*program, {1});
    wasinn_guest_close(guest_.get());
    const auto result = program->Try(function, {tensor});
    ASSERT_FALSE(result);
    EXPECT_THAT(result.error(), HasSubstr("wasm backtrace"));
    EXPECT_THAT(result.error(), ::testing::EndsWith("Caused by:\n    the guest is closed\n"));
  }
}

TEST_F(ComponentReal, ATrapLeavesNoViewBehind) {
  const auto program = New();
  const uint32_t tensor = NewTensor(*program, {1});
  EXPECT_FALSE(program->Try("tensor-data", {tensor, 4 << 20})) << "a result outside of memory";
}

TEST_F(ComponentReal, CallsThatTheCanonicalAbiForbidsTrap) {
  EXPECT_FALSE(New()->Try("tensor-new", {0, 0, 7, 0, 0})) << "an enum's case";
  EXPECT_FALSE(New()->Try("tensor-new", {2, 1, 0, 0, 0})) << "alignment";
  EXPECT_FALSE(New()->Try("tensor-new", {0, 0, 0, 16, 1 << 20})) << "a list beyond memory";
  EXPECT_FALSE(New()->Try("tensor-new", {0, 0x40000001, 0, 0, 0})) << "a list whose bytes overflow";
  const auto program = New();
  program->Poke(0, "\xff");
  EXPECT_FALSE(program->Try("load-by-name", {0, 1, kResult})) << "UTF-8";
  EXPECT_EQ(StatsOf(guest_).tensors, 0u);
}

TEST_F(ComponentReal, TheGuestIsFoundAtEachCall) {
  const GuestPtr other = NewGuest(host_.get());
  const auto program = New();
  NewTensor(*program, {1});
  wasmtime_context_set_data(program->context(), other.get());
  NewTensor(*program, {1});
  NewTensor(*program, {1});
  EXPECT_EQ(StatsOf(guest_).tensors, 1u);
  EXPECT_EQ(StatsOf(other).tensors, 2u);
}

TEST_F(ComponentReal, OlderVersionsComputeInSteps) {
  for (const char* version : {kAugust, kJune}) {
    const auto program = New(version);
    const uint32_t context = program->Good("init", {LoadPair(*program), kResult});
    program->Poke(256, "xyz");
    ExpectError(*program, "compute", {context, kResult}, kInvalidArgument, "input 0 ('x') was not set");
    ExpectError(*program, "set-input", {context, 258, 1, NewTensor(*program, {1}), kResult}, kInvalidArgument,
                "no input 'z'");
    program->Good("set-input", {context, 256, 1, NewTensor(*program, {1, 2}), kResult});
    program->Good("set-input", {context, 257, 1, NewTensor(*program, {3}), kResult});
    program->Good("compute", {context, kResult});
    ExpectError(*program, "get-output", {context, 258, 1, kResult}, kInvalidArgument, "no output 'z'");
    program->Call("tensor-data", {program->Good("get-output", {context, 257, 1, kResult}), kResult});
    ASSERT_EQ(program->Peek(kResult + 4), 4u);
    EXPECT_EQ(program->Peek(program->Peek(kResult)), 3u);
  }
}

TEST_F(ComponentReal, JuneHasAConstructorForErrors) {
  const auto program = New(kJune);
  program->Poke(0, "mine");
  const uint32_t error = program->Call("error-new", {7, 0, 4});
  EXPECT_EQ(program->Call("error-code", {error}), 7u);
  program->Call("error-data", {error, kResult});
  EXPECT_EQ(program->ResultBytes(), "mine");
}

TEST_F(ComponentReal, GivesTheLastErrorAndASignature) {
  const auto program = New();
  const auto text = [&] { return program->ResultBytes(); };
  program->Call("last-error", {kResult});
  EXPECT_EQ(text(), "");
  const uint32_t graph = LoadPair(*program);
  program->Call("describe", {graph, kResult});
  EXPECT_EQ(
      text(),
      R"({"backend":"echo","inputs":[{"name":"x","type":"f32","shape":[2]},{"name":"y","type":"f32","shape":[1]}],)"
      R"("outputs":[{"name":"x","type":"f32","shape":[2]},{"name":"y","type":"f32","shape":[1]}],)"
      R"("model":{"guest_config":{}}})");
  program->Poke(0, "nobody");
  program->Call("load-by-name", {0, 6, kResult});
  program->Call("error-drop", {program->Peek(kResult + 4)});
  program->Call("last-error", {kResult});
  EXPECT_THAT(text(), HasSubstr("load-by-name: not_found: "));
}

// A piece, or "none" at the end.
std::string Next(Puppet& program, uint32_t context) {
  program.Call("next", {context, kResult});
  EXPECT_EQ(program.Peek(kResult) & 0xff, 0u);
  if ((program.Peek(kResult + 4) & 0xff) == 0) return "none";
  return program.PeekBytes(program.Peek(kResult + 8), program.Peek(kResult + 12));
}

TEST_F(ComponentReal, GeneratesPieceByPiece) {
  AddEchoModel(host_.get(), "m", "in prompt u8 -1 opaque\nin mood u8 -1 optional always\npieces 3\n");
  const auto program = New();
  const auto output = [&](uint32_t context, std::string_view name) {
    program->Poke(300, name);
    const uint32_t tensor = program->Good("output", {context, 300, static_cast<uint32_t>(name.size()), kResult});
    program->Call("tensor-data", {tensor, kResult});
    std::string text = program->ResultBytes();
    program->Call("tensor-drop", {tensor});
    return text;
  };
  const auto start = [&](uint32_t context) {
    program->Poke(256, "promptmood");
    program->PokeWords(0, {5});
    program->Poke(64, "abcde");
    program->PokeWords(0, {256, 6, program->Call("tensor-new", {0, 1, 4, 64, 5})});
    program->Good("start", {context, 0, 1, kResult});
  };
  program->Poke(0, R"(m{"mood":1})");
  const uint32_t graph = program->Good("load-with", {0, 1, 1, 10, kResult});
  const uint32_t context = program->Good("init", {graph, kResult});
  EXPECT_EQ(output(context, "mood"), R"({"mood":1})") << "before any compute";
  start(context);
  EXPECT_EQ(Next(*program, context), "abc");
  start(context);
  EXPECT_EQ(Next(*program, context), "abc");
  EXPECT_EQ(Next(*program, context), "de");
  EXPECT_EQ(Next(*program, context), "none");
  EXPECT_EQ(output(context, "prompt"), "abcde");
  program->Good("finish", {context, kResult});
  program->Good("finish", {context, kResult});
  EXPECT_EQ(output(context, "prompt"), "abcde");
  ExpectError(*program, "start", {context, 0, 0, kResult}, kInvalidArgument, "input 0 ('prompt') was not set");
  EXPECT_EQ(StatsOf(guest_).tensors, 0u);
  EXPECT_EQ(StatsOf(guest_).model_bytes, 0u);
}

TEST_F(ComponentReal, AModelThatDoesNotGenerate) {
  const auto program = New();
  const uint32_t context = program->Good("init", {LoadPair(*program), kResult});
  ExpectError(*program, "next", {context, kResult}, kInvalidArgument, "was not set");
  program->Poke(0, "pair[]");
  ExpectError(*program, "load-with", {0, 4, 4, 2, kResult}, kInvalidArgument, "JSON object");
}

TEST_F(ComponentReal, SelectsOutputs) {
  const auto program = New();
  const uint32_t context = program->Good("init", {LoadPair(*program), kResult});
  const auto computed = [&] {
    program->Poke(256, "xyz");
    const uint32_t x = NewTensor(*program, {1, 2}), y = NewTensor(*program, {3});
    program->PokeWords(0, {256, 1, x, 257, 1, y});
    program->Good("compute", {context, 0, 2, kResult});
    return program->Peek(kResult + 8);
  };
  EXPECT_EQ(computed(), 2u);
  program->PokeWords(0, {257, 1, 257, 1});
  program->Good("select", {context, 0, 2, kResult});
  EXPECT_EQ(computed(), 1u);
  program->PokeWords(0, {258, 1});
  ExpectError(*program, "select", {context, 0, 1, kResult}, kInvalidArgument, "z");
  EXPECT_EQ(computed(), 1u);
  program->Good("select", {context, 0, 0, kResult});
  EXPECT_EQ(computed(), 2u);
}

TEST_F(ComponentReal, LoadsByTheNameOfAFormat) {
  const auto program = New();
  const std::string model = EchoModel("in x f32 2\n");
  program->Poke(256, model);
  program->PokeWords(0, {256, static_cast<uint32_t>(model.size())});
  constexpr uint32_t kName = 64;
  program->Poke(kName, "ggmlother");
  const uint32_t graph = program->Good("load-as", {0, 1, kName, 4, kCpu, kResult});
  program->Good("init", {graph, kResult});
  ExpectError(*program, "load-as", {0, 1, kName + 4, 5, kCpu, kResult}, kInvalidEncoding, "'other'");
  ExpectError(*program, "load-as", {0, 1, kName, 1100, kCpu, kResult}, kTooLarge, "1100 bytes");
  ExpectError(*program, "load-as", {0, 5000, kName, 4, kCpu, kResult}, kTooLarge, "5000 parts");
  EXPECT_FALSE(program->Try("load-as", {0xfffffff0, 1, kName, 4, kCpu, kResult})) << "builders outside of the memory";
  const auto other = New();
  EXPECT_FALSE(other->Try("load-as", {0, 1, 0xfffffff0, 4, kCpu, kResult})) << "a name outside of the memory";
  const auto third = New();
  EXPECT_FALSE(third->Try("load-as", {0, 1, kName, 4, 3, kResult})) << "no such target";
}

// A list of names that take no bytes: 128 MB of zeros that the guest never touched.
TEST_F(ComponentReal, SixteenMillionNamesOfNothing) {
  constexpr uint32_t kNames = 16'000'000, kFrom = 16 << 16;
  const PuppetShow show(PuppetText(kOctober, 16 + kNames / 8192 + 1));
  Puppet program(show, guest_.get());
  wasinn_wasmtime_component_set_up(program.context(), guest_.get());
  const uint32_t context = program.Good("init", {LoadPair(program), kResult});
  const PeakMemory memory;
  ExpectError(program, "select", {context, kFrom, kNames, kResult}, kTooLarge, "16000000 names of outputs");
  EXPECT_LT(memory.grown(), uint64_t{64} << 20);
  EXPECT_FALSE(program.Try("compute", {context, kFrom, kNames, kResult})) << "no tensor is there";
  EXPECT_LT(memory.grown(), uint64_t{64} << 20);
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
  const PuppetShow show(PuppetText(kOctober, 400, GetParam()));
  Puppet program(show, guest_.get());
  wasinn_wasmtime_component_set_up(program.context(), guest_.get());
  program.Poke(0, Utf16("pair"));
  const uint32_t graph = program.Good("load-by-name", {0, Units(4), kResult});
  const uint32_t context = program.Good("init", {graph, kResult});
  program.PokeWords(0, {256, Units(1)});
  program.Poke(256, Utf16("y"));
  program.Good("select", {context, 0, 1, kResult});
  const PeakMemory memory;
  const auto long_name = program.Try("load-by-name", {0, Units(10 << 20), kResult});
  ASSERT_FALSE(long_name);
  EXPECT_THAT(long_name.error(), HasSubstr("strings that are not in UTF-8 have 20971520 bytes, and the limit is"));
  EXPECT_LT(memory.grown(), uint64_t{8} << 20);
  // Each is short enough, but all together are not.
  Puppet other(show, guest_.get());
  for (uint32_t i = 0; i < kMany; ++i) other.PokeWords(1024 + i * 8, {kLong, Units(1 << 10)});
  other.Poke(0, Utf16("pair"));
  const uint32_t others = other.Good("init", {other.Good("load-by-name", {0, Units(4), kResult}), kResult});
  const auto names = other.Try("select", {others, 1024, kMany, kResult});
  ASSERT_FALSE(names);
  EXPECT_THAT(names.error(), HasSubstr("strings that are not in UTF-8 have 1050624 bytes"));  // the first 513
}

INSTANTIATE_TEST_SUITE_P(, ComponentReal16, ::testing::Values("utf16", "latin1+utf16"), [](const auto& encoding) {
  return std::string(encoding.param) == "utf16" ? "Utf16" : "CompactUtf16";
});

TEST_F(ComponentReal, TheSameTensorTwiceLeaksNothing) {
  const auto program = New();
  const uint32_t context = program->Good("init", {LoadPair(*program), kResult});
  const uint32_t tensor = NewTensor(*program, {1, 2});
  program->PokeWords(0, {256, 1, tensor, 257, 1, tensor});
  program->Poke(256, "xy");
  EXPECT_FALSE(program->Try("compute", {context, 0, 2, kResult}));
  wasinn_guest_close(guest_.get());
  EXPECT_EQ(StatsOf(guest_).tensors, 0u);
}

TEST_F(ComponentReal, AGuestWithoutDropsLeaksNothing) {
  {
    const auto program = New();
    for (int i = 0; i < 3; ++i) program->Good("init", {LoadPair(*program), kResult});
    for (int i = 0; i < 10; ++i) NewTensor(*program, {1, 2});
    EXPECT_EQ(StatsOf(guest_).tensors, 10u);
    wasinn_guest_close(guest_.get());
    const auto closed = program->Try("tensor-new", {0, 1, kF32, 64, 8});
    ASSERT_FALSE(closed);
    EXPECT_THAT(closed.error(), HasSubstr("closed"));
  }
  const wasinn_statistics stats = StatsOf(guest_);
  EXPECT_EQ(stats.tensors + stats.graphs + stats.contexts, 0u);
}

#ifndef __SANITIZE_ADDRESS__  // which has memory of its own for each of ours
TEST_F(ComponentReal, ALargeTensorTakesLittleMoreThanItsSize) {
  constexpr uint32_t kBytes = 100'000'000;
  const PuppetShow show(PuppetText(kOctober, 3200));
  Puppet program(show, guest_.get());
  wasinn_wasmtime_component_set_up(program.context(), guest_.get());
  const PeakMemory memory;
  const uint32_t tensor = program.Call("tensor-new", {0, 0, 4, 0, kBytes});
  EXPECT_GE(memory.grown(), kBytes) << "it is there";
  EXPECT_LE(memory.grown(), kBytes + kBytes / 10);
  // Into the guest's own memory, of which so much is resident then.
  program.Call("tensor-data", {tensor, kResult});
  EXPECT_LE(memory.grown(), 2ull * kBytes + kBytes / 10);
}
#endif

TEST_F(ComponentReal, WithoutAGuestACallTraps) {
  Puppet program(PuppetShow::Of(kOctober), nullptr);
  EXPECT_FALSE(program.Try("tensor-new", {0, 0, kF32, 0, 0}));
}

}  // namespace
}  // namespace wasinn::testing
