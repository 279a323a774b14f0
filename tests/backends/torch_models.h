// TorchScript models made where they are tested, and PyTorch called as any program calls it.
#ifndef WASINN_TESTS_BACKENDS_TORCH_MODELS_H_
#define WASINN_TESTS_BACKENDS_TORCH_MODELS_H_

#include <functional>
#include <memory>
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

// A model in the program's own use, in the same OS process.
class NativeTorch {
 public:
  explicit NativeTorch(const std::string& bytes);
  ~NativeTorch();
  NativeTorch(const NativeTorch&) = delete;
  NativeTorch& operator=(const NativeTorch&) = delete;

  // Its outputs, which are one tensor or a tuple of tensors; throws what PyTorch says.
  std::vector<Tensor> Run(const std::vector<Tensor>& inputs);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Load options for a model from a guest.
inline LoadOptions TorchOptions() {
  LoadOptions options;
  options.encoding = "pytorch";
  return options;
}

}  // namespace wasinn::test

#endif  // WASINN_TESTS_BACKENDS_TORCH_MODELS_H_
