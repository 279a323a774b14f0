// Files that the command writes while guests may write to the same folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"

namespace wasinn::cli {

// Opens a file for writing, created if it is missing, and not emptied. If a guest's folder is on its way, the path must
// contain no link, which a guest could have made to any file of this user. -1: errno has the reason.
int OpenOutput(const std::string& path, const std::vector<engines::Directory>& guest_folders);

// Removes its content. A pipe has none.
void Empty(int file);

// Whether all of it was written at that offset, or to a pipe.
bool WriteAt(int file, std::string_view bytes, int64_t at);

// A text about a run. Its file is opened before the guest runs, which could replace the file. One thread at a time.
class ReportFile {
 public:
  ReportFile() = default;
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  // "-" is stderr. False: errno has the reason. `guest_folders`: as for OpenOutput.
  bool Open(const std::string& path, const std::vector<engines::Directory>& guest_folders);
  bool is_open() const { return file_ >= 0; }
  // Removes a file's earlier content.
  void Clear();
  // A file has the text of the last call, stderr that of the first. Errors are logged; `what`: "the metrics".
  void Write(std::string_view text, const char* what);

 private:
  int file_ = -1;
  bool is_on_stderr_ = false, is_written_ = false;
};

}  // namespace wasinn::cli
