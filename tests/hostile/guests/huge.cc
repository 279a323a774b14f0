// Models whose outputs or values in between are larger than any guest may have; they come by name and as bytes.
#include "attack.h"

using namespace attack;

namespace {

// Sets the shape that the model is to fill, and computes.
uint32_t Fill(uint32_t context, const std::vector<int64_t>& shape) {
  const uint32_t error = SetValues(context, 0, {static_cast<uint32_t>(shape.size())}, WASI_NN_I64, shape);
  return error != 0 ? error : Compute(context);
}

void Shapes(uint32_t graph) {
  uint32_t context = 0;
  PrintResult("context", InitContext(graph, Address(&context)));
  PrintResult("output of 4 GiB", Fill(context, {1 << 30}));
  PrintResult("output of 4 GiB in squares", Fill(context, {1 << 15, 1 << 15}));
  PrintResult("output of 300 MB", Fill(context, {75'000'000}));
  PrintResult("output of 2^64 bytes", Fill(context, {int64_t{1} << 62}));
  PrintResult("output of 2^65 elements", Fill(context, {int64_t{1} << 32, int64_t{1} << 33}));
  PrintResult("output of -1", Fill(context, {-1}));
  PrintResult("output of rank 33", Fill(context, std::vector<int64_t>(33, 1)));
  PrintResult("output of rank 1000", Fill(context, std::vector<int64_t>(1000, 1)));
  PrintResult("output of 4 bytes", Fill(context, {1}));
  float one = 0;
  uint32_t written = 0;
  PrintResult("output", GetOutput(context, 0, Address(&one), sizeof(one), Address(&written)));
  std::printf("its value is %g\n", one);
}

}  // namespace

int main() {
  const Honest honest;
  uint32_t graph = 0, context = 0;
  PrintResult("huge_static by name", LoadNamed("huge_static", &graph));
  PrintResult("huge_static context", InitContext(graph, Address(&context)));
  PrintResult("huge_static as bytes", LoadBytes(ReadFile("/tiny/huge_static.onnx"), &graph));
  PrintResult("huge_static context", InitContext(graph, Address(&context)));
  PrintResult("huge_output by name", LoadNamed("huge_output", &graph));
  Shapes(graph);
  PrintResult("huge_output as bytes", LoadBytes(ReadFile("/tiny/huge_output.onnx"), &graph));
  Shapes(graph);
  for (const bool named : {true, false}) {
    PrintResult("huge_intermediate", named ? LoadNamed("huge_intermediate", &graph)
                                           : LoadBytes(ReadFile("/tiny/huge_intermediate.onnx"), &graph));
    PrintResult("huge_intermediate context", InitContext(graph, Address(&context)));
    PrintResult("huge_intermediate input", SetValues<float>(context, 0, {1}, WASI_NN_F32, {3}));
    PrintResult("huge_intermediate compute", Compute(context));
  }
  honest.Infer();
}
