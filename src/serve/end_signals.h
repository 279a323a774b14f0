// SIGTERM and SIGINT: the first one is told, the second one ends the program, whatever it does by then.
#pragma once

namespace wasinn::serve {

// One at a time.
class EndSignals {
 public:
  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // Can be read from the first one on.
  int descriptor() const;
};

}  // namespace wasinn::serve
