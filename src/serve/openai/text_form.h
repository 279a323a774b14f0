// How a text is told while it grows, and once it is whole.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "serve/completion.h"
#include "serve/openai/errors.h"

namespace wasinn::serve::openai {

// What its model tells of a text.
struct Ending {
  std::string reason;  // "stop", "length", "tool_calls"
  uint64_t prompt_tokens = 0, completion_tokens = 0, cached_tokens = 0;
};
Outcome<Ending> ReadEnding(Completion& completion);

// One answer, on one thread at a time.
class TextForm {
 public:
  virtual ~TextForm() = default;

  // As a stream: events, in this order; "": none.
  virtual std::string Begin() = 0;
  // `piece`: of the token that has just come.
  virtual Outcome<std::string> Add(Completion& completion, const std::string& piece) = 0;
  virtual Outcome<std::string> End(Completion& completion, const Ending& ending) = 0;
  // In its midst, and nothing follows.
  virtual std::string Fail(const ApiError& error) = 0;

  // In one, after its end.
  virtual Outcome<nlohmann::json> Whole(Completion& completion, const Ending& ending) = 0;
};

// An event of a stream of OpenAI's.
std::string Event(const nlohmann::json& data);
// What all answers begin with, as "chatcmpl-", and a number that no other one has.
std::string NewId(std::string_view prefix);
inline int64_t UnixTime() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}
nlohmann::json UsageOf(const Ending& ending);

// What an output of the model says.
Outcome<nlohmann::json> ReadOutput(Completion& completion, const char* name);

}  // namespace wasinn::serve::openai
