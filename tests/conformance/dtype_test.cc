// Tensors of every type and shape go in and out of a guest bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>

#include "native_ort.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

// The tiny models lie in "/models" for guests.
const std::vector<std::string> kModelFolder = {"--dir", InSources("tests/models/tiny") + "::/models"};

std::vector<std::string> Flags(const std::string& model) {
  std::vector<std::string> flags = kModelFolder;
  flags.insert(flags.end(), {"--model", TinyModel(model)});
  return flags;
}

// A context 0 on graph 0, a model by its name.
Script Open(const std::string& model) {
  Script script;
  script.Do("name 0 " + model).Do("context 0 0");
  return script;
}

void RunScript(Script& script, const std::string& model) {
  const TempFolder folder;
  script.Run(Flags(model), folder.path());
}

// How a guest writes one of wasinn's element types.
struct Kind {
  const char* name;  // of the model identity_NAME too, x [2,3] -> y [2,3]
  size_t size;
  uint8_t type;      // wasi-nn's number of the type itself, or of the one that stands in for it
  const char* dims;  // [2,3], or [2,6] where the last dimension counts bytes
  std::string text() const { return std::to_string(type) + " " + dims; }
};

constexpr const char* kPlain = "2,3";
constexpr const char* kDoubled = "2,6";
constexpr size_t kElements = 6;

const Kind kKinds[] = {
    {"f16", 2, WASI_NN_F16, kPlain},  {"bf16", 2, WASI_NN_U8, kDoubled}, {"f32", 4, WASI_NN_F32, kPlain},
    {"f64", 8, WASI_NN_F64, kPlain},  {"u8", 1, WASI_NN_U8, kPlain},     {"i8", 1, WASI_NN_U8, kPlain},
    {"u16", 2, WASI_NN_U8, kDoubled}, {"i16", 2, WASI_NN_U8, kDoubled},  {"u32", 4, WASI_NN_I32, kPlain},
    {"i32", 4, WASI_NN_I32, kPlain},  {"u64", 8, WASI_NN_I64, kPlain},   {"i64", 8, WASI_NN_I64, kPlain},
    {"bool", 1, WASI_NN_U8, kPlain},
};

// The bit patterns to try: all there are of one and two bytes; of more, numbers at the edges, NaNs with payloads,
// infinities and denormals, and many that are drawn at random.
std::vector<uint64_t> Patterns(const Kind& kind) {
  if (std::string(kind.name) == "bool") return {0, 1, 1, 0, 1, 1};
  std::vector<uint64_t> patterns;
  if (kind.size <= 2) {
    for (uint64_t bits = 0; bits < uint64_t{1} << (8 * kind.size); ++bits) patterns.push_back(bits);
    return patterns;
  }
  if (kind.size == 4) {
    patterns = {0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
                0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0xff812345, 0x7fc00000, 0xffc00000,
                0x7fd5a5a5, 0x7fffffff, 0xffffffff, 0x3f800000, 0x01020304};
  } else {
    patterns = {0,
                0x8000000000000000,
                1,
                0x800fffffffffffff,
                0x0010000000000000,
                0x7fefffffffffffff,
                0x7ff0000000000000,
                0xfff0000000000000,
                0x7ff0000000000001,
                0xfff123456789abcd,
                0x7ff8000000000000,
                0x7ffdeadbeef01234,
                0x7fffffffffffffff,
                0xffffffffffffffff,
                0x0102030405060708};
  }
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) patterns.push_back(random());
  return patterns;
}

// The patterns in tensors of six elements.
std::vector<Bytes> Tensors(const Kind& kind) {
  std::vector<uint64_t> patterns = Patterns(kind);
  while (patterns.size() % kElements != 0) patterns.push_back(0);
  std::vector<Bytes> tensors;
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (i % kElements == 0) tensors.emplace_back();
    for (size_t byte = 0; byte < kind.size; ++byte) {
      tensors.back().push_back(static_cast<uint8_t>(patterns[i] >> (8 * byte)));
    }
  }
  return tensors;
}

class DtypeTest : public ::testing::TestWithParam<Kind> {
 protected:
  std::string model() const { return std::string("identity_") + GetParam().name; }
};

// By turns on a graph that the host loaded, and one that the guest brought.
TEST_P(DtypeTest, EveryPatternComesBack) {
  const Kind& kind = GetParam();
  Script script = Open(model());
  script.Do("load 1 /models/" + model() + ".onnx").Do("context 1 1");
  int turn = 0;
  for (const Bytes& tensor : Tensors(kind)) {
    const std::string context = std::to_string(turn++ % 2);
    script.Do(Script::Set("set " + context + " 0 " + kind.text(), tensor));
    script.Do("compute " + context).Gives("get " + context + " 0", tensor);
  }
  RunScript(script, model());
}

