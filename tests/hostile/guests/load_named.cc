// load_named NAME…: loads models of the host, and prints the outcome of each.
#include "attack.h"

using namespace attack;

int main(int argc, char** argv) {
  const Honest honest;
  for (int i = 1; i < argc; ++i) {
    uint32_t graph = 0;
    PrintResult(argv[i], LoadNamed(argv[i], &graph));
  }
  honest.Infer();
}
