// Models with weights of gigabytes next to them, which the host names: sparse files, all zero.
#include "backends/onnx_writer.h"
#include "support/echo.h"
#include "support/files.h"
#include "support/own_process.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

constexpr int64_t kGibi = int64_t{1} << 30;

void WriteSparse(const std::filesystem::path& path, int64_t bytes) {
  std::ofstream(path, std::ios::binary).close();
  std::filesystem::resize_file(path, static_cast<uintmax_t>(bytes));
}

// Loads a model by name and computes y = x * w once. Expects less than twice `bytes` of memory that is not the file's.
void ExpectInMemoryOnce(const std::string& framework, const std::string& path, uint32_t rows, size_t columns,
                        int64_t bytes) {
  testing::Log log;
  const testing::HostPtr host = testing::EchoHost(log, "[models.large]\npath = '" + path + "'\n",
                                                  std::filesystem::path(testing::BackendFile(framework)).parent_path());
  const testing::GuestPtr guest = testing::NewGuest(host.get());
  testing::FakeGuest calls(guest.get(), 16 << 20);
  const uint64_t before = testing::MemoryField("RssAnon:");
  const uint32_t context = calls.NewContext("large");
  ASSERT_EQ(calls.SetInput(context, 0, {1, rows}, testing::kF32, std::vector<float>(rows, 1)), testing::kSuccess)
      << log.Last();
  ASSERT_EQ(calls.Compute(context), testing::kSuccess) << log.Last();
  EXPECT_EQ(calls.Output<float>(context), std::vector<float>(columns, 0));
  const uint64_t grown = testing::MemoryField("RssAnon:") - before;
  EXPECT_LT(grown, static_cast<uint64_t>(bytes) * 5 / 4);
  ::testing::Test::RecordProperty("grown_mib", static_cast<int>(grown >> 20));
}

TEST(LargeOnnx, ThreeGibibytesOfExternalDataAreInMemoryOnce) {
  constexpr int64_t kBytes = 3 * kGibi, kColumns = 4096, kRows = kBytes / 4 / kColumns;
  const testing::TestFolder folder;
  const std::string path =
      folder.Write("m/model.onnx", ModelOf({.nodes = {Node("MatMul", {"x", "w"}, {"y"})},
                                            .constants = {External("w", kFloat, {kRows, kColumns}, "w.bin")},
                                            .inputs = {Value("x", kFloat, {1, kRows})},
                                            .outputs = {Value("y", kFloat, {1, kColumns})}}));
  WriteSparse(folder.path() / "m/w.bin", kBytes);
  ExpectInMemoryOnce("onnx", path, kRows, kColumns, kBytes);
}

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  EXPECT_NE(text.find(from), std::string::npos) << from;
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// The model of the tests, with larger weights.
std::string MatMul(int64_t rows, int64_t columns) {
  std::ostringstream file;
  file << std::ifstream(testing::InSources("tests/models/openvino/matmul.xml")).rdbuf();
  const std::string k = std::to_string(rows), n = std::to_string(columns);
  std::string xml = Replace(file.str(), "shape=\"1,64\"", "shape=\"1," + k + "\"");
  xml = Replace(xml, "shape=\"64, 32\"", "shape=\"" + k + ", " + n + "\"");
  xml = Replace(xml, "size=\"8192\"", "size=\"" + std::to_string(rows * columns * 4) + "\"");
  return Replace(Replace(xml, "<dim>64</dim>", "<dim>" + k + "</dim>"), "<dim>32</dim>", "<dim>" + n + "</dim>");
}

TEST(LargeOpenVino, TwoAndAHalfGibibytesOfWeightsAreInMemoryOnce) {
  constexpr int64_t kBytes = 5 * kGibi / 2, kColumns = 4096, kRows = kBytes / 4 / kColumns;
  const testing::TestFolder folder;
  const std::string path = folder.Write("m/model.xml", MatMul(kRows, kColumns));
  WriteSparse(folder.path() / "m/model.bin", kBytes);
  ExpectInMemoryOnce("openvino", path, kRows, kColumns, kBytes);
}

}  // namespace
}  // namespace wasinn::test