// Every type that wasi-nn has a number for, and some that it has not, in both ways to write the shape.
TEST_P(DtypeTest, OnlyThePairsOfTheTableMatch) {
  const Kind& kind = GetParam();
  const size_t sizes[] = {2, 4, 8, 1, 4, 8};  // by wasi-nn's number
  Script script = Open(model());
  for (const int type : {0, 1, 2, 3, 4, 5, 6, 7, 255}) {
    for (const std::string dims : {kPlain, kDoubled}) {
      const size_t size = (type < 6 ? sizes[type] : kind.size) * (dims == kPlain ? kElements : 2 * kElements);
      const std::string step = Script::Set("set 0 0 " + std::to_string(type) + " " + dims, Bytes(size, 0));
      if (type == kind.type && dims == kind.dims) {
        script.Do(step);
      } else {
        script.Fails(step, WASI_NN_INVALID_ARGUMENT);
      }
    }
  }
  const std::string set = "set 0 0 " + std::to_string(kind.type) + " ";
  script.Fails(Script::Set("set 0 0 " + kind.text(), Bytes(kElements * kind.size - 1, 0)), WASI_NN_INVALID_ARGUMENT);
  script.Fails(Script::Set("set 0 0 " + kind.text(), Bytes(kElements * kind.size + 1, 0)), WASI_NN_INVALID_ARGUMENT);
  script.Fails(Script::Set(set + "6", Bytes(kElements * kind.size, 0)), WASI_NN_INVALID_ARGUMENT);
  script.Fails(Script::Set(set + "3,2", Bytes(kElements * kind.size, 0)), WASI_NN_INVALID_ARGUMENT);
  // None of the wrong ones has touched what was set.
  script.Do("compute 0").Gives("get 0 0", Bytes(kElements * kind.size, 0));
  RunScript(script, model());
}

INSTANTIATE_TEST_SUITE_P(, DtypeTest, ::testing::ValuesIn(kKinds),
                         [](const ::testing::TestParamInfo<Kind>& kind) { return kind.param.name; });

TEST(TensorTest, ABoolIsZeroOrOne) {
  Script script = Open("identity_bool");
  script.Do(Script::Set("set 0 0 3 2,3", {1, 0, 1, 0, 1, 1}));
  script.Fails(Script::Set("set 0 0 3 2,3", {1, 0, 2, 0, 1, 1}), WASI_NN_INVALID_ARGUMENT);
  script.Fails(Script::Set("set 0 0 3 2,3", {1, 0, 1, 0, 1, 255}), WASI_NN_INVALID_ARGUMENT);
  script.Fails("compute 0", WASI_NN_INVALID_ARGUMENT);  // never on bytes that were refused
  RunScript(script, "identity_bool");
}

TEST(TensorTest, AScalarMayBeWrittenAsOneElement) {
  Script script = Open("identity_scalar");
  script.Do(Script::Set("set 0 0 1 -", Floats({2.5f}))).Do("compute 0").Gives("get 0 0", Floats({2.5f}));
  script.Do(Script::Set("set 0 0 1 1", Floats({-7}))).Do("compute 0").Gives("get 0 0", Floats({-7}));
  script.Do(Script::Set("set 0 0 1 -", Floats({3}))).Do("compute 0").Gives("get 0 0 4", Floats({3}));
  script.Fails(Script::Set("set 0 0 1 1,1", Floats({1})), WASI_NN_INVALID_ARGUMENT);
  script.Fails(Script::Set("set 0 0 1 2", Floats({1, 2})), WASI_NN_INVALID_ARGUMENT);
  script.Fails(Script::Set("set 0 0 1 0", {}), WASI_NN_INVALID_ARGUMENT);
  script.Fails(Script::Set("set 0 0 1 -", {}), WASI_NN_INVALID_ARGUMENT);
  RunScript(script, "identity_scalar");
}

