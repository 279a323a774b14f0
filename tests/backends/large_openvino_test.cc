// Weights of gigabytes beside an IR of OpenVINO.
#include <sstream>

#include "backends/large_models.h"

namespace wasinn::test {
namespace {

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
