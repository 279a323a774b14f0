// held KIND: makes the host hold much for little: inputs that become small, outputs that become large or are an input many times, contexts of a
// model with many inputs; "nothing" is what the others are measured against.
#include "attack.h"

using namespace attack;

namespace {

constexpr uint32_t kContexts = 12, kMany = 100;

void Inputs() {
  uint32_t graph = 0;
  PrintResult("load", LoadNamed("dynamic", &graph));
  const std::vector<float> values(size_t{16} << 20);  // 64 MiB
  const std::vector<float> one = {1};
  for (uint32_t i = 0; i < kContexts; ++i) {
    uint32_t context = 0;
    if (InitContext(graph, Address(&context)) != 0) return;
    PrintResult("large " + std::to_string(i), SetValues(context, 0, {4096, 4096}, WASI_NN_F32, values));
    PrintResult("small " + std::to_string(i), SetValues(context, 0, {1, 1}, WASI_NN_F32, one));
  }
}

// 32 MiB of output in each context.
void Outputs(uint32_t graph, uint32_t rank) {
  std::vector<int64_t> shape(rank, 1);
  shape[0] = 8 << 20;
  for (uint32_t i = 0; i < kContexts; ++i) {
    uint32_t context = 0;
    if (InitContext(graph, Address(&context)) != 0) return;
    if (SetValues(context, 0, {rank}, WASI_NN_I64, shape) != 0) return;
    PrintResult("compute " + std::to_string(i), Compute(context));
  }
}

void UntrueOutputs() {
  uint32_t graph = 0;
  PrintResult("load", LoadBytes(ReadFile("/made/untrue.onnx"), &graph));
  Outputs(graph, 1);
}

void HiddenOutputs() {
  uint32_t graph = 0;
  PrintResult("load", LoadNamed("huge_output", &graph));
  Outputs(graph, 33);
}

void PassedOn() {
  uint32_t graph = 0;
  PrintResult("load", LoadBytes(ReadFile("/made/passed_on.xml"), &graph, WASI_NN_ENCODING_OPENVINO));
  const std::vector<float> values(size_t{2} << 20);  // 8 MiB
  for (uint32_t i = 0; i < 3; ++i) {
    uint32_t context = 0;
    if (InitContext(graph, Address(&context)) != 0) return;
    if (SetValues(context, 0, {static_cast<uint32_t>(values.size())}, WASI_NN_F32, values) != 0) return;
    PrintResult("compute " + std::to_string(i), Compute(context));
  }
}

void Contexts() {
  uint32_t graph = 0, context = 0, made = 0;
  PrintResult("load", LoadBytes(ReadFile("/made/wide.onnx"), &graph));
  for (uint32_t i = 0; i < kMany; ++i) made += InitContext(graph, Address(&context)) == 0 ? 1 : 0;
  std::printf("contexts: %u of %u\n", made, kMany);
}

}  // namespace

int main(int, char** argv) {
  const Honest honest;
  const std::string kind = argv[1];
  if (kind == "inputs") Inputs();
  if (kind == "outputs") UntrueOutputs();
  if (kind == "hidden_outputs") HiddenOutputs();
  if (kind == "passed_on") PassedOn();
  if (kind == "contexts") Contexts();
  std::printf("memory: %u\n", static_cast<uint32_t>(__builtin_wasm_memory_size(0)) >> 4);  // MiB
  honest.Infer();
}
