// TorchScript models made where they are tested, and PyTorch called as any program calls it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "backends/test_host.h"

namespace wasinn::test {

// The bytes of a model whose methods are `code`: "def forward(self, x): …". Buffers are attributes of the module.
std::string TorchModel(const std::string& code, const std::vector<std::pair<std::string, Tensor>>& buffers = {});

// A model that adds its input to something that it holds, and gives the sum: of all computes, if it is stateful.
struct TorchKept {
  std::string name;
  bool stateful = false;
  std::function<std::string()> make;
};
const std::vector<TorchKept>& TorchHolders();
// Adds 7 to its input, by what it holds, without a change to that.
std::string TorchReader();

// A model that appends to a list which is a constant of its code, and gives the list's size.
std::string TorchListConstant();

// An archive without compression of these entries, as PyTorch lays it; of this version of the format at least.
using ZipEntries = std::vector<std::pair<std::string, std::string>>;
std::string ZipArchive(const ZipEntries& entries, uint64_t version = 0);
// The entries of a model, code uncompressed.
ZipEntries UnzipModel(const std::string& bytes);

// The bytes of a model with an attribute held: List[Tensor], of numbers: 0 and 1.
std::string TorchHeldList(const std::string& code);

// The bytes of a model with an attribute held: Device.
std::string TorchHeldDevice(const std::string& device, const std::string& code);

// Load options for a guest's model, unless it has a path.
inline LoadOptions TorchOptions(const std::string& path = "") { return {.encoding = "pytorch", .path = path}; }

}  // namespace wasinn::test
