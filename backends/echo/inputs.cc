#include "inputs.h"

#include <algorithm>
#include <fstream>

namespace wasinn::echo {
namespace {

template <typename Is>
bool Any(std::span<const Buffer> inputs, Is&& is) {
  return std::ranges::any_of(inputs, [&is](const Buffer& input) {
    const auto* bytes = static_cast<const uint8_t*>(input.tensor.data);
    return input.there && std::any_of(bytes, bytes + input.tensor.bytes, is);
  });
}

}  // namespace

void Record(const wasinn_backend_graph& model, std::span<const Buffer> inputs) {
  if (model.records.empty()) return;
  std::ofstream file(model.records, std::ios::app);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].there) continue;
    file << model.ios[i]->name << "[";
    const std::vector<int64_t>& dims = inputs[i].dims;
    for (size_t dim = 0; dim < dims.size(); ++dim) file << (dim == 0 ? "" : ",") << dims[dim];
    file << "] ";
  }
  file << (Any(inputs, [](uint8_t byte) { return byte != 0; }) ? "values\n" : "zeros\n");
}

bool HasByte(std::span<const Buffer> inputs, int byte) {
  return byte >= 0 && Any(inputs, [byte](uint8_t it) { return it == byte; });
}

}  // namespace wasinn::echo
