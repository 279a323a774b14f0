// The form of an answer, as a stream or as a whole, and what forms have in common.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "serve/openai/errors.h"
#include "serve/threads/completion.h"

namespace wasinn::serve::openai {

// The model's data about a text, and its times.
struct Ending {
  using Milliseconds = std::chrono::duration<double, std::milli>;

  std::string reason;  // "stop", "length", "tool_calls"
  uint64_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0;
  Milliseconds prompt{0}, completion{0};  // until the first token, and after it

  // Adds another text of the same request, for the same prompt or another.
  void Add(const Ending& other, bool has_same_prompt);
};
// Throws Failure.
Ending ReadEnding(Completion& completion);

// One answer, used by one thread at a time. It has one or several texts, its choices, one after the other. Functions
// that read a completion throw Failure.
class TextForm {
 public:
  virtual ~TextForm() = default;

  // A stream: events in this order; "": none. For each choice:
  virtual std::string Begin(Completion& completion) = 0;
  // `piece`: the current token. `so_far`: data to report with it; NULL: none.
  virtual std::string Add(Completion& completion, const std::string& piece, const Ending* so_far) = 0;
  // The evaluation of the prompt, before its first token.
  virtual std::string ReportProgress(const nlohmann::json& progress) = 0;
  virtual std::string EndChoice(Completion& completion, const Ending& ending) = 0;
  // `all`: of all choices together.
  virtual std::string End(const Ending& all) = 0;
  // An error within the stream, which ends it.
  virtual std::string Fail(const ApiError& error) = 0;

  // A whole answer: called for each token, after each choice, and at the end. The first two return the number of bytes
  // that they keep, the last the answer.
  virtual size_t KeepToken(Completion& /*completion*/) { return 0; }
  virtual size_t KeepChoice(Completion& completion, const Ending& ending) = 0;
  virtual std::string Whole(const Ending& all) = 0;
};

struct TextRequest;
// The answers to /v1/chat/completions and /v1/completions, to /completion, and to /v1/responses.
std::unique_ptr<TextForm> NewChoicesForm(const TextRequest& request);
std::unique_ptr<TextForm> NewLlamaForm(const TextRequest& request);
std::unique_ptr<TextForm> NewResponseForm(const TextRequest& request);
// The answers to generate and generate_stream. `id`: "": none.
std::unique_ptr<TextForm> NewGenerateForm(const std::string& model, const std::string& version, const std::string& id);

// `__verbose` of an answer: a finished text in llama.cpp's own form, for clients that ask for it. Throws Failure.
nlohmann::json ToVerbose(Completion& completion, const Ending& ending, const std::string& model, bool is_stream);
// `generation_settings` of this form, from `settings` in the model's output `generation`.
nlohmann::json ToLlamaSettings(const nlohmann::json& settings, bool is_stream);

// The choices of a whole answer. As text: as a tree, probabilities of many tokens take fifteen times as much.
class Choices {
 public:
  size_t size() const { return size_; }
  // Returns the number of bytes added.
  size_t Add(const std::string& choice);
  // `rest`: all other fields of the answer; not empty.
  std::string Finish(const nlohmann::json& rest);

 private:
  std::string text_ = R"({"choices":[)";
  size_t size_ = 0;
};

// An event of OpenAI's streams.
std::string Event(const nlohmann::json& data);
// The prefix, such as "chatcmpl-", and a unique number.
std::string NewId(std::string_view prefix);
inline int64_t UnixTime() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}
nlohmann::json UsageOf(const Ending& ending);
// In the form of llama.cpp's server.
nlohmann::json TimingsOf(const Ending& ending);
// The framework's build, for OpenAI's system_fingerprint.
nlohmann::json ReadFingerprint(Completion& completion);

// Parses an output of the model. Throws Failure, like ReadFingerprint.
nlohmann::json ReadOutput(Completion& completion, const char* name);
// The failure if it is not of this kind, such as "JSON".
Failure NoOutput(const char* name, const char* kind);

// The changes of a message (the model's output `message`) since the last event of a stream. Used by one thread at a
// time.
class MessageChanges {
 public:
  // OpenAI's delta; empty without changes. Sent text cannot be taken back: if the beginning of the message changes,
  // nothing is sent until it begins with the sent text again.
  nlohmann::json New(const nlohmann::json& message);
  const nlohmann::json& sent() const { return sent_; }

 private:
  // Adds the text of a field that follows the sent text.
  static void AddText(const nlohmann::json& from, const char* field, nlohmann::json& sent, nlohmann::json& delta);
  void AddCalls(const nlohmann::json& calls, nlohmann::json& delta);

  nlohmann::json sent_ = nlohmann::json::object();
};

// Probabilities of a text's tokens, from the model's outputs to the forms of answers. Used by one thread at a time. Functions that read a completion throw Failure.
class LogProbabilities {
 public:
  // `n_top`: alternatives for each token.
  explicit LogProbabilities(unsigned n_top) : n_top_(n_top) {}

  // Adds the current token.
  void AddStep(Completion& completion);
  // Returns tokens that were added since the last call: a list in the form of OpenAI's chat.
  nlohmann::json Take();
  // The same in the form of OpenAI's completions.
  nlohmann::json TakeAsColumns();
  // Returns all tokens, if none was added before, in either form, as text.
  std::string ReadAll(Completion& completion);
  std::string ReadAllAsColumns(Completion& completion);

 private:
  using Use = std::function<void()>;
  // Adds the elements of such an output. `use` is called after each.
  void Add(Completion& completion, const char* output, const Use& use);

  const unsigned n_top_;
  nlohmann::json fresh_ = nlohmann::json::array();
  size_t offset_ = 0;  // of the next token, in characters
};

}  // namespace wasinn::serve::openai