TEST(TensorTest, AnEmptyTensorHasNoBytes) {
  Script script = Open("identity_empty");
  script.Fails("compute 0", WASI_NN_INVALID_ARGUMENT);  // empty is not unset
  for (int i = 0; i < 2; ++i) {
    script.Do("set 0 0 1 0,3 -").Do("compute 0").Gives("get 0 0", {}).Gives("get 0 0 0", {});
  }
  script.Fails("set 0 0 1 0,2 -", WASI_NN_INVALID_ARGUMENT);
  script.Fails("set 0 0 1 0 -", WASI_NN_INVALID_ARGUMENT);
  script.Fails(Script::Set("set 0 0 1 1,3", Floats({1, 2, 3})), WASI_NN_INVALID_ARGUMENT);
  script.Fails(Script::Set("set 0 0 1 0,3", Floats({1})), WASI_NN_INVALID_ARGUMENT);
  RunScript(script, "identity_empty");
}

OnnxTensor RandomTensor(std::mt19937& random, std::vector<int64_t> dims) {
  std::normal_distribution<float> normal;
  int64_t count = 1;
  for (const int64_t dim : dims) count *= dim;
  std::vector<float> values(static_cast<size_t>(count));
  std::ranges::generate(values, [&] { return normal(random); });
  return {kOnnxFloat, std::move(dims), Floats(values)};
}

TEST(TensorTest, AShapeMayGrowShrinkAndComeBack) {
  const auto native = NativeModel::Load(TinyModelPath("dynamic"));
  ASSERT_TRUE(native) << native.error();
  std::mt19937 random(1);
  Script script = Open("dynamic");
  const std::vector<std::vector<int64_t>> shapes = {{2, 3}, {2, 3}, {4, 5}, {64, 64}, {1, 1},
                                                    {2, 3}, {0, 5}, {2, 3}, {300, 7}, {7, 300},
                                                    {5, 0}, {0, 0}, {1, 1}, {2, 3},   {2, 3}};
  for (const auto& shape : shapes) {
    const OnnxTensor x = RandomTensor(random, shape);
    const auto y = native->Run({&x, 1});
    ASSERT_TRUE(y) << y.error();
    const std::string dims = std::to_string(shape[0]) + "," + std::to_string(shape[1]);
    script.Do(Script::Set("set 0 0 1 " + dims, x.bytes)).Do("compute 0").Gives("get 0 0", (*y)[0].bytes);
    script.Fails("set 0 0 1 0 -", WASI_NN_INVALID_ARGUMENT);  // changes nothing
    script.Do("compute 0").Gives("get 0 0", (*y)[0].bytes);
  }
  RunScript(script, "dynamic");
}

TEST(TensorTest, AShapeMayBeKnownOnlyAfterCompute) {
  const auto native = NativeModel::Load(TinyModelPath("nonzero"));
  ASSERT_TRUE(native) << native.error();
  Script script = Open("nonzero");
  for (const std::vector<float>& values : std::vector<std::vector<float>>{
           {0, 1, 0, 2, 0, 3}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 9}, {1, 1, 1, 0, 1, 1}}) {
    const OnnxTensor x = {kOnnxFloat, {2, 3}, Floats(values)};
    const auto indices = native->Run({&x, 1});
    ASSERT_TRUE(indices) << indices.error();
    const Bytes& expected = (*indices)[0].bytes;
    script.Do(Script::Set("set 0 0 1 2,3", x.bytes)).Do("compute 0").Gives("get 0 0", expected);
    script.Gives("get 0 0 " + std::to_string(expected.size()), expected);
    if (!expected.empty()) script.Fails("get 0 0 " + std::to_string(expected.size() - 1), WASI_NN_TOO_LARGE);
  }
  RunScript(script, "nonzero");
}

TEST(TensorTest, InputsAndOutputsKeepTheirOrder) {
  Script script = Open("two_in_two_out");
  script.Do(Script::Set("set 0 1 1 2,2", Floats({1, 2, 3, 4})));
  script.Fails("compute 0", WASI_NN_INVALID_ARGUMENT);
  script.Do(Script::Set("set 0 0 1 2,2", Floats({10, 20, 30, 40}))).Do("compute 0");
  script.Gives("get 0 1", Floats({11, 22, 33, 44})).Gives("get 0 0", Floats({9, 18, 27, 36}));
  script.Fails("get 0 2", WASI_NN_INVALID_ARGUMENT);
  script.Fails(Script::Set("set 0 2 1 2,2", Floats({1, 2, 3, 4})), WASI_NN_INVALID_ARGUMENT);
  RunScript(script, "two_in_two_out");
}

