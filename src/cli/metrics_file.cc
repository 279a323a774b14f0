#include "cli/metrics_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/log.h"

namespace wasinn::cli {

void MetricsFile::SetHost(const Host* host) {
  const std::lock_guard lock(mutex_);
  host_ = host;
}

void MetricsFile::Write() {
  const std::lock_guard lock(mutex_);
  if (host_ == nullptr || path_.empty() || is_on_stderr_) return;
  const Result<std::string> metrics = host_->Metrics();
  if (!metrics) return Log(WASINN_LOG_ERROR, metrics.status().message());
  is_on_stderr_ = path_ == "-";
  std::FILE* const file = is_on_stderr_ ? stderr : std::fopen(path_.c_str(), "we");
  bool written = file != nullptr && std::fwrite(metrics->data(), 1, metrics->size(), file) == metrics->size();
  if (file != nullptr) written = (file == stderr ? std::fflush(file) : std::fclose(file)) == 0 && written;
  if (!written) Log(WASINN_LOG_ERROR, ("cannot write the metrics " + path_ + ": " + std::strerror(errno)).c_str());
}

}  // namespace wasinn::cli
