// endless [TIMES]: computes a model that never ends; the host's deadline ends it. Then everything goes on.
#include <cstdlib>

#include "attack.h"

using namespace attack;

int main(int argc, char** argv) {
  const Honest honest;
  const uint32_t context = NewContext("endless");
  PrintResult("input", SetValues<float>(context, 0, {1}, WASI_NN_F32, {1}));
  const int times = argc > 1 ? std::atoi(argv[1]) : 1;
  for (int i = 0; i < times; ++i) {
    std::printf("computing\n");
    std::fflush(stdout);
    PrintResult("compute", Compute(context));
    float value = 0;
    uint32_t written = 0;
    PrintResult("output", GetOutput(context, 0, Address(&value), sizeof(value), Address(&written)));
    honest.Infer();
  }
}