TEST(TensorTest, AnInputStaysWhileAnotherIsSet) {
  Script script = Open("two_in_two_out");
  script.Do(Script::Set("set 0 0 1 2,2", Floats({1, 1, 1, 1}))).Do(Script::Set("set 0 1 1 2,2", Floats({5, 6, 7, 8})));
  script.Do("compute 0").Gives("get 0 1", Floats({6, 7, 8, 9}));
  script.Do(Script::Set("set 0 0 1 2,2", Floats({100, 100, 100, 100})));
  script.Do("compute 0").Gives("get 0 1", Floats({105, 106, 107, 108}));
  script.Do("compute 0").Gives("get 0 0", Floats({95, 94, 93, 92}));
  // A second context of the graph has nothing of the first.
  script.Do("context 1 0").Fails("compute 1", WASI_NN_INVALID_ARGUMENT).Fails("get 1 0", WASI_NN_INVALID_ARGUMENT);
  script.Do(Script::Set("set 1 0 1 2,2", Floats({0, 0, 0, 0}))).Fails("compute 1", WASI_NN_INVALID_ARGUMENT);
  script.Do(Script::Set("set 1 1 1 2,2", Floats({1, 2, 3, 4}))).Do("compute 1").Gives("get 1 1", Floats({1, 2, 3, 4}));
  script.Do("compute 0").Gives("get 0 1", Floats({105, 106, 107, 108}));
  RunScript(script, "two_in_two_out");
}

TEST(TensorTest, AnInputWithADefaultMayStayUnset) {
  Script script = Open("optional_input");
  script.Fails("compute 0", WASI_NN_INVALID_ARGUMENT);
  script.Do(Script::Set("set 0 0 1 2", Floats({1, 2}))).Do("compute 0").Gives("get 0 0", Floats({11, 22}));
  script.Do(Script::Set("set 0 1 1 2", Floats({100, 200}))).Do("compute 0").Gives("get 0 0", Floats({101, 202}));
  script.Do(Script::Set("set 0 0 1 2", Floats({5, 5}))).Do("compute 0").Gives("get 0 0", Floats({105, 205}));
  RunScript(script, "optional_input");
}

const Bytes kBlackImage(768, 0);  // 3x8x8 floats

TEST(TensorTest, AnOutputIsThereAfterComputeOnly) {
  Script script = Open("mean");
  script.Fails("get 0 0", WASI_NN_INVALID_ARGUMENT);
  script.Do(Script::Set("set 0 0 1 1,3,8,8", kBlackImage)).Fails("get 0 0", WASI_NN_INVALID_ARGUMENT);
  script.Do("compute 0").Gives("get 0 0 12", Bytes(12, 0)).Gives("get 0 0", Bytes(12, 0));
  RunScript(script, "mean");
}

TEST(TensorTest, ASmallBufferLearnsTheSize) {
  const TempFolder folder;
  Script script = Open("mean");
  script.Do(Script::Set("set 0 0 1 1,3,8,8", kBlackImage)).Do("compute 0");
  script.Fails("get 0 0 0", WASI_NN_TOO_LARGE).Fails("get 0 0 11", WASI_NN_TOO_LARGE).Gives("get 0 0 12", Bytes(12, 0));
  const auto answers = script.Run(Flags("mean"), folder.path());
  ASSERT_EQ(answers.size(), 7u);
  EXPECT_EQ(answers[4].bytes, (Bytes{12, 0, 0, 0}));
  EXPECT_EQ(answers[5].bytes, (Bytes{12, 0, 0, 0}));
}

TEST(TensorTest, StringsLoadButCannotBeTouched) {
  Script script = Open("identity_string");
  script.Fails(Script::Set("set 0 0 3 2,3", Bytes(6, 'a')), WASI_NN_UNSUPPORTED_OPERATION);
  script.Fails("compute 0", WASI_NN_UNSUPPORTED_OPERATION).Fails("get 0 0", WASI_NN_UNSUPPORTED_OPERATION);
  RunScript(script, "identity_string");
}

TEST(TensorTest, SequencesLoadButCannotBeTouched) {
  Script in = Open("sequence_input");
  in.Fails(Script::Set("set 0 0 1 2,3", Bytes(24, 0)), WASI_NN_UNSUPPORTED_OPERATION);
  in.Fails("compute 0", WASI_NN_UNSUPPORTED_OPERATION);
  RunScript(in, "sequence_input");
  Script out = Open("sequence_output");
  out.Do(Script::Set("set 0 0 1 2,3", Bytes(24, 0))).Do("compute 0");
  out.Fails("get 0 0", WASI_NN_UNSUPPORTED_OPERATION);
  RunScript(out, "sequence_output");
}

}  // namespace
}  // namespace wasinn::testing
