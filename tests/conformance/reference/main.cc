// Runs a model natively on the tensors of a file: the guest program "infer" without a guest.
//
//   reference_FRAMEWORK TYPE DIMS INPUTS OUTPUTS INPUT OUTPUT MODEL
//
// backends/native_place.h has variables for another library, and for the GPU.
#include "reference/reference.h"

#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>

namespace wasinn::testing {
namespace {

test::Tensor ParseTensor(const std::string& type, const std::string& dims) {
  test::Tensor tensor{type == "u8" ? WASINN_U8 : WASINN_F32, {}, {}};
  size_t size = type == "u8" ? 1 : 4;
  std::istringstream stream(dims);
  for (std::string dim; std::getline(stream, dim, ',');) {
    tensor.dims.push_back(std::stoll(dim));
    size *= static_cast<size_t>(tensor.dims.back());
  }
  tensor.bytes.resize(size);
  return tensor;
}

void Run(char** argv) {
  test::Tensor tensor = ParseTensor(argv[1], argv[2]);
  const std::string inputs = test::ReadFile(argv[3]);
  std::ofstream outputs(argv[4], std::ios::binary);
  const Infer infer = OpenModel(argv[7], argv[5], argv[6]);
  const size_t size = tensor.bytes.size();
  for (size_t at = 0; at + size <= inputs.size(); at += size) {
    tensor.bytes = inputs.substr(at, size);
    outputs << infer(tensor);
  }
  outputs.close();
  if (!outputs) throw std::runtime_error("cannot write the outputs");
}

}  // namespace
}  // namespace wasinn::testing

int main(int argc, char** argv) {
  if (argc != 8) return 2;
  try {
    wasinn::testing::Run(argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[7], error.what());
    return 1;
  }
}
