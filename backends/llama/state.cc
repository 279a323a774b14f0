#include "llama/state.h"

#include <algorithm>
#include <iterator>

#include "common/throw.h"
#include "llama/model.h"

namespace wasinn::llama {

using backend::Throw;

namespace {

constexpr size_t kMaxStates = 64;

}  // namespace

size_t Held::Usable(std::span<const llama_token> wanted, std::span<const MediaSpan> wanted_media) const {
  if (wanted.empty()) return 0;
  size_t usable = std::min({CommonBeginning(tokens, wanted), wanted.size() - 1, exact});
  // Up to the first media that only one of both has, or that is not complete.
  for (size_t i = 0; i < std::max(media.size(), wanted_media.size()); ++i) {
    const MediaSpan* const mine = i < media.size() ? &media[i] : nullptr;
    const MediaSpan* const other = i < wanted_media.size() ? &wanted_media[i] : nullptr;
    if (mine != nullptr && other != nullptr && *mine == *other && mine->end() <= usable) continue;
    for (const MediaSpan* span : {mine, other}) {
      if (span != nullptr) usable = std::min(usable, span->begin);
    }
    break;
  }
  return usable < least ? 0 : usable;
}

void Held::Add(std::span<const llama_token> more, std::span<const MediaSpan> of_text) {
  const size_t end = tokens.size() + more.size();
  std::ranges::copy_if(of_text, std::back_inserter(media),
                       [&](const MediaSpan& span) { return span.begin >= tokens.size() && span.begin < end; });
  tokens.insert(tokens.end(), more.begin(), more.end());
}

llama_pos Held::Position(size_t n) const {
  size_t position = n;
  for (const MediaSpan& span : media) {
    if (span.end() <= n) position = position - span.count + span.positions;
  }
  return static_cast<llama_pos>(position);
}

void Held::Cut(size_t n) {
  tokens.resize(std::min(n, tokens.size()));
  std::erase_if(media, [n](const MediaSpan& span) { return span.begin >= n; });
  if (n <= exact) exact = SIZE_MAX;
  if (n == 0) least = 0;
}

void Held::Shift(size_t kept, size_t discarded) {
  const auto from = tokens.begin() + static_cast<ptrdiff_t>(kept);
  tokens.erase(from, from + static_cast<ptrdiff_t>(discarded));
  exact = std::min(exact, kept);
}

void SaveSequence(const Model& model, llama_context* context, llama_seq_id sequence, State* state) {
  const LlamaLibrary& library = model.host().library();
  const size_t bytes = library.state_seq_get_size(context, sequence);
  state->reservation.Resize(bytes + state->held.tokens.size() * sizeof(llama_token) +
                            state->held.media.size() * sizeof(MediaSpan));
  state->bytes.resize(bytes);
  if (bytes == 0 || library.state_seq_get_data(context, state->bytes.data(), bytes, sequence) != bytes) {
    Throw(WASINN_ERROR_RUNTIME, "save-state: llama.cpp cannot save its state");
  }
  // Memories with a window save no more than that, and recurrent ones have one state for all tokens.
  const size_t tokens = state->held.tokens.size();
  if (model.recurrent() || (model.window() > 0 && tokens > model.window())) state->held.least = tokens;
}

bool LoadSequence(const LlamaLibrary& library, llama_context* context, llama_seq_id sequence, const State& state) {
  const llama_memory_t memory = library.get_memory(context);
  library.memory_seq_rm(memory, sequence, -1, -1);
  if (library.state_seq_set_data(context, state.bytes.data(), state.bytes.size(), sequence) == state.bytes.size()) {
    return true;
  }
  library.memory_seq_rm(memory, sequence, -1, -1);
  return false;
}

StatePtr GuestStates::Find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = states_.find(name);
  if (found != states_.end()) return found->second;
  Throw(WASINN_ERROR_NOT_FOUND, "restore-state: this guest has no state '{}' for this model", name);
}

void GuestStates::CheckRoomLocked(const std::string& name) const {
  if (states_.size() < kMaxStates || states_.contains(name)) return;
  Throw(WASINN_ERROR_TOO_LARGE, "save-state: a guest can have at most {} states for a model", kMaxStates);
}

void GuestStates::CheckRoom(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  CheckRoomLocked(name);
}

void GuestStates::Put(const std::string& name, StatePtr state) {
  const std::lock_guard lock(mutex_);
  CheckRoomLocked(name);
  states_[name].swap(state);
}

void GuestStates::Erase(const std::string& name) {
  const std::lock_guard lock(mutex_);
  states_.erase(name);
}

std::vector<GuestStates::Entry> GuestStates::List() const {
  const std::lock_guard lock(mutex_);
  std::vector<Entry> entries;
  for (const auto& [name, state] : states_) {
    entries.push_back({.name = name, .tokens = state->held.tokens.size(), .bytes = state->bytes.size()});
  }
  return entries;
}

std::shared_ptr<GuestStates> States::Of(const void* guest) {
  if (guest == nullptr) return std::make_shared<GuestStates>();
  const std::lock_guard lock(mutex_);
  std::erase_if(guests_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<GuestStates>& slot = guests_[guest];
  std::shared_ptr<GuestStates> states = slot.lock();
  if (states == nullptr) slot = states = std::make_shared<GuestStates>();
  return states;
}

}  // namespace wasinn::llama
