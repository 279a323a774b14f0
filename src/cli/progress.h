// That something takes long, for who waits at a terminal.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace wasinn::cli {

// As long as it lives: after a second, one line on stderr with the seconds so far, which is gone at the end. Nothing where stderr is no
// terminal.
class Progress {
 public:
  explicit Progress(const std::string& what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void Show();

  const std::string what_;
  std::mutex mutex_;  // of `over_`
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace wasinn::cli
