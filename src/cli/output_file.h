// Files that the command writes, beside guests that may write in the same folder.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engines/engine.h"

namespace wasinn::cli {

// Opens a file for writing, made if it is not there, and not emptied. Where one of the guest's folders is on its way, the path may
// lead through no link: the guest, or one before it, could have made it lead to any file of this user's. -1: errno says why.
int OpenOutput(const std::string& path, const std::vector<engines::Directory>& guest_folders);

// What was in it goes. A pipe has nothing in it.
void Empty(int file);

// Whether all of it was written, there; where the file is no pipe.
bool WriteAt(int file, std::string_view bytes, int64_t at);

// A text about a run, which is opened before the guest runs, who could give the name to another file. One thread at a time.
class ReportFile {
 public:
  ReportFile() = default;
  ~ReportFile();
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;

  // "-" is stderr. Else errno says why. `guest_folders`: of OpenOutput.
  bool Open(const std::string& path, const std::vector<engines::Directory>& guest_folders);
  bool is_open() const { return file_ >= 0; }
  // What a file has from before goes.
  void Clear();
  // A file has the text of the last call, stderr that of the first. What fails is logged; `what`: "the metrics".
  void Write(std::string_view text, const char* what);

 private:
  int file_ = -1;
  bool is_on_stderr_ = false, is_written_ = false;
};

}  // namespace wasinn::cli
