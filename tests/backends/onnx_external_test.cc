// Weights in files next to a model: in memory once, whatever their size, and wherever links lead.
#include "backends/expect.h"
#include "backends/onnx_writer.h"
#include "support/files.h"
#include "support/own_process.h"

namespace wasinn::test {
namespace {

namespace fs = std::filesystem;

// y = w[i], of weights of so many bytes, all zero, in w.bin.
class OnnxExternal : public ::testing::Test {
 protected:
  std::string ModelWith(int64_t bytes) {
    fs::create_directories(model_.parent_path());
    return ModelOf({.nodes = {Node("Gather", {"w", "i"}, {"y"})},
                    .constants = {External("w", kFloat, {bytes / 4}, "w.bin")},
                    .inputs = {Value("i", kInt64, {1})},
                    .outputs = {Value("y", kFloat, {1})}});
  }
  static void WriteWeights(const fs::path& path, int64_t bytes) {
    std::ofstream(path, std::ios::binary).close();
    fs::resize_file(path, static_cast<uintmax_t>(bytes));
  }
  LoadOptions Options() const {
    LoadOptions options;
    options.path = path_.c_str();
    return options;
  }

  const testing::TestFolder folder_;
  const fs::path model_ = fs::path(folder_ / "m") / "model.onnx";
  const std::string path_ = model_.string();
};

TEST_F(OnnxExternal, WeightsAreInMemoryOnce) {
  constexpr int64_t kBytes = 256 * kMebi;
  const std::string model = ModelWith(kBytes);
  WriteWeights(model_.parent_path() / "w.bin", kBytes);
  const Host host;
  const LoadedModel warm(host, ModelBytes("mean.onnx"));  // what ONNX Runtime itself takes
  const testing::PeakMemory memory;
  const LoadedModel loaded(host, model, Options());
  EXPECT_LT(memory.grown(), static_cast<uint64_t>(kBytes) * 5 / 4);
  Context context(loaded);
  EXPECT_EQ(Compute(&context, {MakeTensor<int64_t>(WASINN_DTYPE_I64, {1}, {kBytes / 4 - 1})}).As<float>()[0], 0);
}

// As Hugging Face's cache has them.
TEST_F(OnnxExternal, ALinkMayLeadOutOfTheFolder) {
  const std::string model = ModelWith(64);
  WriteWeights(folder_ / "blob", 64);
  fs::create_symlink(folder_ / "blob", model_.parent_path() / "w.bin");
  const Host host;
  const LoadedModel loaded(host, model, Options());
  Context context(loaded);
  EXPECT_EQ(Compute(&context, {MakeTensor<int64_t>(WASINN_DTYPE_I64, {1}, {15})}).As<float>()[0], 0);
}

TEST_F(OnnxExternal, AFileThatIsMissingIsNamed) {
  const Host host;
  const Model loaded(host, ModelWith(64), Options());
  EXPECT_EQ(loaded.loaded().code, WASINN_ERROR_NOT_FOUND);
  EXPECT_THAT(loaded.loaded().message, HasSubstr("w.bin"));
}

}  // namespace
}  // namespace wasinn::test
