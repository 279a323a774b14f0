// Captures a library's output on stderr while the library is opened.
#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "common/process_turn.h"

namespace wasinn::backend {

// Redirects file descriptor 2 to memory during its life: for the short time in which a framework writes there
// regardless of its settings (docs/decisions/0013). One at a time in the OS process, for all backends. Other threads'
// output is written to stderr in the end. If it cannot redirect, it does nothing.
class StderrCapture {
 public:
  // Whether a line, newline included, is the library's own.
  using IsOwn = bool (*)(std::string_view line);

  explicit StderrCapture(IsOwn is_own);
  ~StderrCapture() { Finish(); }
  StderrCapture(const StderrCapture&) = delete;
  StderrCapture& operator=(const StderrCapture&) = delete;

  // The library's own lines; all others go to stderr now.
  std::string Finish();

 private:
  const IsOwn is_own_;
  ProcessTurn turn_;                  // two captures take turns
  base::Descriptor memory_, stderr_;  // the lines; and the former descriptor 2
};

}  // namespace wasinn::backend
