// Chats with a model.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "common/reservation.h"
#include "llama/common_library.h"
#include "llama/settings.h"

namespace wasinn::llama {

class Model;

// For messages as JSON, without their images.
inline constexpr size_t kMaxMessageBytes = size_t{4} << 20, kDeepestMessages = 32;

// The model's chat templates (Jinja), parsed for the first chat. Thread-safe.
class ChatTemplates {
 public:
  // `account`: pays for their memory.
  ChatTemplates(const Model& model, void* account);

  // Throws like CommonLibrary::NewTemplates.
  const wasinn_llama_templates* Get(const std::atomic<bool>& cancelled) const;

 private:
  const Model& model_;
  mutable std::mutex mutex_;
  mutable backend::Reservation reservation_;  // destroyed after them
  mutable CommonLibrary::Templates templates_;
};

// The result of a template: the prompt, and the form of the answer.
struct ChatForm {
  std::string prompt;
  std::string generation_prompt;  // the end of the prompt, where the answer begins
  std::string grammar;            // empty: no grammar
  bool lazy = false;              // from the first match of a trigger
  std::vector<std::string> triggers, stops, preserved;
  std::string thinking_start;
  std::vector<std::string> thinking_ends;
};

// Used by one thread at a time.
class Chat {
 public:
  // `messages`: JSON. `account`: pays for its memory. Throws WASINN_ERROR_INVALID_ARGUMENT for invalid messages, tools
  // and so on, and the errors of CommonLibrary::NewChat.
  Chat(const Model& model, std::string_view messages, const Settings& settings, const std::atomic<bool>& cancelled,
       void* account);

  const ChatForm& form() const { return form_; }

  // OpenAI's assistant message as JSON. `partial`: the answer is not complete; without parts that cannot be read yet. A
  // complete answer that does not fit its template becomes content.
  std::string Message(const std::string& generated, bool partial);
  // For the last message that was not partial.
  bool calls_tools() const { return calls_tools_; }

 private:
  void ReadForm(const std::string& text);
  void CheckRequiresCall(const Settings& settings) const;
  std::string WithIds(const std::string& message);

  const CommonLibrary& library_;
  backend::Reservation reservation_;  // destroyed after it
  CommonLibrary::Chat chat_;          // NULL: a named template, whose answers are plain text
  ChatForm form_;
  std::vector<std::string> ids_;  // of tool calls
  std::string last_;              // the last partial message
  bool calls_tools_ = false;
};

}  // namespace wasinn::llama
