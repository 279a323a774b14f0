// What was evaluated of a text, kept for later by name.
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

// The length of what both begin with.
inline size_t CommonBeginning(std::span<const llama_token> a, std::span<const llama_token> b) {
  size_t n = 0;
  while (n < a.size() && n < b.size() && a[n] == b[n]) ++n;
  return n;
}

// The tokens that a llama context holds of one sequence. Not all that is held may be kept for another text: behind what
// was discarded by a shift the numbers are no longer those of the tokens that are left, and some memories cannot go
// back.
struct Held {
  std::vector<llama_token> tokens;
  std::vector<MediaSpan> media;  // of these tokens; the last one may be held in part
  size_t exact = SIZE_MAX;       // so many from the beginning are as if they had just been evaluated
  size_t least = 0;              // it can be cut to no fewer, but for none

  // How many of these it has, but for the last one, which must be evaluated for what follows it. Of an image it has all
  // or nothing. `media`: of what is wanted.
  size_t Usable(std::span<const llama_token> wanted, std::span<const MediaSpan> media = {}) const;
  // More of them; `media`: of the whole text.
  void Add(std::span<const llama_token> more, std::span<const MediaSpan> media);
  // Of the token behind the first `n`. Some images take fewer positions than tokens.
  llama_pos Position(size_t n) const;
  // The memory has only the first `n`.
  void Cut(size_t n);
  // The memory has none of those from `kept` to `kept + discarded`; what is behind has moved there.
  void Shift(size_t kept, size_t discarded);
};

// What a state can be restored to: a llama context of the same kind.
struct StateKind {
  bool is_shared = false;
  CacheSettings cache;
  std::map<std::string, float> adapters;

  bool operator==(const StateKind&) const = default;
};

struct State {
  backend::Reservation reservation;  // goes after the bytes
  StateKind kind;
  Held held;
  std::vector<uint8_t> bytes;
};
using StatePtr = std::shared_ptr<const State>;

// Copies sequence `sequence` of a context, which has `state->held`, to `state->bytes`. Charges them to its reservation
// first. Throws WASINN_ERROR_TOO_LARGE.
void SaveSequence(const Model& model, llama_context* context, llama_seq_id sequence, State* state);
// False: there is no room, and the sequence is empty.
bool LoadSequence(const LlamaLibrary& library, llama_context* context, llama_seq_id sequence, const State& state);

// The states of one guest, by name. Any thread.
class GuestStates {
 public:
  // Throws WASINN_ERROR_NOT_FOUND: whether another guest has such a state is not told.
  StatePtr Find(const std::string& name) const;
  // Throws WASINN_ERROR_TOO_LARGE where there are too many names.
  void CheckRoom(const std::string& name) const;
  // Instead of one of that name.
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

// Those of all guests of one model. They live as long as one of the guest's contexts does. Any thread.
class States {
 public:
  // `guest`: its account; NULL: one by itself.
  std::shared_ptr<GuestStates> Of(const void* guest);

 private:
  std::mutex mutex_;
  std::map<const void*, std::weak_ptr<GuestStates>> guests_;
};

}  // namespace wasinn::llama
