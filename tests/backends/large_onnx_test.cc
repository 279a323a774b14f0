// Weights of gigabytes in a file beside a model of ONNX Runtime.
#include "backends/large_models.h"
#include "backends/onnx_writer.h"

namespace wasinn::test {
namespace {

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

}  // namespace
}  // namespace wasinn::test
