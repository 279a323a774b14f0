#include "core/isolation/backoffs.h"

#include <algorithm>

namespace wasinn::isolation {
namespace {

// Adds a death. True if there were so many within the time.
bool AddTo(std::deque<Backoffs::Time>& deaths, Backoffs::Time now, size_t most) {
  deaths.push_back(now);
  while (now - deaths.front() > Backoffs::kWithin) deaths.pop_front();
  return deaths.size() >= most;
}

}  // namespace

void Backoffs::Backoff::Add(Time now, size_t most_in_a_row, bool is_alone) {
  const bool is_in_a_row = AddTo(deaths, now, most_in_a_row);
  const bool is_often = is_alone && AddTo(deaths_alone, now, kMaxDeathsAlone);
  if (!is_in_a_row && !is_often) return;
  deaths.clear();
  deaths_alone.clear();
  length = length.count() == 0 ? kFirst : std::min(length * 2, kLongest);
  until = now + length;
}

void Backoffs::AddDeath(std::span<const uint64_t> guests, Time now) {
  if (guests.empty()) of_all_.Add(now, kMaxDeaths, false);
  if (of_guests_.size() > 64) Forget(now);
  for (const uint64_t guest : guests) of_guests_[guest].Add(now, most_in_a_row_, guests.size() == 1);
}

void Backoffs::Clear(uint64_t guest) {
  const auto found = of_guests_.find(guest);
  if (found != of_guests_.end()) found->second.deaths.clear();
}

// Forgets guests that have lost no worker for longer than the longest backoff.
void Backoffs::Forget(Time now) {
  std::erase_if(of_guests_, [now](const auto& one) {
    const Backoff& backoff = one.second;
    const bool is_quiet = backoff.deaths.empty() || now - backoff.deaths.back() > kLongest;
    return is_quiet && now - backoff.until > kLongest;
  });
}

std::optional<std::chrono::milliseconds> Backoffs::Left(uint64_t guest, Time now) const {
  const auto found = of_guests_.find(guest);
  if (guest != 0 && found == of_guests_.end()) return {};
  const Backoff& backoff = guest == 0 ? of_all_ : found->second;
  if (now >= backoff.until) return {};
  return std::chrono::duration_cast<std::chrono::milliseconds>(backoff.until - now);
}

}  // namespace wasinn::isolation
