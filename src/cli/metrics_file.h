// What a host counts, as a file.
#pragma once

#include <mutex>
#include <string>
#include <vector>
#include <wasinn/wasinn.hpp>

#include "cli/output_file.h"
#include "engines/engine.h"

namespace wasinn::cli {

// Any thread. A file has the numbers of the last call, stderr those of the first.
class MetricsFile {
 public:
  MetricsFile() = default;
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

  // As ReportFile.
  bool Open(const std::string& path, const std::vector<engines::Directory>& guest_folders);

  // Whose numbers they are, while this lives.
  class Of {
   public:
    Of(MetricsFile& file, const Host& host) : file_(file) { file_.SetHost(&host); }
    ~Of() { file_.SetHost(nullptr); }
    Of(const Of&) = delete;
    Of& operator=(const Of&) = delete;

   private:
    MetricsFile& file_;
  };
  // What fails is logged. Nothing where it was not opened.
  void Write();

 private:
  void SetHost(const Host* host);

  std::mutex mutex_;  // of what follows
  ReportFile file_;
  const Host* host_ = nullptr;
};

}  // namespace wasinn::cli
