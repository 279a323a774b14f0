// A guest that uses language models as programs in the field do.
//
//   llm.wasm COMMAND MODEL CONFIG PROMPT
//
//   basic     compute, then the output and the metadata
//   options   the same, but CONFIG goes in as input 1
//   stream    piece by piece
//
// CONFIG is JSON for the framework. Every text or piece that came is one line: its name and its bytes in hex. A call
// that fails is "error CALL ERRNO", and the end but for streams.

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "wasi_nn_ext.hpp"

namespace {

using Text = std::vector<char>;

bool Good(const char* call, wasi_nn::Status status) {
  if (!status) std::printf("error %s %u\n", call, static_cast<unsigned>(status.code()));
  return static_cast<bool>(status);
}

bool Print(const char* name, const Text& text) {
  std::printf("%s ", name);
  for (const char c : text) std::printf("%02x", static_cast<unsigned char>(c));
  std::puts(text.empty() ? "-" : "");
  return true;
}

bool Load(const std::string& name, const std::string& config, wasi_nn::Graph* graph) {
  if (config.empty()) return Good("load_by_name", graph->load_by_name(name));
  return Good("load_by_name_with_config", wasi_nn::load_by_name_with_config(name, config, graph));
}

bool Open(const std::string& name, const std::string& config, wasi_nn::Context* context) {
  wasi_nn::Graph graph;
  return Load(name, config, &graph) && Good("init_execution_context", context->init(graph));
}

// Guests in the field say that a text has the shape [1], whatever its length.
bool SetText(wasi_nn::Context* context, uint32_t index, const std::string& text) {
  return Good("set_input", context->set_input(index, text, {1}));
}

bool GetOutputs(wasi_nn::Context* context) {
  Text text, metadata;
  return Good("get_output", context->get_output(0, text)) && Print("output", text) &&
         Good("get_output", context->get_output(1, metadata)) && Print("metadata", metadata);
}

// One more piece; false at the end, whose reason is printed.
bool Step(wasi_nn::Context* context) {
  Text piece;
  return Good("compute_single", wasi_nn::compute_single(*context)) &&
         Good("get_output_single", wasi_nn::get_output_single(*context, 0, piece)) && Print("piece", piece);
}

bool Run(std::string_view command, const std::string& model, const std::string& config, const std::string& prompt) {
  wasi_nn::Context context;
  const bool as_input = command == "options";
  if (!Open(model, as_input ? "" : config, &context)) return false;
  if (as_input && !SetText(&context, 1, config)) return false;
  if (!SetText(&context, 0, prompt)) return false;
  if (command != "stream") return Good("compute", context.compute()) && GetOutputs(&context);
  while (Step(&context)) {
  }
  return GetOutputs(&context) && Good("fini_single", wasi_nn::fini_single(context));
}

}  // namespace

int main(int argc, char** argv) { return argc == 5 && Run(argv[1], argv[2], argv[3], argv[4]) ? 0 : 1; }
