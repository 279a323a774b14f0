// How far a measurement is, for who waits at a terminal.
#pragma once

#include <cstddef>
#include <string>

namespace wasinn::bench {

// One line on stderr, written over and over, and gone at the end; nothing where stderr is no terminal.
class Progress {
 public:
  explicit Progress(size_t steps);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Another step begins.
  void Begin(const std::string& step);

 private:
  const bool shown_;
  const size_t steps_;
  size_t done_ = 0;
};

}  // namespace wasinn::bench
