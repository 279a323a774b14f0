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

// Any thread. Between two writes the file is whole JSON, however the OS process ends; what it may lack is the end.
class TraceFile {
 public:
  TraceFile() = default;
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  // Else errno says why. `guest_folders`: of OpenOutput.
  bool Open(const std::string& path, const std::vector<engines::Directory>& guest_folders);
  void Add(const wasinn_span& span);
  // What was added is in the file.
  void Flush();

 private:
  // Of `mutex_`.
  void Append(const std::string& event);
  void Write();

  std::mutex mutex_;  // of what follows
  int file_ = -1;
  int64_t written_ = 0;  // bytes of events in the file
  std::string pending_;
  bool is_first_ = true;
  bool failed_ = false;
  std::set<uint64_t> threads_;  // whose names are there
};

}  // namespace wasinn::cli
