// llama.cpp's messages.
#pragma once

#include <ggml.h>

#include <string>

#include "common/log.h"

namespace wasinn::llama {

class LlamaLibrary;

// llama.cpp has one log callback in a process. It belongs to no host: it passes messages to the current scope of the
// thread, which lives on its stack, and drops them without a scope. So nothing can dangle, and each host gets messages
// of its own calls only.
class LogScope {
 public:
  // `verbose`: also logs llama.cpp's informational messages.
  LogScope(const backend::Log& log, bool verbose);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

  // The errors since the beginning of the scope, for a message; `otherwise` without any.
  std::string Errors(const char* otherwise) const { return errors_.empty() ? otherwise : errors_; }

  // Installs the callback.
  static void Install(const LlamaLibrary& library);
  static ggml_log_callback callback() { return Write; }

 private:
  static void Write(ggml_log_level level, const char* text, void* user_data);
  void Add(ggml_log_level level, const std::string& line);

  const backend::Log& log_;
  const bool verbose_;
  LogScope* const outer_;
  std::string errors_;
  std::string line_;  // a line that is not complete
  ggml_log_level line_level_ = GGML_LOG_LEVEL_INFO;
};

}  // namespace wasinn::llama
