// Writes what a language model, which runs in the host, says, as it comes: through wasi-nn and WasmEdge's streaming
// functions.
//
//   chat.wasm [--model NAME] [--n-predict N] [--temp T] [--seed N] … [PROMPT...]
//
// The model takes the prompt as input 0, any bytes of text, and gives the text that follows as output 0, and as output
// 1 JSON: {"input_tokens": …, "output_tokens": …}.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "options.h"
#include "wasi_nn_ext.hpp"

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

bool Fail(const std::string& model, const char* call, wasi_nn::Status status) {
  const std::string name(status.name());
  std::fprintf(stderr, "chat: model %s: %s: %s (%u)\n", model.c_str(), call, name.c_str(),
               static_cast<unsigned>(status.code()));
  return false;
}

bool LoadModel(const Options& options, wasi_nn::Context* context) {
  wasi_nn::Graph graph;
  if (options.config.empty()) {
    if (wasi_nn::Status s = graph.load_by_name(options.model); !s) return Fail(options.model, "load_by_name", s);
  } else if (wasi_nn::Status s = wasi_nn::load_by_name_with_config(options.model, options.config, &graph); !s) {
    return Fail(options.model, "load_by_name_with_config", s);
  }
  if (wasi_nn::Status s = context->init(graph); !s) return Fail(options.model, "init_execution_context", s);
  return true;
}

// The number that follows `name` in the metadata; 0 if there is none.
long Number(std::string_view json, std::string_view name) {
  const size_t at = json.find("\"" + std::string(name) + "\":");
  return at == json.npos ? 0 : std::strtol(std::string(json.substr(at + name.size() + 3, 20)).c_str(), nullptr, 10);
}

struct Times {
  Milliseconds first{0}, all{0};  // until the first piece, and until the end
  long pieces = 0;
};

void PrintTimes(const wasi_nn::Context& context, const Times& times) {
  std::vector<char> metadata;
  wasi_nn::Context reader = context;
  if (!reader.get_output(1, metadata)) return;  // no reason to fail, because the text is complete
  const std::string_view json(metadata.data(), metadata.size());
  const long in = Number(json, "input_tokens"), out = Number(json, "output_tokens");
  std::fprintf(stderr, "  %ld tokens in", in);
  if (out > 0) std::fprintf(stderr, ", the first out after %.1f ms", times.first.count());
  if (out > 1) std::fprintf(stderr, "; %ld out", out);
  // The text of a model on another server comes at once, so no token has a time of its own.
  if (out > 1 && times.pieces > 1 && times.all > times.first) {
    std::fprintf(stderr, ", %.1f tokens/s", static_cast<double>(out - 1) * 1000 / (times.all - times.first).count());
  }
  std::fputs("\n", stderr);
}

// Writes the text piece by piece, and adds it to `text`. A full context also ends it, with a message.
bool Generate(const std::string& model, wasi_nn::Context* context, std::string* text, Times* times) {
  std::vector<char> piece;
  const Clock::time_point begin = Clock::now();
  wasi_nn::Status status;
  while ((status = wasi_nn::compute_single(*context))) {
    if (wasi_nn::Status s = wasi_nn::get_output_single(*context, 0, piece); !s) {
      return Fail(model, "get_output_single", s);
    }
    if (times->pieces++ == 0) times->first = Clock::now() - begin;
    text->append(piece.data(), piece.size());
    std::fwrite(piece.data(), 1, piece.size(), stdout);
    std::fflush(stdout);
  }
  times->all = Clock::now() - begin;
  std::fputs("\n", stdout);
  std::fflush(stdout);
  if (status.code() == WASI_NN_CONTEXT_FULL) {
    std::fputs("chat: the context is full (--ctx-size)\n", stderr);
  } else if (status.code() != WASI_NN_END_OF_SEQUENCE) {
    return Fail(model, "compute_single", status);
  }
  return true;
}

bool SetPrompt(const std::string& model, const std::string& prompt, wasi_nn::Context* context) {
  const wasi_nn::Status status = context->set_input(0, prompt, {static_cast<uint32_t>(prompt.size())});
  return status ? true : Fail(model, "set_input", status);
}

// The model's continuation of the prompt.
bool Complete(const std::string& model, wasi_nn::Context* context, std::string* text) {
  Times times;
  if (!Generate(model, context, text, &times)) return false;
  PrintTimes(*context, times);
  if (wasi_nn::Status s = wasi_nn::fini_single(*context); !s) return Fail(model, "fini_single", s);
  return true;
}

// A line without its end; false at the end of the input.
bool ReadLine(std::string* line) {
  line->clear();
  int c = 0;
  while ((c = std::getchar()) != EOF && c != '\n') *line += static_cast<char>(c);
  return c != EOF || !line->empty();
}

std::string Message(const char* role, std::string_view content) {
  return std::string("{\"role\": \"") + role + "\", \"content\": " + Quoted(content) + "}";
}

std::string MessageWith(const std::string& media, std::string_view text) {
  return R"({"role": "user", "content": [)" + media + R"({"type": "text", "text": )" + Quoted(text) + "}]}";
}

// Each line is a question. The prompt is the whole conversation each time, and the host puts it into the model's chat
// template ("chat": true); it only evaluates the new part.
bool Converse(const Options& options, wasi_nn::Context* context) {
  std::string messages = options.system.empty() ? "" : Message("system", options.system) + ", ";
  std::string question, media = options.media;
  while (ReadLine(&question)) {
    messages += media.empty() ? Message("user", question) : MessageWith(media, question);
    media.clear();
    std::string answer;
    if (!SetPrompt(options.model, "[" + messages + "]", context) || !Complete(options.model, context, &answer)) {
      return false;
    }
    messages += ", " + Message("assistant", answer) + ", ";
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!ParseOptions(argc, argv, &options)) return 2;
  wasi_nn::Context context;
  if (!LoadModel(options, &context)) return 1;
  if (options.prompt.empty()) return Converse(options, &context) ? 0 : 1;
  if (!SetPrompt(options.model, options.prompt, &context)) return 1;
  std::fputs(options.prompt.c_str(), stdout);
  std::string text;
  return Complete(options.model, &context, &text) ? 0 : 1;
}
