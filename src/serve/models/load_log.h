// What the operator's log says of models that do not load.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "serve/oip/inference.h"

namespace wasinn::serve {

// Any thread.
class LoadLog {
 public:
  // Of each model it tells so many reasons, each once: a client that asks again and again does not fill the log.
  static constexpr size_t kMostReasons = 16;

  // `name`: "digits:2".
  void Tell(const std::string& name, const std::string& why);
  // It has loaded, or is another one now: what fails later is told again.
  void Forget(const std::string& name);

 private:
  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> told_;  // by model
};

// What a client is told of a model that does not load.
Failure OfLoad(Failure why);

}  // namespace wasinn::serve
