// killers ENCODING HONEST KILLER: brings a model that is made to end who computes it, with one number as its input; afterwards a
// good one of the same format, for digits, and the host's. A model of several files is FILE,FILE.
#include <cstdlib>

#include "attack.h"

using namespace attack;

namespace {

uint32_t LoadFiles(std::string paths, uint32_t encoding, uint32_t* graph) {
  std::vector<std::vector<uint8_t>> parts;
  for (size_t comma = 0; comma != paths.npos; paths.erase(0, comma + 1)) {
    comma = paths.find(',');
    parts.push_back(ReadFile(paths.substr(0, comma).c_str()));
    if (comma == paths.npos) break;
  }
  return LoadParts(parts, graph, encoding);
}

// Loads, makes a context and computes, as far as it gets.
void Try(const std::string& paths, uint32_t encoding) {
  uint32_t graph = 0, context = 0;
  uint32_t error = LoadFiles(paths, encoding, &graph);
  Tell("load", error);
  if (error != 0) return;
  error = InitContext(graph, Address(&context));
  if (error != 0) return Tell("context", error);
  // Some have no input, or another: they are computed as they are.
  SetValues<float>(context, 0, {1}, WASI_NN_F32, {1});
  Tell("compute", Compute(context));
}

}  // namespace

int main(int, char** argv) {
  const Honest honest;
  const auto encoding = static_cast<uint32_t>(std::atoi(argv[1]));
  honest.Infer();
  Try(argv[3], encoding);
  uint32_t graph = 0, context = 0;
  const uint32_t error = LoadFiles(argv[2], encoding, &graph);
  if (error == 0 && InitContext(graph, Address(&context)) == 0) {
    Honest(context).Infer("a good model");
  } else {
    Tell("a good model", error);
  }
  honest.Infer();
}
