// A guest on an engine that wasinn has no adapter for gets the bytes that ONNX Runtime gives when it is called
// directly, and those that a guest on Wasmtime gets.
#include <gtest/gtest.h>
#include <wasinn/wasinn.hpp>

#include <fstream>
#include <thread>

#include "digits.h"
#include "engines/any/program.h"
#include "native_ort.h"

namespace wasinn::testing {
namespace {

class AnyEngineTest : public ::testing::Test {
 protected:
  AnyEngineTest() {
    const HeldOut held_out = ReadHeldOut();
    const auto model = NativeModel::Load(kDigitsModel);
    EXPECT_TRUE(model) << model.error();
    for (const Bytes& image : held_out.images) {
      const Bytes pixels = Floats(FromGrays(image));
      inputs_.insert(inputs_.end(), pixels.begin(), pixels.end());
      const auto outputs = model->Run(std::vector<OnnxTensor>{{kOnnxFloat, {1, 1, 8, 8}, pixels}});
      EXPECT_TRUE(outputs) << outputs.error();
      native_.insert(native_.end(), (*outputs)[0].bytes.begin(), (*outputs)[0].bytes.end());
    }
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
    const TempFolder folder;
    std::ofstream(folder.path() / "inputs", std::ios::binary)
        .write(reinterpret_cast<const char*>(inputs_.data()), static_cast<std::streamsize>(inputs_.size()));
    const CommandResult run = RunGuest(
        {"--model", std::string("digits=") + kDigitsModel, "--dir", folder.path().string() + "::/files"}, "infer-witx",
        {"f32", "1,1,8,8", "/files/inputs", "/files/outputs", "image", "probabilities", "name:digits"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return ReadBytes(folder.path() / "outputs");
  }

  Bytes inputs_, native_;
  Result<Host> host_ = Host::Create();
};

TEST_F(AnyEngineTest, TheSameBytesEverywhere) {
  EXPECT_TRUE(RunOnWasm3(0) == native_);
  EXPECT_TRUE(RunOnWasm3(1) == native_) << "with memory that grows";
  EXPECT_TRUE(RunOnWasmtime() == native_);
}

TEST_F(AnyEngineTest, GuestsInThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] { EXPECT_TRUE(RunOnWasm3(0) == native_); });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace wasinn::testing
