// Models that must not end the process that loads and runs them: each is tried in a child process.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace wasinn::test {

class Crashes {
 public:
  // Loads and runs the model of these bytes, which may be refused. True if it was loaded.
  using Run = std::function<bool(const std::string& bytes)>;
  struct Named {
    std::string name, bytes;
  };

  explicit Crashes(Run run) : run_(std::move(run)) {}

  // In a child of its own.
  void Try(const std::string& name, const std::string& bytes);
  // All in one child, as long as none ends it; then another child goes on behind that. `start` is called in each before
  // its first model: for frameworks that take long to open.
  void TryAll(const std::vector<Named>& models, const std::function<void()>& start);
  // Fails the test for each that ended by a signal, or by an exception.
  void ExpectNone() const;

  // Of all that were tried.
  size_t tried() const { return tried_; }
  size_t loaded() const { return loaded_; }

 private:
  struct Progress;
  // 0: it went well; else the signal that ended the child.
  static int EndOf(const std::function<void()>& work);

  const Run run_;
  size_t tried_ = 0, loaded_ = 0;
  std::map<int, std::vector<std::string>> names_;  // by signal
};

}  // namespace wasinn::test
