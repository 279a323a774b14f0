// How a text is told while it grows, and once it is whole.
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

// What its model tells of a text, and how long it took.
struct Ending {
  using Milliseconds = std::chrono::duration<double, std::milli>;

  std::string reason;  // "stop", "length", "tool_calls"
  uint64_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0;
  Milliseconds prompt{0}, completion{0};  // until the first token, and from there on

  // Of the same request, another text of the same prompt, or of another one.
  void Add(const Ending& other, bool has_same_prompt);
};
Outcome<Ending> ReadEnding(Completion& completion);

// One answer, on one thread at a time. It has a text, or several, which are its choices and come one after the other.
class TextForm {
 public:
  virtual ~TextForm() = default;

  // As a stream: events, in this order; "": none. Of each choice:
  virtual Outcome<std::string> Begin(Completion& completion) = 0;
  // `piece`: of the token that has just come. `so_far`: to be told of what came by now; NULL: is not.
  virtual Outcome<std::string> Add(Completion& completion, const std::string& piece, const Ending* so_far) = 0;
  // How far the prompt is evaluated, before its first token.
  virtual std::string TellProgress(const nlohmann::json& progress) = 0;
  virtual Outcome<std::string> EndChoice(Completion& completion, const Ending& ending) = 0;
  // `all`: of all choices.
  virtual std::string End(const Ending& all) = 0;
  // In its midst, and nothing follows.
  virtual std::string Fail(const ApiError& error) = 0;

  // In one: of each token that has come, at the end of each choice, and of all. The first two tell how many bytes they keep, the other one
  // the answer.
  virtual Outcome<size_t> KeepToken(Completion& /*completion*/) { return 0; }
  virtual Outcome<size_t> KeepChoice(Completion& completion, const Ending& ending) = 0;
  virtual std::string Whole(const Ending& all) = 0;
};

// The choices of an answer in one. As text: a tree of many tokens' probabilities takes fifteen times as much.
class Choices {
 public:
  size_t size() const { return size_; }
  // Returns how many bytes more there are.
  size_t Add(const std::string& choice);
  // `rest`: all other fields of the answer, of which there are some.
  std::string Finish(const nlohmann::json& rest);

 private:
  std::string text_ = R"({"choices":[)";
  size_t size_ = 0;
};

// An event of a stream of OpenAI's.
std::string Event(const nlohmann::json& data);
// What all answers begin with, as "chatcmpl-", and a number that no other one has.
std::string NewId(std::string_view prefix);
inline int64_t UnixTime() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}
nlohmann::json UsageOf(const Ending& ending);
// As llama.cpp's server tells them.
nlohmann::json TimingsOf(const Ending& ending);
// Which build of the framework has made it, as OpenAI's system_fingerprint.
Outcome<nlohmann::json> ReadFingerprint(Completion& completion);

// What an output of the model says.
Outcome<nlohmann::json> ReadOutput(Completion& completion, const char* name);

}  // namespace wasinn::serve::openai
