// Loads and computes in step with the test, which replaces the models' files meanwhile: for each line "NAME" on stdin,
// the model is loaded by name and computed; "again" computes once more with the context that the last name gave.
#include "attack.h"

using namespace attack;

namespace {

void Run(const std::string& what, uint32_t context) {
  Tell(what + " input", SetValues<float>(context, 0, {4}, WASI_NN_F32, {10, 20, 30, 40}));
  Tell(what + " compute", Compute(context));
  float values[4] = {};
  uint32_t written = 0;
  Tell(what + " output", GetOutput(context, 0, Address(values), sizeof(values), Address(&written)));
  std::printf("%s values %g %g %g %g\n", what.c_str(), values[0], values[1], values[2], values[3]);
}

}  // namespace

int main() {
  const Honest honest;
  char line[64];
  uint32_t context = 0;
  while (std::fgets(line, sizeof(line), stdin) != nullptr) {
    std::string name(line, std::strcspn(line, "\n"));
    uint32_t graph = 0;
    uint32_t error = 0;
    if (name != "again") {
      error = LoadNamed(name, &graph);
      Tell(name + " load", error);
      if (error == 0) error = InitContext(graph, Address(&context));
    }
    if (error == 0) Run(name, context);
    std::printf("ready\n");
    std::fflush(stdout);
  }
  honest.Infer();
}
