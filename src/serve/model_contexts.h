// The execution contexts of one model for one tenant: made when they are needed, kept for the next inference.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "serve/inference.h"
#include "serve/wit_calls.h"

namespace wasinn::serve {

// Any thread. The guest outlives it.
class ModelContexts {
 public:
  ModelContexts(wasinn_guest* guest, std::string name) : guest_(guest), name_(std::move(name)) {}
  ~ModelContexts();
  ModelContexts(const ModelContexts&) = delete;
  ModelContexts& operator=(const ModelContexts&) = delete;

  // One that nobody else has, and in which nothing is left of an earlier inference. Whoever takes it gives it back, or drops it
  // where it may not be what it was.
  Outcome<uint32_t> Take();
  void GiveBack(uint32_t context);
  void Drop(uint32_t context);

 private:
  Outcome<uint32_t> Make();
  Outcome<uint32_t> Load();
  bool KeepsNothing(uint32_t graph);

  wasinn_guest* const guest_;
  const std::string name_;  // "digits", "digits:2"
  std::mutex loading_;
  std::mutex mutex_;  // of what follows
  std::optional<uint32_t> graph_;
  bool reuse_ = false;
  std::vector<uint32_t> resting_;
};

}  // namespace wasinn::serve
