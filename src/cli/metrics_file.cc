#include "cli/metrics_file.h"

#include "cli/log.h"

namespace wasinn::cli {

bool MetricsFile::Open(const std::string& path, const std::vector<engines::Directory>& guest_folders) {
  const std::lock_guard lock(mutex_);
  return file_.Open(path, guest_folders);
}

void MetricsFile::SetHost(const Host* host) {
  const std::lock_guard lock(mutex_);
  host_ = host;
}

void MetricsFile::Write() {
  const std::lock_guard lock(mutex_);
  if (host_ == nullptr || !file_.is_open()) return;
  const Result<std::string> metrics = host_->Metrics();
  if (!metrics) return Log(WASINN_LOG_ERROR, metrics.status().message());
  file_.Write(*metrics, "the metrics");
}

}  // namespace wasinn::cli
