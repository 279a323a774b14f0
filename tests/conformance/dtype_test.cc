// Tensors of every type and shape go in and out of a guest bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

// The tiny models lie in "/models" for guests.
const std::vector<std::string> kModelFolder = {"--dir", InSources("tests/models/tiny") + "::/models"};

// A context 0 on graph 0, a model by its name.
Script Open(const std::string& model) {
  Script script;
  script.Do("name 0 " + model).Do("context 0 0");
  return script;
}

void RunScript(Script& script, const std::string& model) {
  const TempFolder folder;
  script.Run({"--model", TinyModel(model)}, folder.path());
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

// The bit patterns to try: all there are of one byte; of more, numbers at the edges, NaNs with payloads, infinities and
// denormals, and many that are drawn at random.
std::vector<uint64_t> Patterns(const Kind& kind) {
  static const std::map<size_t, std::vector<uint64_t>> kEdges = {
      {1, {}},
      {2,
       {0, 1, 0x7fff, 0x8000, 0x8001, 0xffff, 0x03ff, 0x0400, 0x7c00, 0xfc00, 0x7c01, 0xfd55, 0x7e00, 0x7f80, 0xff80,
        0x7f81, 0xffa5, 0x0102}},
      {4,
       {0, 0x80000000, 1, 0x80000001, 0x007fffff, 0x807fffff, 0x00800000, 0x7f7fffff, 0x7f800000, 0xff800000,
        0x7f800001, 0xff812345, 0x7fc00000, 0xffc00000, 0x7fd5a5a5, 0x7fffffff, 0xffffffff, 0x3f800000, 0x01020304}},
      {8,
       {0, 0x8000000000000000, 1, 0x800fffffffffffff, 0x0010000000000000, 0x7fefffffffffffff, 0x7ff0000000000000,
        0xfff0000000000000, 0x7ff0000000000001, 0xfff123456789abcd, 0x7ff8000000000000, 0x7ffdeadbeef01234,
        0x7fffffffffffffff, 0xffffffffffffffff, 0x0102030405060708}}};
  if (std::string_view(kind.name) == "bool") return {0, 1, 1, 0, 1, 1};
  std::vector<uint64_t> patterns = kEdges.at(kind.size);
  std::mt19937_64 random(1);
  for (uint64_t i = 0; i < 300 || patterns.size() % kElements != 0; ++i) {
    patterns.push_back(kind.size == 1 ? i : random());
  }
  return patterns;
}

// The patterns in tensors of six elements.
std::vector<Bytes> Tensors(const Kind& kind) {
  const std::vector<uint64_t> patterns = Patterns(kind);
  std::vector<Bytes> tensors;
  for (size_t i = 0; i < patterns.size(); ++i) {
    if (i % kElements == 0) tensors.emplace_back();
    for (size_t byte = 0; byte < kind.size; ++byte) {
      tensors.back().push_back(static_cast<uint8_t>(patterns[i] >> (8 * byte)));
    }
  }
  return tensors;
}

class DtypeTest : public ::testing::Test {
 protected:
  // A context on each model of kKinds that the host has loaded, with its number, and on one that the guest brings.
  DtypeTest() {
    for (size_t i = 0; i < std::size(kKinds); ++i) {
      const std::string model = std::string("identity_") + kKinds[i].name, own = Number(i), brought = Brought(i);
      flags_.insert(flags_.end(), {"--model", TinyModel(model)});
      script_.Do("name " + own + " " + model).Do("context " + own + " " + own);
      script_.Do("load " + brought + " /models/" + model + ".onnx").Do("context " + brought + " " + brought);
    }
  }
  static std::string Number(size_t kind) { return std::to_string(kind); }
  static std::string Brought(size_t kind) { return std::to_string(kind + std::size(kKinds)); }
  void Run() {
    const TempFolder folder;
    script_.Run(flags_, folder.path());
  }

  std::vector<std::string> flags_ = kModelFolder;
  Script script_;
};

TEST_F(DtypeTest, EveryPatternComesBack) {
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    int turn = 0;
    for (const Bytes& tensor : Tensors(kKinds[i])) {
      const std::string context = turn++ % 2 == 0 ? Number(i) : Brought(i);
      script_.Do(Script::Set("set " + context + " 0 " + kKinds[i].text(), tensor));
      script_.Do("compute " + context).Gives("get " + context + " 0", tensor);
    }
  }
  Run();
}

