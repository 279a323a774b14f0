// A language model in the host that evaluates tokens, and leaves it to the guest which one comes next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "wasi_nn_ext.hpp"

class Decoder {
 public:
  // Its texts begin with `prompt`. Like all functions here it says what failed.
  bool Open(const std::string& model, const std::string& prompt);

  struct Wish {
    size_t top = 1;             // so many of the likeliest tokens
    std::string save, restore;  // names of states of the host's; "": none
  };
  struct Answer {
    std::vector<int32_t> tokens;  // the likeliest first
    std::vector<float> logits;    // theirs
    double log_sum = 0;           // a logit less this is a log-probability
    std::vector<int32_t> end_tokens;
  };
  // What may follow the prompt and, behind it, `tokens`.
  bool Decode(const std::vector<int32_t>& tokens, const Wish& wish, Answer* answer);

  bool TextOf(const std::vector<int32_t>& tokens, std::string* text);

 private:
  bool Set(const char* name, const std::string& text);
  bool Compute(const std::string& options);

  wasi_nn::Context context_;
  std::string prompt_;
};
