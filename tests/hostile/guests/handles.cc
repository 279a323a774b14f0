// Handles that never were, that are of another kind, or that look like ones which were given.
#include "attack.h"

using namespace attack;

int main() {
  const Honest honest;
  uint32_t graph = 0, context = 0, out = 0xabababab;
  if (LoadNamed("digits", &graph) != 0 || InitContext(graph, Address(&context)) != 0) return 70;
  const struct {
    const char* name;
    uint32_t graph, context;
  } forged[] = {{"0", 0, 0},
                {"1", 1, 1},
                {"the next index", graph + 1, context + 1},
                {"a far index", graph + 0xfff0, context + 0xfff0},
                {"the next generation", graph + 0x10000, context + 0x10000},
                {"the last generation", graph | 0x1fff0000, context | 0x1fff0000},
                {"of the other kind", context, graph},
                {"of every kind", graph | 0x70000000, context | 0x70000000},
                {"of no kind", graph & 0x0fffffff, context & 0x0fffffff},
                {"negative", graph | 0x80000000, context | 0x80000000},
                {"INT_MAX", 0x7fffffff, 0x7fffffff},
                {"-1", 0xffffffff, 0xffffffff}};
  float buffer[16] = {};
  for (const auto& handle : forged) {
    const std::string name = std::string(" ") + handle.name;
    Tell("init_execution_context" + name, InitContext(handle.graph, Address(&out)));
    Tell("set_input" + name, SetValues<float>(handle.context, 0, {1, 1, 8, 8}, WASI_NN_F32, std::vector<float>(64)));
    Tell("compute" + name, Compute(handle.context));
    Tell("get_output" + name, GetOutput(handle.context, 0, Address(buffer), sizeof(buffer), Address(&out)));
  }
  std::printf("results of failed calls are %s\n", out == 0xabababab ? "not written" : "written");
  honest.Infer();
}
