// What has come to a message since it was last looked at, as streams tell it.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace wasinn::serve::openai {

// Of one message (the model's output `message`), on one thread at a time.
class MessageChanges {
 public:
  // OpenAI's delta; an object of nothing where there is nothing new. What was told before cannot be taken back: of a message whose
  // beginning is another one by now, nothing is told until it begins so again.
  nlohmann::json New(const nlohmann::json& message);
  const nlohmann::json& told() const { return told_; }

 private:
  // Of a text field, from `from`, where it goes on from what was told.
  static void AddText(const nlohmann::json& from, const char* field, nlohmann::json& told, nlohmann::json& delta);
  void AddCalls(const nlohmann::json& calls, nlohmann::json& delta);

  nlohmann::json told_ = nlohmann::json::object();
};

}  // namespace wasinn::serve::openai
