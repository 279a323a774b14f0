// What a host counts, as a file.
#pragma once

#include <mutex>
#include <string>
#include <utility>
#include <wasinn/wasinn.hpp>

namespace wasinn::cli {

// Any thread. A file has the numbers of the last call, stderr those of the first.
class MetricsFile {
 public:
  // `path`: "-" is stderr; "": none is wanted.
  explicit MetricsFile(std::string path) : path_(std::move(path)) {}
  MetricsFile(const MetricsFile&) = delete;
  MetricsFile& operator=(const MetricsFile&) = delete;

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
  // What fails is logged.
  void Write();

 private:
  void SetHost(const Host* host);

  const std::string path_;
  std::mutex mutex_;  // of what follows, and of the file
  const Host* host_ = nullptr;
  bool is_on_stderr_ = false;  // by now
};

}  // namespace wasinn::cli
