#include "cli/metrics_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cli/log.h"
#include "cli/output_file.h"

namespace wasinn::cli {

bool MetricsFile::Open(const std::string& path, const std::vector<engines::Directory>& guest_folders) {
  const std::lock_guard lock(mutex_);
  is_on_stderr_ = path == "-";
  file_ = is_on_stderr_ ? STDERR_FILENO : OpenOutput(path, guest_folders);
  return file_ >= 0;
}

MetricsFile::~MetricsFile() {
  if (file_ >= 0 && !is_on_stderr_) close(file_);
}

void MetricsFile::SetHost(const Host* host) {
  const std::lock_guard lock(mutex_);
  host_ = host;
}

void MetricsFile::Write() {
  const std::lock_guard lock(mutex_);
  if (host_ == nullptr || file_ < 0 || (is_on_stderr_ && is_written_)) return;
  const Result<std::string> metrics = host_->Metrics();
  if (!metrics) return Log(WASINN_LOG_ERROR, metrics.status().message());
  is_written_ = true;
  if (!is_on_stderr_) Empty(file_);
  const bool written = is_on_stderr_
                           ? write(file_, metrics->data(), metrics->size()) == static_cast<ssize_t>(metrics->size())
                           : WriteAt(file_, *metrics, 0);
  if (!written) Log(WASINN_LOG_ERROR, (std::string("cannot write the metrics: ") + std::strerror(errno)).c_str());
}

}  // namespace wasinn::cli
