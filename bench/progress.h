// Shows the progress of a measurement to a user at a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace wasinn::bench {

// One line on stderr, which is overwritten and gone at the end. Writes nothing if stderr is no terminal.
class Progress {
 public:
  explicit Progress(size_t steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // The next step begins.
  void Begin(const std::string& step);

 private:
  const bool shown_;
  const size_t steps_;
  size_t done_ = 0;
};

}  // namespace wasinn::bench
