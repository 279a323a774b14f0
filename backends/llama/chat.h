// Conversations with a model that answers as an assistant.
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

// Of messages as JSON, without their images.
inline constexpr size_t kMostMessageBytes = size_t{4} << 20, kDeepestMessages = 32;

// The model's chat templates, in Jinja, parsed when the first chat needs them. Any thread.
class ChatTemplates {
 public:
  // `account`: who pays for what they keep.
  ChatTemplates(const Model& model, void* account);

  // Throws as CommonLibrary::NewTemplates does.
  const wasinn_llama_templates* Get(const std::atomic<bool>& cancelled) const;

 private:
  const Model& model_;
  mutable std::mutex mutex_;
  mutable backend::Reservation reservation_;  // goes after them
  mutable CommonLibrary::Templates templates_;
};

// What a template makes of messages: the prompt, and what the answer to it looks like.
struct ChatForm {
  std::string prompt;
  std::string generation_prompt;  // with which the prompt ends, and the answer begins
  std::string grammar;            // empty: none
  bool lazy = false;              // from the first match of a trigger on
  std::vector<std::string> triggers, stops, preserved;
  std::string thinking_start;
  std::vector<std::string> thinking_ends;
};

// One thread at a time.
class Chat {
 public:
  // `messages`: JSON. `account`: who pays for what it keeps. Throws WASINN_ERROR_INVALID_ARGUMENT for what are no messages,
  // tools and so on, and what CommonLibrary::NewChat throws.
  Chat(const Model& model, std::string_view messages, const Settings& settings, const std::atomic<bool>& cancelled,
       void* account);

  const ChatForm& form() const { return form_; }

  // OpenAI's message of the assistant as JSON. `partial`: of an answer that goes on; then what cannot be read yet is not
  // in it. A whole one that is not as its template has it is all content.
  std::string Message(const std::string& generated, bool partial);
  // Of the last message that was not partial.
  bool calls_tools() const { return calls_tools_; }

 private:
  void ReadForm(const std::string& text);
  std::string WithIds(const std::string& message);

  const CommonLibrary& library_;
  backend::Reservation reservation_;  // goes after it
  CommonLibrary::Chat chat_;          // NULL: a template by name, whose answers are plain text
  ChatForm form_;
  std::vector<std::string> ids_;  // of tool calls
  std::string last_;              // the last partial message
  bool calls_tools_ = false;
};

}  // namespace wasinn::llama
