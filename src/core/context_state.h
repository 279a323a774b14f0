// What a context has computed, and whether a generation is under way.
#pragma once

#include <cstdint>

#include "core/context_slot.h"

namespace wasinn::core {

class ContextState {
 public:
  explicit ContextState(const ContextSlot& slot) : slot_(slot) {}

  // Of a successful compute, or of a generation so far.
  bool has_outputs() const { return at_ != kNothing; }
  bool generates() const { return at_ == kPiece || at_ == kNoPiece; }
  bool has_piece() const { return at_ == kPiece; }
  // The outputs are those of a generation, under way or ended.
  bool has_generated() const { return at_ >= kPiece; }

  // The outputs are gone. No generation is under way.
  void Clear() { at_ = kNothing; }
  void SetComputed() { at_ = kComputed; }
  // However it ends, the last piece is gone; the outputs, too, but for those of a generation that is under way.
  void BeginStep() { at_ = generates() ? kNoPiece : kNothing; }
  void SetStepped(bool piece) { at_ = piece ? kPiece : kNoPiece; }

  // The backend's own end comes with the next compute, step or input as well; this lets go of what it holds for it. The
  // outputs stay.
  void EndGeneration() {
    if (!generates()) return;
    at_ = kGenerated;
    if (wasinn_error* error = slot_.table().finish(slot_.get())) error->release(error);
  }

 private:
  enum State : uint8_t {
    kNothing,
    kComputed,
    kPiece,    // a generation is under way, and its last step made a piece
    kNoPiece,  // … made none: it has come to an end
    kGenerated
  };
  const ContextSlot& slot_;
  State at_ = kNothing;
};

}  // namespace wasinn::core
