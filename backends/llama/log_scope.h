// What llama.cpp says.
#pragma once

#include <ggml.h>

#include <string>

#include "common/log.h"

namespace wasinn::llama {

class LlamaLibrary;

// llama.cpp has one log callback in an OS process. Ours belongs to no host: it gives a message to the scope that the
// thread is in, which lives on its stack, and drops it where there is none. So nothing can dangle, and each host hears
// of its own calls only.
class LogScope {
 public:
  // `verbose`: what llama.cpp tells for information goes to the host's log, too.
  LogScope(const backend::Log& log, bool verbose);
  ~LogScope();
  LogScope(const LogScope&) = delete;
  LogScope& operator=(const LogScope&) = delete;

  // The errors that were written meanwhile, for the message of an error of ours; `otherwise` if there were none.
  std::string Errors(const char* otherwise) const { return errors_.empty() ? otherwise : errors_; }

  // Makes it the callback.
  static void Install(const LlamaLibrary& library);
  static ggml_log_callback callback() { return Write; }

 private:
  static void Write(ggml_log_level level, const char* text, void* user_data);
  void Add(ggml_log_level level, const std::string& line);

  const backend::Log& log_;
  const bool verbose_;
  LogScope* const outer_;
  std::string errors_;
  std::string line_;  // until its end comes
  ggml_log_level line_level_ = GGML_LOG_LEVEL_INFO;
};

}  // namespace wasinn::llama
