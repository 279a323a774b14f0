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

// A language model's inputs, by their names.
struct Prompt {
  std::string prompt;
  std::string options;  // a JSON object
  bool goes_on = true;  // false: no later text continues it, so nothing is kept warm
};

// Used by one thread at a time. A cancel ends it at any point. Its guest and its cancellation (may be NULL) outlive it.
class Completion {
 public:
  // `model`: kept in use until the end.
  Completion(const std::shared_ptr<Guest>& guest, std::shared_ptr<ModelContexts> contexts, uint32_t context,
             Cancellation* cancellation, std::shared_ptr<const void> model);
  ~Completion();
  Completion(const Completion&) = delete;
  Completion& operator=(const Completion&) = delete;

  // Evaluates the prompt, and chooses the first token. Called once. Throws Failure, like the next functions.
  void Begin(const Prompt& prompt);
  // Whether Next was called.
  bool has_begun() const { return has_begun_; }
  // The text of the next token, which may be empty, beginning with the first token. Empty optional: the text has ended.
  std::optional<std::string> Next();
  // The present text of an output of the model.
  std::string Output(std::string_view name);

 private:
  void Start(const Prompt& prompt);
  std::optional<std::string> Step();
  // The result of `call`. If the client has gone, that is its failure.
  template <typename Call>
  auto UnlessGone(const Call& call) const;

  const std::shared_ptr<const void> model_;
  wasinn_guest* const guest_;
  Cancellation* const cancellation_;
  TakenContext context_;
  std::optional<Cancellation::Stop> stop_;  // destroyed before the context is released
  std::string beginning_;                   // a piece of the prompt at the beginning
  std::optional<std::string> first_;
  bool goes_on_ = true;
  bool has_begun_ = false, has_ended_ = false;
};

}  // namespace wasinn::serve