// Every type that wasi-nn has a number for, and some that it has not, in both ways to write the shape.
TEST_F(DtypeTest, OnlyThePairsOfTheTableMatch) {
  const size_t sizes[] = {2, 4, 8, 1, 4, 8};  // by wasi-nn's number
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    const Kind& kind = kKinds[i];
    const std::string set = "set " + Number(i) + " 0 ";
    for (const int type : {0, 1, 2, 3, 4, 5, 6, 7, 255}) {
      for (const std::string dims : {kPlain, kDoubled}) {
        const size_t size = (type < 6 ? sizes[type] : kind.size) * (dims == kPlain ? kElements : 2 * kElements);
        const std::string step = Script::Set(set + std::to_string(type) + " " + dims, Bytes(size, 0));
        if (type == kind.type && dims == kind.dims) {
          script_.Do(step);
        } else {
          script_.Fails(step, WASI_NN_INVALID_ARGUMENT);
        }
      }
    }
    const Bytes zeros(kElements * kind.size, 0);
    for (const int more : {-1, 1}) {
      const Bytes other(zeros.size() + static_cast<size_t>(more), 0);
      script_.Fails(Script::Set(set + kind.text(), other), WASI_NN_INVALID_ARGUMENT);
    }
    for (const char* dims : {"6", "3,2"}) {
      script_.Fails(Script::Set(set + std::to_string(kind.type) + " " + dims, zeros), WASI_NN_INVALID_ARGUMENT);
    }
    // None of the wrong ones has touched what was set.
    script_.Do("compute " + Number(i)).Gives("get " + Number(i) + " 0", zeros);
  }
  Run();
}

// The model gives the positive parts.
TEST(TensorTest, AShapeMayGrowShrinkAndComeBack) {
  std::minstd_rand random(1);
  Script script = Open("dynamic");
  const std::pair<size_t, size_t> shapes[] = {{2, 3},   {2, 3},   {4, 5}, {64, 64}, {1, 1}, {2, 3}, {0, 5}, {2, 3},
                                              {300, 7}, {7, 300}, {5, 0}, {0, 0},   {1, 1}, {2, 3}, {2, 3}};
  for (const auto& [rows, columns] : shapes) {
    std::vector<float> x(rows * columns), y;
    for (float& value : x) value = static_cast<float>(random() % 1000) / 100 - 5;
    for (const float value : x) y.push_back(std::max(value, 0.0f));
    const std::string dims = std::to_string(rows) + "," + std::to_string(columns);
    script.Do(Script::Set("set 0 0 1 " + dims, Floats(x))).Do("compute 0").Gives("get 0 0", Floats(y));
    script.Fails("set 0 0 1 0 -", WASI_NN_INVALID_ARGUMENT);  // changes nothing
    script.Do("compute 0").Gives("get 0 0", Floats(y));
  }
  RunScript(script, "dynamic");
}

// The model gives the rows and the columns of what is not 0.
TEST(TensorTest, AShapeMayBeKnownOnlyAfterCompute) {
  Script script = Open("nonzero");
  for (const std::vector<float>& values : std::vector<std::vector<float>>{
           {0, 1, 0, 2, 0, 3}, {1, 1, 1, 1, 1, 1}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 9}, {1, 1, 1, 0, 1, 1}}) {
    std::vector<int64_t> rows, columns;
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] == 0) continue;
      rows.push_back(static_cast<int64_t>(i / 3));
      columns.push_back(static_cast<int64_t>(i % 3));
    }
    rows.insert(rows.end(), columns.begin(), columns.end());
    const Bytes expected = BytesOf(rows);
    script.Do(Script::Set("set 0 0 1 2,3", Floats(values))).Do("compute 0").Gives("get 0 0", expected);
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
