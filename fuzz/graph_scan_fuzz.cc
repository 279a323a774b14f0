// The check of a TensorFlow graph before TensorFlow reads it: it never reads outside of its input, ends soon, counts
// what loading would make, and lets a guest's graph have no operation that is not on the list.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "fuzz/expect.h"
#include "tensorflow/graph_scan.h"
#include "tensorflow/ops.h"

namespace tensorflow = wasinn::tensorflow;

namespace {

std::optional<tensorflow::GraphScan> Scan(const std::vector<uint8_t>& bytes) {
  try {
    return tensorflow::ScanGraph(bytes);
  } catch (const wasinn::backend::Error& error) {
    FUZZ_EXPECT(error.code() == WASINN_ERROR_INVALID_ENCODING);
    return std::nullopt;
  }
}

bool MayHave(const tensorflow::GraphScan& scan) {
  try {
    tensorflow::CheckOps(scan, /*is_saved_model=*/false);
    return true;
  } catch (const wasinn::backend::Error& error) {
    FUZZ_EXPECT(error.code() == WASINN_ERROR_SECURITY);
    return false;
  }
}

bool StaysInside(const std::vector<tensorflow::ScannedNode>& nodes) {
  return std::ranges::none_of(nodes, [](const auto& node) { return tensorflow::ReachesOut(node.op); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // Exactly as large as the input: ASan sees each read beyond it.
  const std::vector<uint8_t> bytes(data, data + size);
  const auto scan = Scan(bytes);
  if (!scan) return 0;
  FUZZ_EXPECT(!scan->nodes.empty() && scan->more_bytes >= scan->nodes.size());
  if (MayHave(*scan)) {
    FUZZ_EXPECT(StaysInside(scan->nodes));
    for (const auto& [name, nodes] : scan->functions) FUZZ_EXPECT(StaysInside(nodes));
  }
  const auto outputs = tensorflow::NodesWithoutConsumers(*scan);
  FUZZ_EXPECT(outputs.size() <= scan->nodes.size());
  const std::vector<std::string> names(outputs.begin(), outputs.end());
  const tensorflow::Effects effects = tensorflow::FindEffects(*scan, names);
  FUZZ_EXPECT(effects.keeps_state || !effects.keeps_inputs);
  FUZZ_EXPECT(!effects.keeps_state || effects.gives_parts);
  return 0;
}
