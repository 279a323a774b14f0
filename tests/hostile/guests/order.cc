// Calls in an order that makes no sense, and what stays of a context when a call has failed.
#include "attack.h"

using namespace attack;

namespace {

float g_buffer[8];

uint32_t Output(uint32_t context, uint32_t index = 0) {
  uint32_t written = 0;
  return GetOutput(context, index, Address(g_buffer), sizeof(g_buffer), Address(&written));
}

void TwoInputs() {
  const uint32_t context = NewContext("two_in_two_out");
  const std::vector<float> a = {1, 2, 3, 4}, b = {10, 20, 30, 40};
  Tell("compute before any input", Compute(context));
  Tell("output before compute", Output(context));
  Tell("the second input", SetValues(context, 1, {2, 2}, WASI_NN_F32, b));
  Tell("compute with one of two inputs", Compute(context));
  Tell("output after that", Output(context));
  Tell("the first input", SetValues(context, 0, {2, 2}, WASI_NN_F32, a));
  Tell("output before compute, inputs set", Output(context));
  Tell("compute", Compute(context));
  Tell("a wrong input", SetValues(context, 0, {4}, WASI_NN_F32, a));
  Tell("output of the compute before it", Output(context, 1));
  Tell("compute on the inputs that stayed", Compute(context));
  Tell("its output", Output(context, 1));
  std::printf("sum %g\n", g_buffer[3]);
  // One input changes, the other stays; the second result is not the first again.
  Tell("another first input", SetValues(context, 0, {2, 2}, WASI_NN_F32, b));
  Tell("second compute", Compute(context));
  Tell("second output", Output(context, 1));
  std::printf("sum %g\n", g_buffer[3]);
}

// The model fills a tensor of the shape that its input names.
void FailedCompute() {
  const uint32_t context = NewContext("huge_output");
  Tell("a shape", SetValues<int64_t>(context, 0, {1}, WASI_NN_I64, {2}));
  Tell("compute it", Compute(context));
  Tell("output of it", Output(context));
  Tell("a negative shape", SetValues<int64_t>(context, 0, {1}, WASI_NN_I64, {-2}));
  Tell("compute that fails", Compute(context));
  Tell("output after it", Output(context));
  Tell("output after it, once more", Output(context));
  Tell("compute that fails, once more", Compute(context));
  Tell("a shape again", SetValues<int64_t>(context, 0, {1}, WASI_NN_I64, {4}));
  Tell("compute again", Compute(context));
  Tell("output again", Output(context));
  std::printf("last %g\n", g_buffer[3]);
}

// What one context does, another of the same graph does not see.
void TwoContexts() {
  uint32_t graph = 0, first = 0, second = 0;
  Tell("load", LoadNamed("dynamic", &graph));
  Tell("first context", InitContext(graph, Address(&first)));
  Tell("second context", InitContext(graph, Address(&second)));
  Tell("input of the first", SetValues<float>(first, 0, {1, 1}, WASI_NN_F32, {5}));
  Tell("compute the second", Compute(second));
  Tell("output of the second", Output(second));
  Tell("compute the first", Compute(first));
  Tell("output of the second, still", Output(second));
}

}  // namespace

int main() {
  const Honest honest;
  TwoInputs();
  honest.Infer();
  FailedCompute();
  honest.Infer();
  TwoContexts();
  honest.Infer();
}
