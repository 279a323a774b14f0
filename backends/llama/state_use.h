// The state that the evaluation of a text begins with, and the one that it saves.
#pragma once

#include <span>
#include <string>

#include "llama/sequence.h"
#include "llama/settings.h"
#include "llama/state.h"

namespace wasinn::llama {

class Model;

// Used by one thread at a time.
class StateUse {
 public:
  // Erases the state that the settings name. `media`: of the tokens. `states`: the guest's. `account`: pays for the
  // saved state. Throws WASINN_ERROR_NOT_FOUND for an unknown state.
  StateUse(const Model& model, const Settings& settings, const Sequence& sequence, std::span<const llama_token> tokens,
           std::span<const MediaSpan> media, GuestStates* states, void* account);

  // The guest's state, or the host's for all guests, whichever has more of the tokens; or NULL.
  const State* state() const { return state_.get(); }
  bool saves() const { return !save_as_.empty(); }
  // Saves the tokens of `sequence`, if the settings ask for it.
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
