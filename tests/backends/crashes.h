// Models that must not end the process that loads and runs them: each is tried in a child process.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace wasinn::test {

class Crashes {
 public:
  // `run` loads and runs the model of these bytes. It may be refused.
  explicit Crashes(std::function<void(const std::string& bytes)> run) : run_(std::move(run)) {}

  void Try(const std::string& name, const std::string& bytes);
  // Fails the test for each that ended by a signal, or by an exception.
  void ExpectNone() const;

 private:
  // 0: it went well; else the signal that ended the child.
  int SignalOf(const std::string& bytes) const;

  const std::function<void(const std::string& bytes)> run_;
  int tried_ = 0;
  std::map<int, std::vector<std::string>> names_;  // by signal
};

}  // namespace wasinn::test
