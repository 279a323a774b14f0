// Runs a model natively on the tensors of a file: the guest program "infer" without a guest.
//
//   reference_FRAMEWORK TYPE DIMS INPUTS OUTPUTS INPUT OUTPUT MODEL
//
// Of a model with several inputs TYPE, DIMS ("-" for a scalar) and INPUT are lists like "f32;i64", and in the file INPUTS
// their tensors follow each other. OUTPUT may be a list, too: of that many outputs the bytes are written.
//
// backends/native_place.h has variables for another library, and for the GPU.
#include "reference/reference.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace wasinn::testing {
namespace {

Names Split(const std::string& text, char separator) {
  Names words;
  std::istringstream stream(text);
  for (std::string word; std::getline(stream, word, separator);) words.push_back(word);
  return words;
}

test::Tensor ParseTensor(const std::string& type, const std::string& dims) {
  static const std::map<std::string, std::pair<wasinn_dtype, size_t>> kTypes = {{"u8", {WASINN_DTYPE_U8, 1}},
                                                                                {"f32", {WASINN_DTYPE_F32, 4}},
                                                                                {"i32", {WASINN_DTYPE_I32, 4}},
                                                                                {"i64", {WASINN_DTYPE_I64, 8}}};
  auto [dtype, size] = kTypes.at(type);
  test::Tensor tensor{dtype, {}, {}};
  for (const std::string& dim : Split(dims == "-" ? "" : dims, ',')) {
    tensor.dims.push_back(std::stoll(dim));
    size *= static_cast<size_t>(tensor.dims.back());
  }
  tensor.bytes.resize(size);
  return tensor;
}

void Run(char** argv) {
  const Names types = Split(argv[1], ';'), dims = Split(argv[2], ';'), wanted = Split(argv[6], ';');
  std::vector<test::Tensor> tensors;
  for (size_t i = 0; i < types.size(); ++i) tensors.push_back(ParseTensor(types[i], dims.at(i)));
  std::istringstream inputs(test::ReadFile(argv[3]));
  std::ofstream outputs(argv[4], std::ios::binary);
  const Infer infer = OpenModel(argv[7], Split(argv[5], ';'), wanted);
  const auto read = [&](test::Tensor& tensor) {
    return static_cast<bool>(inputs.read(tensor.bytes.data(), static_cast<std::streamsize>(tensor.bytes.size())));
  };
  while (std::ranges::all_of(tensors, read)) {
    const std::vector<test::Tensor> results = infer(tensors);
    for (size_t i = 0; i < wanted.size(); ++i) outputs << results.at(i).bytes;
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
