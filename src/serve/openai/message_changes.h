// The changes of a message since the last event of a stream.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace wasinn::serve::openai {

// For one message (the model's output `message`); used by one thread at a time.
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

}  // namespace wasinn::serve::openai
