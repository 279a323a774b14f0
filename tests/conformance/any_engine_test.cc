// A guest on an engine that wasinn has no adapter for gets the bytes that ONNX Runtime gives when it is called
// directly, and those that a guest on Wasmtime gets.
#include <wasinn/wasinn.hpp>

#include "engines/any/program.h"
#include "formats.h"

namespace wasinn::testing {
namespace {

class AnyEngineTest : public ::testing::Test {
 protected:
  AnyEngineTest() {
    const Format onnx = BuiltFormats().front();
    inputs_ = InputsOf(onnx, ReadHeldOut());
    native_ = RunReference(onnx, folder_.Write("inputs", inputs_), folder_.path());
    EXPECT_EQ(native_.size(), kHeldOut * 10 * sizeof(float));
    ModelOptions digits;
    digits.path = kDigitsModel;
    EXPECT_TRUE(host_);
    EXPECT_TRUE(host_->AddModel("digits", digits).ok());
  }

  Bytes RunOnWasm3(uint32_t grow) {
    Program program(host_->get());
    Work work = NewWork("digits", {1, 1, 8, 8});
    work.grow = grow;
    program.Give(&work, sizeof work);
    program.Give(inputs_.data(), inputs_.size());
    EXPECT_EQ(program.Run(), "");
    return program.output();
  }

  Bytes RunOnWasmtime() const {
    const CommandResult run = RunGuest(
        {"--model", std::string("digits=") + kDigitsModel, "--dir", folder_.path().string() + "::/files"}, "infer-witx",
        {"f32", "1,1,8,8", "/files/inputs", "/files/outputs", "image", "probabilities", "name:digits"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return ReadBytes(folder_.path() / "outputs");
  }

  const TestFolder folder_;
  Bytes inputs_, native_;
  Result<Host> host_ = Host::Create();
};

TEST_F(AnyEngineTest, TheSameBytesEverywhere) {
  EXPECT_TRUE(RunOnWasm3(0) == native_);
  EXPECT_TRUE(RunOnWasm3(1) == native_) << "with memory that grows";
  EXPECT_TRUE(RunOnWasmtime() == native_);
}

}  // namespace
}  // namespace wasinn::testing
