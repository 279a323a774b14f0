// llama.cpp's own loop, through llama.h: always the likeliest token.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace wasinn::bench {

class NativeText {
 public:
  // `library`: the file that wasinn's backend has opened. On one thread, with a context as the backend makes it.
  NativeText(const std::string& library, const std::string& model);
  ~NativeText();
  NativeText(const NativeText&) = delete;
  NativeText& operator=(const NativeText&) = delete;

  // Calls `add` with each token's text, until there are `tokens` of them or the model ends the text.
  void Generate(const std::string& prompt, int tokens, const std::function<void(const std::string&)>& add);

 private:
  struct Llama;
  const std::unique_ptr<Llama> llama_;
};

}  // namespace wasinn::bench
