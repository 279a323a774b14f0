// Files of models that change while a guest runs: before they are read, after, and between load and compute.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "hostile/run.h"

namespace wasinn::testing {
namespace {

namespace fs = std::filesystem;

class HostileReplaced : public ::testing::Test {
 protected:
  // Starts the guest with models of the host whose files lie in the test's folder.
  void Start(const std::vector<std::string>& models) {
    GuestRun run{.guest = "replaced"};
    for (const std::string& name : models) {
      run.flags.insert(run.flags.end(), {"--model", name + "=" + Path(name).string()});
    }
    const GuestCommand command = run.Command(folder_);
    child_ = std::make_unique<Child>(command.argv, command.environment);
  }
  fs::path Path(const std::string& model) const { return folder_.path() / (model + ".onnx"); }
  // Lets the guest load and compute `name`.
  void Do(const std::string& name) {
    child_->Say(name);
    ASSERT_TRUE(child_->WaitForLine("ready"));
  }
  void ExpectEnd(const std::vector<Attack>& attacks) { ExpectAttacks(child_->Wait(), attacks); }
  // Good answers to one name.
  static void Add(std::vector<Attack>* attacks, const std::string& name, const std::string& values) {
    if (name != "again") attacks->push_back({name + " load"});
    for (const char* what : {" input", " compute", " output"}) attacks->push_back({name + what});
    attacks->push_back(Line(name + " values " + values));
    attacks->push_back(Line("ready"));
  }
  void Copy(const std::string& from, const std::string& to) const {
    fs::copy_file(SourcePath("tests/models/tiny/" + from), folder_.path() / to, fs::copy_options::overwrite_existing);
  }
  void ReplaceWeights() const {
    const float weights[] = {100, 200, 300, 400};
    std::ofstream(folder_.path() / "new.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(weights), sizeof(weights));
    fs::rename(folder_.path() / "new.bin", folder_.path() / "external.bin");
  }
  // In place: whoever has it mapped sees it.
  void Truncate(const std::string& file, size_t size) const { fs::resize_file(folder_.path() / file, size); }

  TempFolder folder_;
  std::unique_ptr<Child> child_;
};

TEST_F(HostileReplaced, AnOpenModelStaysAsItIs) {
  Copy("external.onnx", "external.onnx");
  Copy("external.bin", "external.bin");
  Start({"external"});
  std::vector<Attack> attacks;
  Do("external");
  Add(&attacks, "external", "11 22 33 44");
  Truncate("external.onnx", 0);
  Do("again");
  Add(&attacks, "again", "11 22 33 44");
  // The weights beside it are mapped: a rename of another file leaves them as they are.
  ReplaceWeights();
  Do("again");
  Add(&attacks, "again", "11 22 33 44");
  Do("external");
  Add(&attacks, "external", "11 22 33 44");
  fs::remove(folder_.path() / "external.bin");
  fs::remove(folder_.path() / "external.onnx");
  Do("external");
  Add(&attacks, "external", "11 22 33 44");
  attacks.push_back(Honest());
  ExpectEnd(attacks);
}

TEST_F(HostileReplaced, ABrokenFileIsAnErrorUntilItIsMended) {
  Copy("external.onnx", "external.onnx");
  Copy("external.bin", "external.bin");
  Start({"external"});
  std::vector<Attack> attacks;
  const auto fails = [&attacks](const char* error, const std::vector<std::string>& log) {
    attacks.push_back({"external load", error, log});
    attacks.push_back(Line("ready"));
  };
  Truncate("external.onnx", 40);
  Do("external");
  fails("invalid_encoding", {"load_by_name: invalid_encoding: onnx: model 'external:1': ", "not an ONNX model"});
  fs::remove(folder_.path() / "external.onnx");
  Do("external");
  // WasmEdge's guests know an errno of its own for it.
  fails(OnWasmEdge() ? "model_not_found" : "not_found",
        {"load_by_name: model_not_found: ", "model 'external:1': cannot open '", "external.onnx"});
  fs::create_directory(folder_.path() / "external.onnx");
  Do("external");
  fails("invalid_argument", {"load_by_name: ", "model 'external:1': '", "is not a file"});
  fs::remove(folder_.path() / "external.onnx");
  Copy("external.onnx", "external.onnx");
  Truncate("external.bin", 3);
  Do("external");
  fails("runtime_error", {"load_by_name: runtime_error: onnx: model 'external:1': ", "external.bin"});
  Copy("external.bin", "external.bin");
  Do("external");
  Add(&attacks, "external", "11 22 33 44");
  attacks.push_back(Honest());
  ExpectEnd(attacks);
}

// One that is replaced before it was ever asked for is the new one; a second model of the same bytes does not mind.
TEST_F(HostileReplaced, TheFileCountsWhenItIsFirstAskedFor) {
  Copy("external.onnx", "external.onnx");
  Copy("external.onnx", "other.onnx");
  Copy("external.bin", "external.bin");
  Start({"external", "other"});
  std::vector<Attack> attacks;
  Do("external");
  Add(&attacks, "external", "11 22 33 44");
  ReplaceWeights();
  Do("other");
  Add(&attacks, "other", "110 220 330 440");
  Do("external");
  Add(&attacks, "external", "11 22 33 44");
  attacks.push_back(Honest());
  ExpectEnd(attacks);
}

}  // namespace
}  // namespace wasinn::testing
