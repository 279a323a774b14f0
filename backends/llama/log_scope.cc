#include "llama/log_scope.h"

#include "llama/llama_library.h"

namespace wasinn::llama {

namespace {

// Per thread, for a callback without a context argument.
thread_local LogScope* current_scope = nullptr;

constexpr size_t kLongestErrors = 2000;

}  // namespace

LogScope::LogScope(const backend::Log& log, bool verbose) : log_(log), verbose_(verbose), outer_(current_scope) {
  current_scope = this;
}

LogScope::~LogScope() { current_scope = outer_; }

void LogScope::Install(const LlamaLibrary& library) { library.log_set(Write, nullptr); }

void LogScope::Write(ggml_log_level level, const char* text, void* /*user_data*/) {
  LogScope* scope = current_scope;
  if (scope == nullptr || text == nullptr) return;
  try {
    if (level != GGML_LOG_LEVEL_CONT) scope->line_level_ = level;
    scope->line_ += text;
    if (scope->line_.empty() || scope->line_.back() != '\n') return;
    scope->line_.pop_back();
    scope->Add(scope->line_level_, scope->line_);
    scope->line_.clear();
  } catch (...) {  // out of memory: the message is lost
    scope->line_.clear();
  }
}

void LogScope::Add(ggml_log_level level, const std::string& line) {
  if (line.empty()) return;
  if (level == GGML_LOG_LEVEL_ERROR && errors_.size() < kLongestErrors) {
    if (!errors_.empty()) errors_ += "; ";
    errors_ += line;
  }
  // Errors go to the guest and the log with the failed call.
  if (level == GGML_LOG_LEVEL_WARN && verbose_) log_.Write(WASINN_LOG_WARNING, line);
  if (level == GGML_LOG_LEVEL_INFO && verbose_) log_.Write(WASINN_LOG_INFO, line);
  if (level == GGML_LOG_LEVEL_ERROR && verbose_) log_.Write(WASINN_LOG_ERROR, line);
}

}  // namespace wasinn::llama
