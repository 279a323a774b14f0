// The same program on every framework, in every format, over every form of wasi-nn: held-out digits, with the bytes of
// the framework called directly (all of them over the plain form, with the accuracy too); strings; and what a language
// model says.
#include "forms.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

// The number of held-out images.
constexpr size_t kFew = 30;

class MatrixTest : public ::testing::TestWithParam<Case> {
 protected:
  // The host offers the model by this name.
  static constexpr char kName[] = "name:model";

  static const Format& format() { return GetParam().format; }
  static const Form& form() { return GetParam().form; }

  // `config`: lines of the model's configuration.
  void Write(const Bytes& inputs, const std::string& config = "") const {
    folder_.Write("host.toml", format().Settings("model") + config);
    folder_.Write("inputs", inputs);
  }

  std::string Inputs() const { return folder_.path() / "inputs"; }

  // A guest that runs all tensors on each of these models.
  CommandResult Run(const char* input, const std::string& dims, const std::vector<std::string>& models) const {
    std::vector<std::string> args = {format().type, dims, "/files/inputs", "/files/outputs", input, format().output};
    args.insert(args.end(), models.begin(), models.end());
    return RunGuest({"--config", folder_.path() / "host.toml", "--dialect", form().dialect, "--dir",
                     folder_.path().string() + "::/files", "--dir", InSources("models") + "::/models"},
                    std::string("infer-") + form().guest, args);
  }

  void CheckDigits() const;
  void CheckText() const;
  void CheckStrings() const;
  void CheckFolder() const;

  const TestFolder folder_;
};

// By name and, where the format can be given as bytes, by its number and by the bytes alone.
void MatrixTest::CheckDigits() const {
  HeldOut held_out = ReadHeldOut();
  if (std::string(form().name) != "witx") {  // the framework's work is the same in every form
    held_out.images.resize(kFew);
    held_out.labels.resize(kFew);
  }
  const size_t count = held_out.images.size();
  Write(InputsOf(format(), held_out));
  const Bytes expected = RunReference(format(), Inputs(), folder_.path());
  const size_t right = CountRight(format(), expected, held_out.labels);
  if (count == kHeldOut) {
    EXPECT_GE(static_cast<double>(right), kWantedAccuracy * kHeldOut);
  }

  std::vector<std::string> models = {kName};
  const std::string files = format().guest_files();
  for (const int encoding : {format().encoding, form().autodetect}) {
    if (!files.empty()) models.push_back("bytes:" + std::to_string(encoding) + ":" + files);
  }
  const CommandResult run = Run("image", "1,1,8,8", models);
  EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
  std::string lines;
  for (const std::string& model : models) lines += model + " " + std::to_string(count) + "\n";
  EXPECT_EQ(run.out, lines);
  const Bytes outputs = ReadBytes(folder_.path() / "outputs");
  ASSERT_EQ(outputs.size(), expected.size() * models.size());
  for (size_t i = 0; i < models.size(); ++i) {
    const auto begin = outputs.begin() + static_cast<ptrdiff_t>(i * expected.size());
    const Bytes of_model(begin, begin + static_cast<ptrdiff_t>(expected.size()));
    EXPECT_TRUE(of_model == expected) << models[i] << ": other bytes than the framework's own";
    EXPECT_EQ(CountRight(format(), of_model, held_out.labels), right) << models[i];
  }
}

// By name, for a guest's own bytes have no configuration: of these, that they load by the form's numbers.
void MatrixTest::CheckText() const {
  const std::string prompt = "GNU General Public";
  Write({prompt.begin(), prompt.end()}, "temp = 0\nn-predict = 16\nthreads = 1\n");
  const std::string dims = std::to_string(prompt.size());
  const Bytes expected = RunReference(format(), Inputs(), folder_.path(), dims);
  EXPECT_THAT(std::string(expected.begin(), expected.end()), ::testing::StartsWith(" License"));
  std::vector<std::string> models = {kName};
  std::string lines = std::string(kName) + " 1\n";
  for (const int encoding : {form().ggml, form().autodetect}) {
    models.push_back("load:" + std::to_string(encoding) + ":" + format().guest_files());
    lines += models.back() + " 0\n";
  }
  const CommandResult run = Run("prompt", dims, models);
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, lines) << run.err;
  EXPECT_EQ(ToHex(ReadBytes(folder_.path() / "outputs")), ToHex(expected));
}

// Six of any bytes come back as they went, from the host's model and from the guest's own. Then one says that it is
// longer than it can be, which is an error.
void MatrixTest::CheckStrings() const {
  constexpr size_t kWidth = 304;
  std::string strings;
  for (const std::string& text : {std::string(), std::string("a\0b", 3), std::string("\xff\xfe\xc3"),
                                  std::string(kWidth - 4, 'x'), std::string("gr\u00fcn"), std::string(1, '\0')}) {
    strings.append({static_cast<char>(text.size()), static_cast<char>(text.size() >> 8), 0, 0}).append(text);
    strings.resize((strings.size() + kWidth - 1) / kWidth * kWidth);
  }
  std::string lie = strings;
  lie[kWidth + 1] = 2;
  const std::string inputs = strings + lie;
  Write({inputs.begin(), inputs.end()});
  std::filesystem::copy_file(format().path(), folder_.path() / "model");
  const std::vector<std::string> models = {kName, "bytes:" + std::to_string(format().encoding) + ":/files/model"};
  const CommandResult run = Run("x", "2,3," + std::to_string(kWidth), models);
  constexpr int kInvalid = 1, kInvalidComponent = 1000;
  const std::string error = ": infer: " + std::to_string(form().component ? kInvalidComponent : kInvalid) + "\n";
  EXPECT_EQ(run.out, models[0] + error + models[1] + error) << run.err;
  EXPECT_THAT(run.err, ::testing::HasSubstr("input 'x': string 1 has 515 bytes: expected no more than 300"));
  const Bytes outputs = ReadBytes(folder_.path() / "outputs");
  EXPECT_EQ(std::string(outputs.begin(), outputs.end()), strings + strings);
}

