// The packages for guests in Rust and in Go (guest/rust, guest/go). A program in each language calls every function of
// its package (guests/rust, guests/go), on real models; both print the same, and compute the same as the framework.
#include "forms.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

using Functions = std::set<std::string>;

// The number of held-out images.
constexpr size_t kFew = 30;

const Functions kStandard = {"load", "load_by_name", "init_execution_context", "set_input", "compute", "get_output"};
const Functions kOfWasmEdge = {"load_by_name_with_config", "unload",     "finalize_execution_context", "compute_single",
                               "get_output_single",        "fini_single"};
const Functions kOwn = {"last_error",
                        "describe",
                        "load_as",
                        "set_input_by_name",
                        "get_output_by_name",
                        "set_output",
                        "set_output_by_name",
                        "set_input_from_output",
                        "compute_once"};

// The imports of a guest, all of which are functions, by module.
class Imports {
 public:
  explicit Imports(const std::string& guest) : bytes_(ReadBytes(GuestFile(guest))) {
    constexpr uint8_t kImportSection = 2;
    for (at_ = 8; at_ < bytes_.size();) {  // behind the magic bytes and the version
      const uint8_t section = bytes_[at_++];
      const size_t size = Number();
      if (section == kImportSection) {
        Read();
        return;
      }
      at_ += size;
    }
  }
  Functions Of(const std::string& module) const {
    const auto found = of_.find(module);
    return found == of_.end() ? Functions() : found->second;
  }

 private:
  size_t Number() {  // LEB128
    size_t value = 0;
    for (size_t shift = 0;; shift += 7) {
      const uint8_t byte = bytes_.at(at_++);
      value |= size_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string Name() {
    const size_t size = Number();
    at_ += size;
    return {bytes_.begin() + static_cast<ptrdiff_t>(at_ - size), bytes_.begin() + static_cast<ptrdiff_t>(at_)};
  }
  void Read() {
    for (size_t left = Number(); left > 0; --left) {
      const std::string module = Name();
      of_[module].insert(Name());
      ASSERT_EQ(bytes_.at(at_++), 0) << "an import that is no function";
      Number();  // its type
    }
  }

  const Bytes bytes_;
  size_t at_ = 0;
  std::map<std::string, Functions> of_;
};

std::vector<std::string> Languages() {
  std::vector<std::string> languages = {"rust", "go"};
  std::erase_if(languages, [](const std::string& language) { return !HasGuest("bindings-" + language); });
  return languages;
}

Format Onnx() { return BuiltFormats().at(0); }

class BindingsTest : public ::testing::TestWithParam<std::string> {
 protected:
  // The folder is the root: for any other folder, Go does not find the name that WasmEdge reports.
  std::vector<std::string> Run(std::vector<std::string> flags, const std::vector<std::string>& args) const {
    flags.insert(flags.end(), {"--dir", folder_.path().string() + "::/"});
    const CommandResult run = RunGuest(flags, "bindings-" + GetParam(), args);
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    return Lines(run.out);
  }

  const TestFolder folder_;
};

const std::vector<std::string> kDigits = {"--model", "digits=" + std::string(kDigitsModel)};

TEST_P(BindingsTest, ImportsOfEveryFunction) {
  const Imports imports("bindings-" + GetParam());
  Functions with_additions = kStandard;
  with_additions.insert(kOfWasmEdge.begin(), kOfWasmEdge.end());
  EXPECT_EQ(imports.Of("wasi_ephemeral_nn"), with_additions);
  EXPECT_EQ(imports.Of("wasinn_ext_0"), kOwn);
}

// A guest that keeps to the standard runs on hosts that have no more.
TEST_P(BindingsTest, ImportsOfWhatIsCalled) {
  const Imports imports("digits-" + GetParam());
  Functions called = kStandard;
  called.erase("load");
  EXPECT_EQ(imports.Of("wasi_ephemeral_nn"), called);
  EXPECT_EQ(imports.Of("wasinn_ext_0"), Functions());
}

TEST_P(BindingsTest, Digits) {
  HeldOut held_out = ReadHeldOut();
  held_out.images.resize(kFew);
  const std::string inputs = folder_.Write("inputs", InputsOf(Onnx(), held_out));
  const Bytes expected = RunReference(Onnx(), inputs, folder_.path());
  folder_.Write("digits.onnx", ReadBytes(kDigitsModel));
  const auto lines = Run(kDigits, {"digits", "/digits.onnx", "/inputs", "/outputs"});
  const std::vector<std::string> ways = {
      "by_index", "by_name", "configured",       "from_bytes", "from_bytes_of_a_format",
      "written",  "once",    "once_on_the_graph"};
  const Bytes outputs = ReadBytes(folder_.path() / "outputs");
  ASSERT_EQ(lines.size(), ways.size());
  ASSERT_EQ(outputs.size(), ways.size() * expected.size());
  for (size_t i = 0; i < ways.size(); ++i) {
    EXPECT_EQ(lines[i], ways[i] + " " + std::to_string((i + 1) * kFew));
    const auto begin = outputs.begin() + static_cast<ptrdiff_t>(i * expected.size());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), begin)) << ways[i] << ": other bytes than ONNX Runtime's";
  }
}

