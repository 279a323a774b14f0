// With which state the evaluation of a text begins, and which it leaves.
#pragma once

#include <span>
#include <string>

#include "llama/sequence.h"
#include "llama/settings.h"
#include "llama/state.h"

namespace wasinn::llama {

class Model;

// One thread at a time.
class StateUse {
 public:
  // Forgets the state that the settings say. `media`: of the tokens. `states`: the guest's. `account`: who pays for what is saved. Throws
  // WASINN_ERROR_NOT_FOUND for a state that is none of them.
  StateUse(const Model& model, const Settings& settings, const Sequence& sequence, std::span<const llama_token> tokens,
           std::span<const MediaSpan> media, GuestStates* states, void* account);

  // To begin with: the guest's, or the host's for all, whichever has more of the tokens; or NULL.
  const State* state() const { return state_.get(); }
  bool saves() const { return !save_as_.empty(); }
  // What `sequence` holds, if the settings say so.
  void Save(Sequence* sequence) const;

 private:
  StatePtr Find(const Settings& settings, const Sequence& sequence, std::span<const llama_token> tokens,
                std::span<const MediaSpan> media) const;
  StatePtr FindOwn(const Settings& settings, const Sequence& sequence) const;

  const Model& model_;
  void* const account_;
  GuestStates* const states_;
  const std::string save_as_;
  const StatePtr state_;
};

}  // namespace wasinn::llama
