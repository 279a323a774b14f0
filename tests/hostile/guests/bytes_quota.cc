// With a memory of 4 GiB, which is the largest there is: models and tensors of gigabytes, and addresses at its very
// end.
#include "attack.h"

using namespace attack;

namespace {

uint32_t LoadAt(const std::vector<uint32_t>& builders) {
  uint32_t graph = 0;
  return Load(Address(builders.data()), static_cast<uint32_t>(builders.size() / 2), WASI_NN_ENCODING_ONNX, 0,
              Address(&graph));
}

uint32_t SetAt(uint32_t context, uint32_t rows, uint32_t data, uint32_t size) {
  const uint32_t dims[] = {rows, 1};
  const RawTensor tensor{Address(dims), 2, WASI_NN_F32, {}, data, size};
  return SetInput(context, 0, Address(&tensor));
}

constexpr uint32_t kMegabyte = 1u << 20;

}  // namespace

int main() {
  const Honest honest;
  std::printf("memory has %u pages\n", static_cast<unsigned>(__builtin_wasm_memory_size(0)));
  const uint32_t context = NewContext("dynamic");
  PrintResult("a model of 2 GiB", LoadAt({0x40000000, 0x80000000}));
  PrintResult("a model of 4 GiB - 1", LoadAt({1, 0xffffffff}));
  PrintResult("a model of 16 parts of 3 GiB", LoadAt(std::vector<uint32_t>(32, 0xc0000000)));
  PrintResult("a model of 4 parts of 256 MB", LoadAt({kMegabyte, 256 * kMegabyte, kMegabyte, 256 * kMegabyte, kMegabyte,
                                                      256 * kMegabyte, kMegabyte, 256 * kMegabyte + 1}));
  PrintResult("an input of 2 GiB", SetAt(context, 0x20000000, 0x40000000, 0x80000000));
  PrintResult("an input of 4 GiB - 4", SetAt(context, 0x3fffffff, 4, 0xfffffffc));
  PrintResult("an input of 4 GiB that wraps", SetAt(context, 0x40000000, 0x40000000, 0));
  PrintResult("an input past 4 GiB", SetAt(context, 2, 0xfffffffc, 8));
  float* last = reinterpret_cast<float*>(0xfffffffc);
  *last = 7;
  PrintResult("an input that ends at 4 GiB", SetAt(context, 1, 0xfffffffc, 4));
  PrintResult("compute", Compute(context));
  *last = 0;
  uint32_t written = 0;
  PrintResult("an output past 4 GiB", GetOutput(context, 0, 0xfffffffd, 4, Address(&written)));
  PrintResult("an output that ends at 4 GiB", GetOutput(context, 0, 0xfffffffc, 4, Address(&written)));
  std::printf("its value is %g\n", *last);
  PrintResult("a size that ends at 4 GiB", GetOutput(context, 0, Address(&written), 4, 0xfffffffc));
  PrintResult("a size past 4 GiB", GetOutput(context, 0, Address(&written), 4, 0xfffffffd));
  PrintResult("an output buffer of 4 GiB - 1", GetOutput(context, 0, 1, 0xffffffff, Address(&written)));
  PrintResult("builders past 4 GiB", Load(0xfffffff8, 2, WASI_NN_ENCODING_ONNX, 0, Address(&written)));
  PrintResult("a name past 4 GiB", LoadByName(0xffffffff, 2, Address(&written)));
  PrintResult("a name that ends at 4 GiB", LoadByName(0xffffffff, 1, Address(&written)));
  honest.Infer();
}