// The outputs of two_in_two_out, as both programs print them.
std::string Outputs(const std::string& name, const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> difference, sum;
  for (size_t i = 0; i < a.size(); ++i) difference.push_back(a[i] - b[i]), sum.push_back(a[i] + b[i]);
  return name + ".difference " + ToHex(Floats(difference)) + "\n" + name + ".sum " + ToHex(Floats(sum)) + "\n";
}

TEST_P(BindingsTest, Rows) {
  const std::vector<float> a = {1, 2, 3, 4}, b = {10, 20, 30, 40}, sum = {11, 22, 33, 44};
  const std::string last = Outputs("itself", sum, a);
  const std::string expected = Outputs("first", a, b) + Outputs("second", sum, b) + last + "chosen " +
                               last.substr(last.rfind(' ') + 1) + Outputs("both", sum, a) + Outputs("once", a, b) +
                               "done\n";
  const auto lines = Run({"--model", TinyModel("two_in_two_out")}, {"rows"});
  ASSERT_FALSE(lines.empty());
  EXPECT_THAT(lines[0], StartsWith(R"(describe {"backend":"onnx","inputs":[{"name":"a","type":"f32","shape":[2,2]})"));
  EXPECT_EQ(std::vector(lines.begin() + 1, lines.end()), Lines(expected));
}

TEST_P(BindingsTest, Types) {
  struct Kind {
    const char* name;
    const char* hex;
  };
  const Kind kinds[] = {
      {"f16", "003c000000c0ff7b01000080"},
      {"f32", "0000c03f00000080ffff7f7f000080000000807f000020c0"},
      {"f64", "000000000000f83f0000000000000080ffffffffffffef7f0000000000001000000000000000f07f00000000000004c0"},
      {"u8", "00017f80feff"},
      {"i8", "00017f80feff"},
      {"i32", "0000000001000000ffffff7f00000080feffffffffffffff"},
      {"u32", "0000000001000000ffffff7f00000080feffffffffffffff"},
      {"i64", "00000000000000000100000000000000ffffffffffffff7f0000000000000080feffffffffffffffffffffffffffffff"},
      {"u64", "00000000000000000100000000000000ffffffffffffff7f0000000000000080feffffffffffffffffffffffffffffff"},
      {"scalar", "0000e040"},
      {"empty", "-"}};
  std::vector<std::string> flags, expected;
  for (const Kind& kind : kinds) {
    const std::string name = std::string("identity_") + kind.name;
    flags.insert(flags.end(), {"--model", TinyModel(name)});
    expected.push_back(name + " " + kind.hex);
  }
  EXPECT_EQ(Run(flags, {"types"}), expected);
}

// The programs' output for each call that fails: its step, the errno, the bytes that a buffer has to have, and the host's words. A
// buffer that is too small leaves the words of the error before it.
struct Failed {
  const char* begin;
  const char* words;
};
constexpr char kBefore[] = "compute_single: unsupported_operation: onnx: models of this backend do not generate";
constexpr Failed kFailed[] = {
    {"no_name 8 0 ", "load_by_name: not_found: no model is registered as 'nothing'"},
    {"no_format 2 0 ", "load_as: invalid_encoding: unknown encoding 'no-format'; known are onnx"},
    {"no_model 2 0 ", "load: invalid_encoding: onnx: "},
    {"no_parts 1 0 ", "load: invalid_argument: a model needs at least one part"},
    {"no_key 1 0 ", "load_by_name_with_config: invalid_argument: backend 'onnx' has no key 'no_key'"},
    {"shorter 1 0 ", "set_input: invalid_argument: input 'image': f32 [1, 1, 8, 8] needs 256 bytes, given 252"},
    {"longer 1 0 ", "set_input: invalid_argument: input 'image': f32 [1, 1, 8, 8] needs 256 bytes, given 260"},
    {"empty 1 0 ", "set_input: invalid_argument: input 'image': f32 [1, 1, 8, 8] needs 256 bytes, given 0"},
    {"huge 1 0 ", "set_input: invalid_argument: input 'image' takes f32 [?, 1, 8, 8], given f32 [4294967295, "},
    {"rank 1 0 ", "set_input: invalid_argument: a tensor of 100 dimensions is over the limit"},
    {"type 1 0 ", "set_input: invalid_argument: input 'image' takes f32 [?, 1, 8, 8], given u8 [1, 1, 8, 8]"},
    {"type_of_as_many_bytes 1 0 ", "set_input: invalid_argument: input 'image' takes f32 [?, 1, 8, 8], given i32 "},
    {"shorter_by_name 1 0 ", "set_input_by_name: invalid_argument: input 'image': f32 [1, 1, 8, 8] needs 256 bytes"},
    {"shorter_once 1 0 ", "compute_once: invalid_argument: input 'image': f32 [1, 1, 8, 8] needs 256 bytes, given 252"},
    {"no_input 1 0 ", "compute: invalid_argument: input 0 ('image') was not set"},
    {"no_output 1 0 ", "get_output: invalid_argument: there is no output before a successful compute"},
    {"no_index 1 0 ", "set_input: invalid_argument: there is no input 1"},
    {"no_input_name 1 0 ", "set_input_by_name: invalid_argument: the model has no input ''"},
    {"no_input_name_once 1 0 ", "compute_once: invalid_argument: the model has no input ''"},
    {"no_piece 6 0 ", kBefore},
    {"small 7 40 ", kBefore},
    {"none 7 40 ", kBefore},
    {"small_by_name 7 40 ", kBefore},
    {"small_once 7 0 ", kBefore},
    {"written 40", ""},
    {"nothing_left 1 0 ", "get_output: invalid_argument: there is no output before a successful compute"},
    {"untouched true", ""},
    {"small_place 7 0 ", "compute: too_large: output 0 has 40 bytes, its buffer 36"},
    {"written 40, untouched true", ""},
    {"still_there 10", ""},
    {"no_place 7 0 ", "compute: too_large: output 0 has 40 bytes, its buffer 0"},
    {"half_an_element invalid_argument (1)", ""},
    {"half_an_element invalid_argument (1)", ""},
    {"no_way 1 0 ", "set_input_from_output: invalid_argument: there is no output 1"},
    {"not_found (8), unknown error (77)", ""},
};

