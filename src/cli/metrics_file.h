// Writes a host's metrics to a file.
#pragma once

#include <mutex>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "cli/output_file.h"
#include "engines/engine.h"

namespace wasinn::cli {

// Thread-safe. A file has the numbers of the last call, stderr those of the first.
class MetricsFile {
 public:
  MetricsFile() = default;
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  // As ReportFile.
  bool Open(const std::string& path, const std::vector<engines::Directory>& guest_folders);

  // The host of the numbers, during its life.
  class Of {
   public:
    Of(MetricsFile& file, const Host& host) : file_(file) { file_.SetHost(&host); }
    ~Of() { file_.SetHost(nullptr); }
    Of(const Of&) = delete;
    Of& operator=(const Of&) = delete;

   private:
    MetricsFile& file_;
  };
  // Errors are logged. Does nothing without Open.
  void Write();

 private:
  void SetHost(const Host* host);

  std::mutex mutex_;  // guards the members below
  ReportFile file_;
  const Host* host_ = nullptr;
};

}  // namespace wasinn::cli
