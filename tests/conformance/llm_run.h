// Runs the guest "llm" on models/tiny.gguf.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace wasinn::testing {

// The flag "NAME=PATH" for models/tiny.gguf, which is called "lm".
std::string TinyLm();

// The output of the guest "llm", in order: texts by name, and failed calls with their errors.
struct LlmAnswer {
  struct Line {
    std::string name;  // "output", "metadata", "piece" …, or the call that failed
    std::string text;  // "" if it failed
    uint32_t error = 0;
  };
  std::vector<Line> lines;
  std::string err;  // what the command printed

  std::vector<std::string> All(const std::string& name) const;
  // The only one of that name.
  std::string One(const std::string& name) const;
};

// `flags` for the command, and that one thread computes: the model is so small that several would mostly wait for each
// other, and on a machine with other work for very long.
std::vector<std::string> LlmFlags(std::vector<std::string> flags = {"--model", TinyLm()});

LlmAnswer RunLlm(const std::vector<std::string>& args, const std::vector<std::string>& flags = {"--model", TinyLm()});

// ChatML's words around a question.
std::string Question(const std::string& text);

}  // namespace wasinn::testing