TEST_P(BindingsTest, Errors) {
  std::vector<std::string> flags = kDigits;
  flags.insert(flags.end(), {"--model", TinyModel("identity_u8")});
  folder_.Write("digits.onnx", ReadBytes(kDigitsModel));
  const auto lines = Run(flags, {"errors", "/digits.onnx"});
  ASSERT_EQ(lines.size(), std::size(kFailed));
  for (size_t i = 0; i < lines.size(); ++i)
    EXPECT_THAT(lines[i], StartsWith(std::string(kFailed[i].begin) + kFailed[i].words));
}

// If this build has llama.cpp.
class BindingsTextTest : public BindingsTest {};
TEST_P(BindingsTextTest, PieceByPiece) {
  const Format format = TextFormats().at(0);
  const std::string prompt = "GNU General Public";
  const std::string inputs = folder_.Write("inputs", prompt);
  const Bytes expected = RunReference(format, inputs, folder_.path(), std::to_string(prompt.size()));
  const auto lines =
      Run({"--model", "lm=" + format.path(), "--threads", "1"}, {"text", R"({"temp":0,"n-predict":16})", prompt});
  const std::vector<std::string> wanted = {"pieces 16", "text " + ToHex(expected), "end end_of_sequence (100)",
                                           "whole " + ToHex(expected), "again true"};
  EXPECT_EQ(lines, wanted);
}

// The README shows the example as it is, and it gives what the framework does.
TEST_P(BindingsTest, Example) {
  const bool rust = GetParam() == "rust";
  const std::string folder = InSources("guest/") + GetParam();
  const auto text_of = [&](const std::string& file) {
    const Bytes bytes = ReadBytes(folder + "/" + file);
    return std::string(bytes.begin(), bytes.end());
  };
  const std::string readme = text_of("README.md"), fence = "```" + GetParam() + "\n";
  const size_t begin = readme.find(fence) + fence.size();
  const std::string shown = readme.substr(begin, readme.find("```\n", begin) - begin);
  EXPECT_THAT(text_of(rust ? "examples/digits.rs" : "examples/digits/main.go"), HasSubstr(shown));

  const std::string inputs = folder_.Write("inputs", Floats(std::vector<float>(64, 0.5f)));
  const Bytes expected = RunReference(Onnx(), inputs, folder_.path());
  const CommandResult run = RunGuest(kDigits, "digits-" + GetParam(), {});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::string numbers = run.out;
  std::ranges::replace_if(numbers, [](char c) { return c == '[' || c == ']' || c == ','; }, ' ');
  std::istringstream words(numbers);
  EXPECT_EQ(Floats({std::istream_iterator<float>(words), {}}), expected) << run.out;
}

std::string ParamName(const ::testing::TestParamInfo<std::string>& language) { return language.param; }
INSTANTIATE_TEST_SUITE_P(, BindingsTest, ::testing::ValuesIn(Languages()), ParamName);
INSTANTIATE_TEST_SUITE_P(, BindingsTextTest,
                         ::testing::ValuesIn(TextFormats().empty() ? std::vector<std::string>() : Languages()),
                         ParamName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(BindingsTextTest);

}  // namespace
}  // namespace wasinn::testing
