// TorchScript models made where they are tested, and PyTorch called as any program calls it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "backends/test_host.h"

namespace wasinn::test {

// The bytes of a model whose methods are `code`: "def forward(self, x): …". Buffers are attributes of the module.
std::string TorchModel(const std::string& code, const std::vector<std::pair<std::string, Tensor>>& buffers = {});

// A model that adds its input to something that it holds, and gives the sum.
enum class Holder {
  kList,
  kTuple,
  kDictionary,
  kListOfLists,  // of numbers, as the next three
  kListInATuple,
  kListInADictionary,
  kListInAnything,  // an attribute of type Any
  kRead,            // adds 7 to its input, without a change to anything
  kNumber,
  kSubmodule,
  kConstant,
  kConstantThroughDropout,  // which gives the constant itself
  kTraining,                // only in training
  kTrainingOfTuple,         // … of a module in a tuple
  kTrainingOfAnObject       // … of an object that is no module
};
std::string TorchHolder(Holder holder);

// A model that appends to a list which is a constant of its code, and gives the list's size.
std::string TorchListConstant();

// An archive without compression of these entries, as PyTorch lays it.
using ZipEntries = std::vector<std::pair<std::string, std::string>>;
std::string ZipArchive(const ZipEntries& entries);
// The entries of a model, code uncompressed.
ZipEntries UnzipModel(const std::string& bytes);

// The bytes of a model with an attribute held: List[Tensor], of numbers: 0 and 1.
std::string TorchHeldList(const std::string& code);

// Load options for a guest's model, unless it has a path.
inline LoadOptions TorchOptions(const std::string& path = "") { return {.encoding = "pytorch", .path = path}; }

}  // namespace wasinn::test
