// Evaluated texts, kept under names.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "common/reservation.h"
#include "llama/cache_settings.h"
#include "llama/llama_library.h"
#include "llama/media_span.h"

namespace wasinn::llama {

class Model;

// The length of the common beginning.
inline size_t CommonBeginning(std::span<const llama_token> a, std::span<const llama_token> b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

// The tokens of one sequence in a llama context. Not all of them may be kept for another text: after a shift, later
// values no longer match their tokens, and some memories cannot go back.
struct Held {
  std::vector<llama_token> tokens;
  std::vector<MediaSpan> media;  // of these tokens; the last one may be incomplete
  size_t exact = SIZE_MAX;       // the first tokens that are as if just evaluated
  size_t least = 0;              // the fewest tokens that a cut may leave, except none

  // The wanted tokens that it has, except the last, which must be evaluated for its logits. Images count only as a
  // whole. `media`: of the wanted tokens.
  size_t Usable(std::span<const llama_token> wanted, std::span<const MediaSpan> media = {}) const;
  // Adds tokens; `media`: of the whole text.
  void Add(std::span<const llama_token> more, std::span<const MediaSpan> media);
  // The position after the first `n` tokens. Some images take fewer positions than tokens.
  llama_pos Position(size_t n) const;
  // Records that the memory has only the first `n`.
  void Cut(size_t n);
  // Records that tokens from `kept` to `kept + discarded` are gone, and later ones moved there.
  void Shift(size_t kept, size_t discarded);
};

// The kind of llama context that a state fits.
struct StateKind {
  bool is_shared = false;
  CacheSettings cache;
  std::map<std::string, float> adapters;

  bool operator==(const StateKind&) const = default;
};

struct State {
  backend::Reservation reservation;  // destroyed after the bytes
  StateKind kind;
  Held held;
  std::vector<uint8_t> bytes;
};
using StatePtr = std::shared_ptr<const State>;

// Copies the sequence of a context, which has `state->held`, to `state->bytes`, and charges them to its reservation
// first. Throws WASINN_ERROR_TOO_LARGE.
void SaveSequence(const Model& model, llama_context* context, llama_seq_id sequence, State* state);
// False: there is no room, and the sequence is empty.
bool LoadSequence(const LlamaLibrary& library, llama_context* context, llama_seq_id sequence, const State& state);

// The states of one guest, by name. Thread-safe.
class GuestStates {
 public:
  // Throws WASINN_ERROR_NOT_FOUND, which does not reveal states of other guests.
  StatePtr Find(const std::string& name) const;
  // Throws WASINN_ERROR_TOO_LARGE for too many names.
  void CheckRoom(const std::string& name) const;
  // Replaces a state of that name.
  void Put(const std::string& name, StatePtr state);
  void Erase(const std::string& name);

  struct Entry {
    std::string name;
    size_t tokens = 0, bytes = 0;
  };
  std::vector<Entry> List() const;

 private:
  void CheckRoomLocked(const std::string& name) const;

  mutable std::mutex mutex_;
  std::map<std::string, StatePtr> states_;
};

// The states of all guests of one model. They live as long as a context of the guest. Thread-safe.
class States {
 public:
  // `guest`: its account; NULL: a guest of its own.
  std::shared_ptr<GuestStates> Of(const void* guest);

 private:
  std::mutex mutex_;
  std::map<const void*, std::weak_ptr<GuestStates>> guests_;
};

}  // namespace wasinn::llama
