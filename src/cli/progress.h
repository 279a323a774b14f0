// Shows on a terminal that an operation takes long.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace wasinn::cli {

// During its life: after a second, one line on stderr with the seconds so far, which is removed at the end. Nothing if
// stderr is no terminal.
class Progress {
 public:
  explicit Progress(const std::string& what);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

 private:
  void Show();

  const std::string what_;
  std::mutex mutex_;  // for `over_`
  std::condition_variable changed_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace wasinn::cli
