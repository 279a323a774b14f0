// SIGTERM and SIGINT: while the program serves, the first one is told; before, and a second one at any time, they end it. SIGHUP is told
// each time.
#pragma once

namespace wasinn::serve {

// One at a time.
class EndSignals {
 public:
  struct Told {
    bool end = false, reload = false;
  };

  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // From here on the program serves.
  void Serving();
  // Can be read from the first one on, until it is taken.
  int descriptor() const;
  // What came since the last time; an end, each time from the first one on.
  Told Take();
};

}  // namespace wasinn::serve
