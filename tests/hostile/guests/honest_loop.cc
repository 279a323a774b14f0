// honest_loop TIMES: infers, again and again.
#include <cstdlib>

#include "attack.h"

int main(int, char** argv) {
  const attack::Honest honest;
  for (int i = 0, times = std::atoi(argv[1]); i < times; ++i) honest.Infer();
}
