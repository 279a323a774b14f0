// A guest that uses language models as programs in the field do, one way for each command.
//
//   llm.wasm COMMAND MODEL CONFIG ARGUMENT...
//
//   basic MODEL CONFIG PROMPT          compute, then the output and the metadata
//   options MODEL CONFIG PROMPT        the same, but CONFIG goes in as input 1
//   chatml MODEL CONFIG QUESTION...    a conversation: all of it is the prompt each time
//   stream MODEL CONFIG PROMPT         piece by piece
//   two-streams MODEL CONFIG A B       two contexts of one graph, in turns
//   embedding MODEL CONFIG TEXT        the first output, which is JSON then
//   multi-model MODEL CONFIG OTHER PROMPT   what MODEL says is the prompt of OTHER
//   set-input-twice MODEL CONFIG A B   two prompts one after the other in one context
//   unload MODEL CONFIG TIMES PROMPT   loads, computes and gives back, again and again
//
// CONFIG is JSON for the framework; "" is none. Every text or piece that came is one line: its name and its bytes in
// hex. A call that fails is "error CALL ERRNO", and the end but for streams.

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "wasi_nn_ext.hpp"

namespace {

using Arguments = std::vector<std::string>;
using Text = std::vector<char>;

void Print(const char* name, std::string_view bytes) {
  std::printf("%s ", name);
  for (const char c : bytes) std::printf("%02x", static_cast<unsigned char>(c));
  std::puts(bytes.empty() ? "-" : "");
}

bool Good(const char* call, wasi_nn::Status status) {
  if (!status) std::printf("error %s %u\n", call, static_cast<unsigned>(status.code()));
  return static_cast<bool>(status);
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

bool Get(const char* name, wasi_nn::Context* context, uint32_t index, Text* text) {
  if (!Good("get_output", context->get_output(index, *text))) return false;
  Print(name, {text->data(), text->size()});
  return true;
}

bool Complete(wasi_nn::Context* context, const std::string& prompt, Text* text) {
  if (!SetText(context, 0, prompt)) return false;
  // What a full context has left of the answer is there all the same.
  const wasi_nn::Status status = context->compute();
  if (!Good("compute", status) && status.code() != WASI_NN_CONTEXT_FULL) return false;
  Text metadata;
  return Get("output", context, 0, text) && Get("metadata", context, 1, &metadata);
}

bool Basic(const Arguments& args) {
  wasi_nn::Context context;
  Text text;
  return Open(args[0], args[1], &context) && Complete(&context, args[2], &text);
}

bool WithOptions(const Arguments& args) {
  wasi_nn::Context context;
  Text text;
  return Open(args[0], "", &context) && SetText(&context, 1, args[1]) && Complete(&context, args[2], &text);
}

bool ChatMl(const Arguments& args) {
  wasi_nn::Context context;
  if (!Open(args[0], args[1], &context)) return false;
  std::string conversation;
  for (size_t i = 2; i < args.size(); ++i) {
    conversation += "<|im_start|>user\n" + args[i] + "<|im_end|>\n<|im_start|>assistant\n";
    Text answer;
    if (!Complete(&context, conversation, &answer)) return false;
    conversation += std::string(answer.data(), answer.size()) + "<|im_end|>\n";
  }
  return true;
}

// One more piece; false at the end, whose reason is printed.
bool Step(wasi_nn::Context* context, const char* name) {
  Text piece;
  if (!Good("compute_single", wasi_nn::compute_single(*context))) return false;
  if (!Good("get_output_single", wasi_nn::get_output_single(*context, 0, piece))) return false;
  Print(name, {piece.data(), piece.size()});
  return true;
}

bool Stream(const Arguments& args) {
  wasi_nn::Context context;
  if (!Open(args[0], args[1], &context) || !SetText(&context, 0, args[2])) return false;
  while (Step(&context, "piece")) {
  }
  Text text, metadata;
  return Get("output", &context, 0, &text) && Get("metadata", &context, 1, &metadata) &&
         Good("fini_single", wasi_nn::fini_single(context));
}

bool TwoStreams(const Arguments& args) {
  wasi_nn::Graph graph;
  wasi_nn::Context a, b;
  if (!Load(args[0], args[1], &graph) || !Good("init_execution_context", a.init(graph)) ||
      !Good("init_execution_context", b.init(graph)) || !SetText(&a, 0, args[2]) || !SetText(&b, 0, args[3])) {
    return false;
  }
  for (bool more_a = true, more_b = true; more_a || more_b;) {
    more_a = more_a && Step(&a, "a");
    more_b = more_b && Step(&b, "b");
  }
  return Good("fini_single", wasi_nn::fini_single(a)) && Good("fini_single", wasi_nn::fini_single(b));
}

bool Embedding(const Arguments& args) {
  wasi_nn::Context context;
  Text text;
  return Open(args[0], args[1], &context) && SetText(&context, 0, args[2]) && Good("compute", context.compute()) &&
         Get("output", &context, 0, &text);
}

bool MultiModel(const Arguments& args) {
  wasi_nn::Context first, second;
  Text text;
  if (!Open(args[0], args[1], &first) || !Open(args[2], args[1], &second)) return false;
  if (!Complete(&first, args[3], &text)) return false;
  return Complete(&second, args[3] + std::string(text.data(), text.size()), &text);
}

bool SetInputTwice(const Arguments& args) {
  wasi_nn::Context context;
  Text text;
  return Open(args[0], args[1], &context) && Complete(&context, args[2], &text) && Complete(&context, args[3], &text);
}

bool Unload(const Arguments& args) {
  for (int i = std::atoi(args[2].c_str()); i > 0; --i) {
    wasi_nn::Graph graph;
    wasi_nn::Context context;
    Text text;
    if (!Load(args[0], args[1], &graph) || !Good("init_execution_context", context.init(graph)) ||
        !Complete(&context, args[3], &text) ||
        !Good("finalize_execution_context", wasi_nn::finalize_execution_context(context)) ||
        !Good("unload", wasi_nn::unload(graph))) {
      return false;
    }
  }
  return true;
}

struct Command {
  bool (*run)(const Arguments& args);
  size_t arguments;
};

const std::map<std::string_view, Command> kCommands = {
    {"basic", {Basic, 3}},
    {"options", {WithOptions, 3}},
    {"chatml", {ChatMl, 3}},
    {"stream", {Stream, 3}},
    {"two-streams", {TwoStreams, 4}},
    {"embedding", {Embedding, 3}},
    {"multi-model", {MultiModel, 4}},
    {"set-input-twice", {SetInputTwice, 4}},
    {"unload", {Unload, 4}},
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const auto command = kCommands.find(argv[1]);
  const Arguments args(argv + 2, argv + argc);
  if (command == kCommands.end() || args.size() < command->second.arguments) return 2;
  return command->second.run(args) ? 0 : 1;
}