// Models that give the strings that they get.
std::vector<Format> StringFormats() {
  return Built(
      std::vector<Format>{
          {"Onnx", "onnx", "../tests/models/tiny/identity_string.onnx", {}, WASI_NN_ENCODING_ONNX, "y", "u8"},
          {"FrozenGraph",
           "tensorflow",
           "../tests/models/tensorflow/identity_string.pb",
           {},
           WASI_NN_ENCODING_TENSORFLOW,
           "y",
           "u8"}},
      &Format::framework);
}

// A model that cannot be given as bytes is refused, in words.
void MatrixTest::CheckFolder() const {
  constexpr int kUnsupported = 6, kUnsupportedComponent = 1004;
  Write({});
  const std::string path = std::string("/models/") + format().model + "/saved_model.pb";
  const std::string by_number = "bytes:" + std::to_string(WASI_NN_ENCODING_TENSORFLOW) + ":" + path;
  const std::string by_bytes = "bytes:" + std::to_string(form().autodetect) + ":" + path;
  const CommandResult run = Run("image", "1,1,8,8", {by_number, by_bytes});
  const std::string error = ": load: " + std::to_string(form().component ? kUnsupportedComponent : kUnsupported) + "\n";
  EXPECT_EQ(run.out, by_number + error + by_bytes + error);
  EXPECT_THAT(run.err, ::testing::HasSubstr("a SavedModel is a folder"));
}

// The formats that are folders, in one form: the core gives the answer.
std::vector<Case> Folders(std::vector<Form> forms) {
  std::vector<Format> formats = BuiltFormats();
  std::erase_if(formats, [](const Format& format) { return !std::filesystem::is_directory(format.path()); });
  forms.resize(std::min<size_t>(forms.size(), 1));
  return Cases(formats, forms);
}

std::string ParamName(const ::testing::TestParamInfo<Case>& info) { return NameOf(info.param); }

// Core modules run on every engine, and components on one of them: the other engines leave out suites called Component…
// (tests/CMakeLists.txt). If the build does not have a part, its suites have no cases.
class StringsTest : public MatrixTest {};
class TextTest : public MatrixTest {};
class FolderTest : public MatrixTest {};
TEST_P(MatrixTest, Digits) { CheckDigits(); }
TEST_P(StringsTest, GoInAndComeOut) { CheckStrings(); }
TEST_P(TextTest, Completion) { CheckText(); }
TEST_P(FolderTest, IsNoBytes) { CheckFolder(); }
INSTANTIATE_TEST_SUITE_P(, MatrixTest, ::testing::ValuesIn(Cases(BuiltFormats(), ModuleForms())), ParamName);
INSTANTIATE_TEST_SUITE_P(, StringsTest, ::testing::ValuesIn(Cases(StringFormats(), ModuleForms())), ParamName);
INSTANTIATE_TEST_SUITE_P(, TextTest, ::testing::ValuesIn(Cases(TextFormats(), ModuleForms())), ParamName);
INSTANTIATE_TEST_SUITE_P(, FolderTest, ::testing::ValuesIn(Folders(ModuleForms())), ParamName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(StringsTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TextTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FolderTest);

class ComponentMatrixTest : public MatrixTest {};
class ComponentStringsTest : public MatrixTest {};
class ComponentTextTest : public MatrixTest {};
class ComponentFolderTest : public MatrixTest {};
TEST_P(ComponentMatrixTest, Digits) { CheckDigits(); }
TEST_P(ComponentStringsTest, GoInAndComeOut) { CheckStrings(); }
TEST_P(ComponentTextTest, Completion) { CheckText(); }
TEST_P(ComponentFolderTest, IsNoBytes) { CheckFolder(); }
INSTANTIATE_TEST_SUITE_P(, ComponentMatrixTest, ::testing::ValuesIn(Cases(BuiltFormats(), ComponentForms())),
                         ParamName);
INSTANTIATE_TEST_SUITE_P(, ComponentStringsTest, ::testing::ValuesIn(Cases(StringFormats(), ComponentForms())),
                         ParamName);
INSTANTIATE_TEST_SUITE_P(, ComponentTextTest, ::testing::ValuesIn(Cases(TextFormats(), ComponentForms())), ParamName);
INSTANTIATE_TEST_SUITE_P(, ComponentFolderTest, ::testing::ValuesIn(Folders(ComponentForms())), ParamName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ComponentMatrixTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ComponentStringsTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ComponentTextTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ComponentFolderTest);

}  // namespace
}  // namespace wasinn::testing
