// The functions that llama.cpp's chat code uses of two kinds: of files that would bring all of its programs with them,
// and of its library, which it asks about a model. A model is the `llama_model` defined here.
#include "stand_ins.h"

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "common.h"
#include "log.h"

std::string string_join(const std::vector<std::string>& values, const std::string& separator) {
  std::string joined;
  for (size_t i = 0; i < values.size(); ++i) joined += (i == 0 ? "" : separator) + values[i];
  return joined;
}

std::vector<std::string> string_split(const std::string& text, const std::string& delimiter) {
  std::vector<std::string> parts;
  size_t start = 0;
  for (size_t end = text.find(delimiter); end != std::string::npos; end = text.find(delimiter, start)) {
    parts.push_back(text.substr(start, end - start));
    start = end + delimiter.size();
  }
  parts.push_back(text.substr(start));
  return parts;
}

std::string string_repeat(const std::string& text, size_t n) {
  std::string repeated;
  for (size_t i = 0; i < n; ++i) repeated += text;
  return repeated;
}

void string_replace_all(std::string& text, const std::string& search, const std::string& replacement) {
  if (search.empty()) return;
  for (size_t at = text.find(search); at != std::string::npos; at = text.find(search, at + replacement.size())) {
    text.replace(at, search.size(), replacement);
  }
}

std::string regex_escape(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view(".^$|()*+?[]{}\\").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

// ---- A model, as chat templates see it

const llama_vocab* llama_model_get_vocab(const llama_model* model) {
  return reinterpret_cast<const llama_vocab*>(model);
}

const char* llama_model_chat_template(const llama_model* model, const char* name) {
  return name == nullptr ? model->about.chat_template : model->about.tool_use;
}

namespace {

enum : llama_token { kBos, kEos };
const wasinn_llama_model& Of(const llama_vocab* vocabulary) {
  return reinterpret_cast<const llama_model*>(vocabulary)->about;
}

}  // namespace

llama_token llama_vocab_bos(const llama_vocab* vocabulary) {
  return Of(vocabulary).bos == nullptr ? LLAMA_TOKEN_NULL : kBos;
}
llama_token llama_vocab_eos(const llama_vocab* vocabulary) {
  return Of(vocabulary).eos == nullptr ? LLAMA_TOKEN_NULL : kEos;
}
bool llama_vocab_get_add_bos(const llama_vocab* vocabulary) { return Of(vocabulary).adds_bos != 0; }
bool llama_vocab_get_add_eos(const llama_vocab* vocabulary) { return Of(vocabulary).adds_eos != 0; }

std::string common_token_to_piece(const llama_vocab* vocabulary, llama_token token, bool /*special*/) {
  return token == kBos ? Of(vocabulary).bos : Of(vocabulary).eos;
}

// ---- Functions that are never called

std::vector<llama_token> common_tokenize(const llama_vocab* /*vocabulary*/, const std::string& /*text*/,
                                         bool /*add_special*/, bool /*parse_special*/) {
  throw std::logic_error("there is no tokenizer here");
}

int32_t llama_chat_apply_template(const char* /*name*/, const llama_chat_message* /*chat*/, size_t /*n*/,
                                  bool /*add_generation_prompt*/, char* /*out*/, int32_t /*size*/) {
  throw std::logic_error("there are no templates by name here");
}

// The sources call this at a fault of their own. Here it becomes an ordinary error.
extern "C" __attribute__((visibility("hidden"), noreturn)) void ggml_abort(const char* file, int line, const char*,
                                                                           ...) {
  throw std::runtime_error(std::string(file) + ":" + std::to_string(line));
}

// ---- No log

int common_log_get_verbosity_thold() { return -1; }
common_log* common_log_main() { return nullptr; }
void common_log_add(common_log* /*log*/, ggml_log_level /*level*/, const char* /*format*/, ...) {}
bool common_log_get_jsonl() { return false; }
void common_log_add_json(common_log* /*log*/, const char* /*type*/, const common_json& /*data*/) {}
