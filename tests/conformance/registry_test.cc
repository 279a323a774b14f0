// Models that guests name: folders with versions, other commands' spellings, and one compiled model for all who name
// it.
#include <gtest/gtest.h>

#include <filesystem>

#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

// Three models that take the same input and tell by their output which they are.
constexpr char kSame[] = "identity_f32", kRelu[] = "dynamic", kNonzero[] = "nonzero";
const Bytes kInput = Floats({-1, 2, 0, -4, 5, 0});
const Bytes kReluOutput = Floats({0, 2, 0, 0, 5, 0});
const Bytes kNonzeroOutput = BytesOf(std::vector<int64_t>{0, 0, 1, 1, 0, 1, 0, 1});

class RegistryTest : public ::testing::Test {
 protected:
  // Puts a tiny model where `path` says.
  void Put(const std::string& model, const std::string& path) const {
    const fs::path to = folder_.path() / path;
    fs::create_directories(to.parent_path());
    fs::copy_file(TinyModelPath(model), to, fs::copy_options::overwrite_existing);
  }
  std::string Path(const std::string& path) const { return (folder_.path() / path).string(); }

  // The guest loads `name` and gets `expected` for kInput.
  static void Ask(Script& script, const std::string& name, const Bytes& expected) {
    script.Do("name 0 " + name).Do("context 0 0").Do(Script::Set("set 0 0 1 2,3", kInput));
    script.Do("compute 0").Gives("get 0 0", expected);
  }

  std::vector<Script::Answer> RunScript(Script& script, const std::vector<std::string>& flags) const {
    return script.Run(flags, folder_.path());
  }

  const TempFolder folder_;
};

TEST_F(RegistryTest, TheHighestVersionWins) {
  Put(kRelu, "models/m/1/model.onnx");
  Put(kNonzero, "models/m/2/model.onnx");
  Put(kSame, "models/m/10/model.onnx");  // by number, not by letter
  Put(kRelu, "models/plain/model.onnx");
  Put(kSame, "models/alone/7/model.onnx");
  fs::create_directories(Path("models/nothing/1"));
  Script script;
  Ask(script, "m", kInput);
  Ask(script, "m:1", kReluOutput);
  Ask(script, "m:2", kNonzeroOutput);
  Ask(script, "m:10", kInput);
  Ask(script, "plain", kReluOutput);
  Ask(script, "plain:1", kReluOutput);
  Ask(script, "alone", kInput);
  Ask(script, "alone:7", kInput);
  for (const char* name : {"m:3", "m:0", "m:", "m:x", "m:1:1", "plain:2", "alone:1", "nothing", "models", "M"}) {
    script.Fails("name 0 " + std::string(name), WASI_NN_NOT_FOUND);
  }
  RunScript(script, {"--models", Path("models")});
}

TEST_F(RegistryTest, AFlagAddsAVersion) {
  Put(kRelu, "relu.onnx");
  Put(kSame, "m/1/model.onnx");
  Script script;
  Ask(script, "m", kReluOutput);
  Ask(script, "m:1", kInput);
  Ask(script, "other", kInput);
  RunScript(script,
            {"--model", "m=" + Path("m"), "--model", "m=" + Path("relu.onnx") + ",version=3,encoding=onnx,target=cpu",
             "--model", "other=" + Path("m/1")});
}

TEST_F(RegistryTest, WasmtimesSpelling) {
  Put(kRelu, "fixture/model.onnx");
  Put(kSame, "other/model.onnx");
  Script script;
  Ask(script, "fixture", kReluOutput);
  Ask(script, "other", kInput);
  RunScript(script, {"-S", "nn,nn-graph=onnx::" + Path("fixture"), "-S", "nn-graph=onnx::" + Path("other")});
}

TEST_F(RegistryTest, WasmEdgesSpelling) {
  Put(kRelu, "relu.onnx");
  Put(kSame, "same.onnx");
  Script script;
  Ask(script, "relu", kReluOutput);
  Ask(script, "same", kInput);
  RunScript(script, {"--nn-preload", "relu:onnx:cpu:" + Path("relu.onnx"), "--nn-preload",
                     "same:ONNX:CPU:" + Path("same.onnx")});
}

TEST_F(RegistryTest, AnUnknownFormatIsRefused) {
  Put(kRelu, "fixture/model.onnx");
  const CommandResult run = RunGuest({"-S", "nn-graph=nonsense::" + Path("fixture")}, "steps", {});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_NE(run.err.find("nonsense"), std::string::npos) << run.err;
}

// The bytes besides a model belong to it when the host names the file, and never when the guest brings the bytes.
TEST_F(RegistryTest, ExternalData) {
  Put("external", "external.onnx");
  fs::copy_file(TinyModelPath("external").replace_filename("external.bin"), Path("external.bin"));
  Script script;
  script.Do("name 0 external").Do("context 0 0").Do(Script::Set("set 0 0 1 4", Floats({10, 20, 30, 40})));
  script.Do("compute 0").Gives("get 0 0", Floats({11, 22, 33, 44}));
  script.Fails("load 1 /files/external.onnx", WASI_NN_UNSUPPORTED_OPERATION);  // policy
  script.Do("compute 0").Gives("get 0 0", Floats({11, 22, 33, 44}));
  RunScript(script, {"--model", "external=" + Path("external.onnx")});
}

// The standard has no number for it.
TEST_F(RegistryTest, AModelWhoseFileIsMissing) {
  for (const std::string dialect : {"witx", "wasmedge"}) {
    Put(kRelu, "m.onnx");
    Script script;
    script.Do("rename /files/m.onnx /files/gone.onnx");
    script.Fails("name 0 m", dialect == "wasmedge" ? WASI_NN_MODEL_NOT_FOUND : WASI_NN_NOT_FOUND);
    script.Do("rename /files/gone.onnx /files/m.onnx");
    Ask(script, "m", kReluOutput);
    RunScript(script, {"--model", "m=" + Path("m.onnx"), "--dialect", dialect});
  }
}

}  // namespace
}  // namespace wasinn::testing
