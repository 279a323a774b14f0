// What a library writes to stderr while it is opened.
#pragma once

#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "common/process_turn.h"

namespace wasinn::backend {

// Turns file descriptor 2 to memory while it lives: for the few moments in which a framework writes there whatever it
// is told (docs/decisions/0013). One at a time in the OS process, over all backends. What other threads write to stderr
// meanwhile is written there in the end. Where it cannot, it does nothing.
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
  base::Descriptor memory_, stderr_;  // where the lines go; what descriptor 2 was
};

}  // namespace wasinn::backend
