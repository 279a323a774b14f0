// The operator's log of models that do not load.
#pragma once

#include <map>
#include <mutex>
#include <set>
#include <string>

#include "serve/oip/inference.h"

namespace wasinn::serve {

// Thread-safe.
class LoadLog {
 public:
  // For each model it logs this many reasons, each once: clients that ask again and again do not fill the log.
  static constexpr size_t kMostReasons = 16;

  // `name`: "digits:2".
  void Tell(const std::string& name, const std::string& why);
  // It has loaded, or is another one now: later failures are logged again.
  void Forget(const std::string& name);

 private:
  std::mutex mutex_;
  std::map<std::string, std::set<std::string>> told_;  // by model
};

// A client's error for a model that does not load.
Failure OfLoad(Failure why);

}  // namespace wasinn::serve
