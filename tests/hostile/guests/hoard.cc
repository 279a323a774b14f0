// hoard ELEMENTS RANK: computes an output of so many floats in one context after another, and keeps them all.
#include <cstdlib>

#include "attack.h"

using namespace attack;

int main(int, char** argv) {
  const Honest honest;
  uint32_t graph = 0;
  Tell("load", LoadNamed("huge_output", &graph));
  std::vector<int64_t> shape(static_cast<size_t>(std::atoi(argv[2])), 1);
  shape[0] = std::atoll(argv[1]);
  for (int i = 0; i < 12; ++i) {
    uint32_t context = 0;
    if (InitContext(graph, Address(&context)) != 0) return 70;
    if (SetValues(context, 0, {static_cast<uint32_t>(shape.size())}, WASI_NN_I64, shape) != 0) return 71;
    Tell("compute " + std::to_string(i), Compute(context));
  }
  honest.Infer();
}
