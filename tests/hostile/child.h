// A command that a test talks to while it runs, and whose use of memory it learns.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace wasinn::testing {

class Child {
 public:
  // As RunCommand, but stdin is a pipe.
  Child(const std::vector<std::string>& argv, const std::vector<std::string>& environment);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // Writes a line to its stdin.
  void Say(const std::string& line);
  // No more lines will come.
  void CloseInput();
  // Reads from its stdout up to and with a line that is `last`. False if it ends or 100 s pass before.
  bool ReadUntil(const std::string& last);
  void Kill(int signal) const;
  // Returns when it has worked for so long from now on: CPU time of all its threads.
  void WaitForWork(std::chrono::milliseconds cpu_time) const;
  // Waits until it has ended; after `most` it is killed. 128 + signal if a signal ended it.
  int Wait(std::chrono::seconds most);

  // Everything that it printed so far; complete after Wait.
  const std::string& out() const { return out_; }
  std::string err() const;
  // The most memory that it ever had resident; after Wait.
  size_t peak_bytes() const { return peak_bytes_; }

 private:
  bool ReadSome(std::chrono::milliseconds most);

  pid_t pid_ = -1;
  int input_ = -1, output_ = -1, error_file_ = -1;
  int exit_code_ = -1;
  size_t peak_bytes_ = 0;
  std::string out_;
};

}  // namespace wasinn::testing
