// SIGTERM and SIGINT: while the program serves, the first one is reported; before that, and a second one at any time,
// they end it. SIGHUP is always reported.
#pragma once

namespace wasinn::serve {

// One object at a time.
class EndSignals {
 public:
  struct Received {
    bool end = false, reload = false;
  };

  EndSignals();
  ~EndSignals();
  EndSignals(const EndSignals&) = delete;
  EndSignals& operator=(const EndSignals&) = delete;

  // From here on the program serves.
  void Serving();
  // Readable from the first signal on, until Take.
  int descriptor() const;
  // The signals since the last call; an end is reported each time from the first one on.
  Received Take();
};

}  // namespace wasinn::serve
