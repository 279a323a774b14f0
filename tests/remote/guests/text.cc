// Computes with a language model, and writes what its outputs have, a line each:
//
//   text.wasm MODEL CONFIG OPTIONS PROMPT OUTPUT…
//
// OPTIONS: input 1; none if it is empty. Output 4 has numbers. What fails is said in a line, with its number in wasi-nn.

#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wasi_nn_ext.hpp"

namespace {

constexpr uint32_t kEmbeddings = 4;

int Fail(const char* call, wasi_nn::Status status) {
  std::string why;
  if (!wasi_nn::last_error(why)) why = "?";
  std::printf("%s: %u: %s\n", call, static_cast<unsigned>(status.code()), why.c_str());
  return 0;
}

wasi_nn::Status SetText(const wasi_nn::Context& context, uint32_t index, std::string_view text) {
  wasi_nn::Context setter = context;
  return setter.set_input(index, text, {static_cast<uint32_t>(text.size())});
}

int Print(wasi_nn::Context& context, uint32_t index) {
  if (index == kEmbeddings) {
    std::vector<float> numbers;
    if (wasi_nn::Status s = context.get_output(index, numbers); !s) return Fail("get_output", s);
    for (const float one : numbers) std::printf("%.4f ", static_cast<double>(one));
    std::puts("");
    return 0;
  }
  std::vector<char> text;
  if (wasi_nn::Status s = context.get_output(index, text); !s) return Fail("get_output", s);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::puts("");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const std::span<char*> outputs(argv + 5, static_cast<size_t>(argc - 5));
  wasi_nn::Graph graph;
  if (wasi_nn::Status s = wasi_nn::load_by_name_with_config(argv[1], argv[2], &graph); !s) return Fail("load", s);
  wasi_nn::Context context;
  if (wasi_nn::Status s = context.init(graph); !s) return Fail("init", s);
  if (wasi_nn::Status s = SetText(context, 0, argv[4]); !s) return Fail("set_input", s);
  if (*argv[3] != '\0') {
    if (wasi_nn::Status s = SetText(context, 1, argv[3]); !s) return Fail("set_input", s);
  }
  if (wasi_nn::Status s = context.compute(); !s) return Fail("compute", s);
  for (const char* output : outputs) Print(context, static_cast<uint32_t>(std::atoi(output)));
  return 0;
}
