// A language model in the host that evaluates texts. The guest chooses the next token.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wasi_nn_ext.hpp"

using Tokens = std::vector<int32_t>;

// A candidate for the next token.
struct Choice {
  int32_t token = 0;
  double log_probability = 0;
};
using Choices = std::vector<Choice>;  // the likeliest first

class Decoder {
 public:
  // Like all functions here, it reports errors on stderr.
  bool Open(const std::string& model);

  bool TokensOf(const std::string& text, Tokens* tokens);
  bool TextOf(const Tokens& tokens, std::string* text);

  // The `top` likeliest tokens after each text. The texts have the same length. Their common beginning is evaluated
  // once, and parts of the last call are not evaluated again.
  bool Next(const std::vector<Tokens>& texts, size_t top, std::vector<Choices>* next);
  // The likeliest tokens after each token of one text, from number `position` on.
  bool NextFrom(const Tokens& text, size_t position, size_t top, std::vector<Choices>* next);

  // Whether the token ends a text. Known after Next.
  bool Ends(int32_t token) const;
  // The number of tokens that the host has evaluated so far, and the number of computes.
  size_t evaluated() const { return evaluated_; }
  size_t passes() const { return passes_; }

 private:
  bool SetText(const char* name, const std::string& text);
  bool Compute(const std::string& options, std::string* completion);
  bool Decode(const std::vector<Tokens>& texts, const std::string& options, size_t top, std::vector<Choices>* next);

  wasi_nn::Context context_;
  std::string options_;
  Tokens rows_, end_tokens_;
  size_t evaluated_ = 0, passes_ = 0;
};
