// Spans as a file of Chrome's trace event format, which Perfetto shows.
#pragma once

#include <wasinn/wasinn.h>

#include <cstdint>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "engines/engine.h"

namespace wasinn::cli {

// Thread-safe. Between two writes the file is complete JSON; after a crash only the last events may be missing.
class TraceFile {
 public:
  TraceFile() = default;
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // False: errno has the reason. `guest_folders`: as for OpenOutput.
  bool Open(const std::string& path, const std::vector<engines::Directory>& guest_folders);
  void Add(const wasinn_span& span);
  // Writes all added events to the file.
  void Flush();

 private:
  // Needs `mutex_`.
  void Append(const std::string& event);
  void Write();

  std::mutex mutex_;  // guards the members below
  int file_ = -1;
  int64_t written_ = 0;  // bytes of events in the file
  std::string pending_;
  bool is_first_ = true;
  bool failed_ = false;
  std::set<uint64_t> threads_;  // whose names are in the file
};

}  // namespace wasinn::cli
