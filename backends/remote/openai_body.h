// The body of a request for a completion or embeddings.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "remote/openai_settings.h"

namespace wasinn::remote {

class LanguageBody {
 public:
  // The prompt has been checked, and must not change until Write.
  LanguageBody(std::string_view model, const LanguageSettings& settings, std::string_view prompt);

  const char* path() const { return path_; }  // after …/v1
  uint64_t bytes() const { return bytes_; }
  // Writes bytes() bytes.
  void Write(char* to) const;

 private:
  const std::string_view prompt_;
  const bool is_text_;  // or JSON, which is passed on unchanged
  const char* path_;
  std::string head_;
  std::string_view tail_;
  uint64_t bytes_;
};

}  // namespace wasinn::remote
