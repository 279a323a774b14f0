// An inference call by call, so that each call can be made to fail, and what comes after it be looked at.
#pragma once

#include "support/echo.h"
#include "support/test.h"
#include "support/this_build.h"

namespace wasinn::testing {

// `isolated`: models that guests load run in workers. It logs, as hosts do, but nothing that the log needs can fail.
HostPtr HostOfFaults(bool isolated, const std::string& toml = "", const std::string& worker = WorkerFile());

// The guest has nothing when it begins, and nothing when all steps have worked.
class Inference {
 public:
  struct Step {
    std::string name;
    std::function<void()> prepare;  // what the call needs
    std::function<void()> call;     // nothing but that
    std::function<bool()> settle;   // whether it worked; what it gave is kept
  };
  virtual ~Inference() = default;

  const std::vector<Step>& steps() const { return steps_; }
  bool Do(size_t step) const;
  // All, until one fails. Whether none did.
  bool DoAll() const;
  // All steps from this one on; returns the first that fails.
  void DoFrom(size_t first) const;

 protected:
  Inference() = default;
  std::vector<Step> steps_;
};

// The calls of a core module, and of a component. The model has two inputs, x and y; one that generates says its first
// again, whatever the output.
enum class Interface : uint8_t { kWitx, kWit };
struct Course {
  const char* name;
  Interface interface;
  const char* model;   // directives
  bool named = false;  // loaded by the name "named"
  bool generates = false;
  bool selects = false;  // some of its outputs
  // By the name "named" goes a pipeline of two of this model, whose outputs are "u" and "v".
  bool pipeline = false;
  // By that name goes the model with batches. Rows that do not go together: each inference is computed by itself.
  bool batched = false;
  const char* output() const { return pipeline ? "v" : "y"; }
};
std::unique_ptr<Inference> Begin(const Course& course, wasinn_guest* guest);

// Once more, by the same guest. A worker that was lost after its last answer is found to be lost by the next call: so
// after an inference that `worked` this one may fail, too, but not the next.
void InferAgain(const Course& course, wasinn_guest* guest, bool worked);

// Handles of a guest, and what is charged to it.
void ExpectNothingHeld(const GuestPtr& guest);

}  // namespace wasinn::testing
