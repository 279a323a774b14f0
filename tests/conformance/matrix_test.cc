// The same program on every framework, in every format, over every form of wasi-nn: all held-out digits, with the bytes
// and the accuracy of the framework called directly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "formats.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

// A form of wasi-nn, and how it writes numbers.
struct Form {
  const char* name;
  const char* guest;
  const char* dialect;
  int autodetect;
  bool component = false;
};
constexpr Form kForms[] = {
    {"witx", "infer-witx", "witx", 5},
    {"WasmEdge's numbers", "infer-witx", "wasmedge", 5},
    {"WAMR's numbers", "infer-witx", "wamr", 6},
    {"WAMR's module", "infer-wamr", "witx", 6},
    {"wasi:nn of 2024-10-28", "infer-october.component", "witx", 6, true},
    {"wasi:nn of 2024-08-19", "infer-august.component", "witx", 6, true},
    {"wasi:nn of 2024-06-25", "infer-june.component", "witx", 6, true},
};

// Components need a Wasmtime that serves them, and jco to make them.
std::vector<Form> BuiltForms() {
  // Other engines than Wasmtime run no components, and say so: their own tests see to it.
  const bool components = CONFORMANCE_HAS_COMPONENTS && std::getenv("WASINN_ENGINE") == nullptr;
  std::vector<Form> forms;
  for (const Form& form : kForms) {
    if (!form.component || components) forms.push_back(form);
  }
  return forms;
}

class MatrixTest : public ::testing::TestWithParam<Format> {
 protected:
  MatrixTest() {
    const Format& format = GetParam();
    std::ofstream(folder_.path() / "host.toml")
        << "[models.digits]\npath = \"" << format.path() << "\"\nbackend = \"" << format.framework << "\"\n";
    const Bytes inputs = InputsOf(format, held_out_);
    std::ofstream(Inputs(), std::ios::binary).write(reinterpret_cast<const char*>(inputs.data()), inputs.size());
  }

  std::string Inputs() const { return folder_.path() / "inputs"; }

  // A guest that runs all images on each of these models.
  CommandResult Run(const Form& form, const std::vector<std::string>& models) const {
    std::vector<std::string> args = {GetParam().type,  "1,1,8,8", "/files/inputs",
                                     "/files/outputs", "image",   GetParam().output};
    args.insert(args.end(), models.begin(), models.end());
    return RunGuest({"--config", folder_.path() / "host.toml", "--dialect", form.dialect, "--dir",
                     folder_.path().string() + "::/files", "--dir", CONFORMANCE_SOURCE "/models::/models"},
                    form.guest, args);
  }

  const HeldOut held_out_ = ReadHeldOut();
  const TempFolder folder_;
};

// By name and, where the format can be given as bytes, by its number and by the bytes alone.
std::vector<std::string> ModelsOf(const Format& format, const Form& form) {
  std::vector<std::string> models = {"name:digits"};
  const std::string files = format.guest_files();
  if (files.empty()) return models;
  for (const int encoding : {format.encoding, form.autodetect}) {
    models.push_back("bytes:" + std::to_string(encoding) + ":" + files);
  }
  return models;
}

TEST_P(MatrixTest, Digits) {
  const Bytes expected = RunReference(GetParam(), Inputs(), folder_.path());
  const size_t right = CountRight(GetParam(), expected, held_out_.labels);
  EXPECT_GE(static_cast<double>(right), kWantedAccuracy * kHeldOut);
  for (const Form& form : BuiltForms()) {
    SCOPED_TRACE(form.name);
    const std::vector<std::string> models = ModelsOf(GetParam(), form);
    const CommandResult run = Run(form, models);
    EXPECT_EQ(run.exit_code, 0) << run.out << run.err;
    std::string lines;
    for (const std::string& model : models) lines += model + " " + std::to_string(kHeldOut) + "\n";
    EXPECT_EQ(run.out, lines);
    const Bytes outputs = ReadBytes(folder_.path() / "outputs");
    ASSERT_EQ(outputs.size(), expected.size() * models.size());
    for (size_t i = 0; i < models.size(); ++i) {
      const auto begin = outputs.begin() + static_cast<ptrdiff_t>(i * expected.size());
      const Bytes of_model(begin, begin + static_cast<ptrdiff_t>(expected.size()));
      EXPECT_TRUE(of_model == expected) << models[i] << ": other bytes than the framework's own";
      EXPECT_EQ(CountRight(GetParam(), of_model, held_out_.labels), right) << models[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, MatrixTest, ::testing::ValuesIn(BuiltFormats()),
                         [](const auto& format) { return format.param.name; });

// A model that cannot be given as bytes is refused in every form, in words.
class FolderTest : public MatrixTest {};

TEST_P(FolderTest, IsNoBytes) {
  constexpr int kUnsupported = 6, kUnsupportedComponent = 1004;
  for (const Form& form : BuiltForms()) {
    SCOPED_TRACE(form.name);
    const std::string path = std::string("/models/") + GetParam().model + "/saved_model.pb";
    const std::string by_number = "bytes:" + std::to_string(WASI_NN_ENCODING_TENSORFLOW) + ":" + path;
    const std::string by_bytes = "bytes:" + std::to_string(form.autodetect) + ":" + path;
    const CommandResult run = Run(form, {by_number, by_bytes, "name:digits"});
    const std::string error = ": load: " + std::to_string(form.component ? kUnsupportedComponent : kUnsupported) + "\n";
    EXPECT_EQ(run.out, by_number + error + by_bytes + error + "name:digits 360\n");
    EXPECT_THAT(run.err, ::testing::HasSubstr("a SavedModel is a folder"));
  }
}

// The formats that are folders.
std::vector<Format> Folders() {
  std::vector<Format> formats = BuiltFormats();
  std::erase_if(formats, [](const Format& format) { return !std::filesystem::is_directory(format.path()); });
  return formats;
}

INSTANTIATE_TEST_SUITE_P(, FolderTest, ::testing::ValuesIn(Folders()),
                         [](const auto& format) { return format.param.name; });

}  // namespace
}  // namespace wasinn::testing
