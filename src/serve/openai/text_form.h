// The form of an answer, as a stream or as a whole.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
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

}  // namespace wasinn::serve::openai
