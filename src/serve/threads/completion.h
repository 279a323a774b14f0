// A text that a language model generates, token by token.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <wasinn/wasinn.hpp>

#include "serve/models/model_contexts.h"
#include "serve/oip/inference.h"
#include "serve/threads/cancellation.h"

namespace wasinn::serve {

// What language models take, by the names of their inputs.
struct Prompt {
  std::string prompt;
  std::string options;  // a JSON object
  bool goes_on = true;  // false: no later text begins with it, so nothing of it is kept warm
};

// On one thread at a time. A cancel ends it, at whatever it is. Its guest and its cancellation (NULL: nobody cancels) outlive it.
class Completion {
 public:
  // `model`: is in use meanwhile.
  Completion(const std::shared_ptr<Guest>& guest, std::shared_ptr<ModelContexts> contexts, uint32_t context,
             Cancellation* cancellation, std::shared_ptr<const void> model);
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  // Evaluates the prompt, and chooses the first token. Once.
  Outcome<void> Begin(const Prompt& prompt);
  // Whether Next was called.
  bool has_begun() const { return has_begun_; }
  // The text of the next token, which may be empty; of the first one first. Nothing: it has ended.
  Outcome<std::optional<std::string>> Next();
  // The text of an output of the model, as it is by now.
  Outcome<std::string> Output(std::string_view name);

 private:
  Outcome<void> Start(const Prompt& prompt);
  Outcome<std::optional<std::string>> Step();
  Failure WhyNot(Failure failure) const;

  const std::shared_ptr<const void> model_;
  wasinn_guest* const guest_;
  Cancellation* const cancellation_;
  TakenContext context_;
  std::optional<Cancellation::Stop> stop_;  // before the context goes
  std::string beginning_;                   // of the prompt
  std::optional<std::string> first_;
  bool goes_on_ = true;
  bool has_begun_ = false, has_ended_ = false;
};

}  // namespace wasinn::serve
