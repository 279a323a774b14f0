// load_files FILE…: loads each file as a model of the guest's own; goes on with it as far as it gets. A model without
// inputs is computed, and what it gives is printed: it may be something that the guest must not see.
#include "attack.h"

using namespace attack;

namespace {

std::string LastPart(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void TryOutput(uint32_t context, const std::string& name) {
  char bytes[64] = {};
  uint32_t written = 0;
  const uint32_t error = GetOutput(context, 0, Address(bytes), sizeof(bytes) - 1, Address(&written));
  PrintResult(name + " output", error);
  if (error == 0) std::printf("%s gave: %s\n", name.c_str(), bytes);
}

void Try(const char* path) {
  const std::string name = LastPart(path);
  uint32_t graph = 0, context = 0;
  uint32_t error = LoadBytes(ReadFile(path), &graph);
  PrintResult(name, error);
  if (error != 0) return;
  error = InitContext(graph, Address(&context));
  PrintResult(name + " context", error);
  if (error != 0) return;
  error = Compute(context);
  PrintResult(name + " compute", error);
  if (error == 0) TryOutput(context, name);
}

}  // namespace

int main(int argc, char** argv) {
  const Honest honest;
  for (int i = 1; i < argc; ++i) Try(argv[i]);
  honest.Infer();
}
