#include "core/inference/scheduler.h"

#include <utility>

namespace wasinn::core {

Scheduler::~Scheduler() {
  for (Cell* cell = cells_; cell != nullptr;) delete std::exchange(cell, cell->next);
}

// The turns for which a function of account and model returns true.
template <typename Counted>
size_t Scheduler::Count(Counted counted) const {
  auto count = static_cast<size_t>(
      std::ranges::count_if(listed_, [&](const Held& held) { return counted(held.account, held.model); }));
  for (const Cell* cell = cells_; cell != nullptr; cell = cell->next) {
    if (const void* const account = cell->account) count += counted(account, cell->model) ? 1 : 0;
  }
  return count;
}

size_t Scheduler::running() const {
  const std::lock_guard lock(mutex_);
  return Count([](const void* account, const void*) { return account != nullptr; });
}

Scheduler::Cell* Scheduler::TakeOtherCell(const void* account, const void* model, Waiter& waiter) {
  for (Cell* cell = cells_; cell != nullptr; cell = cell->next) {
    if (!cell->Take(account, model)) continue;
    waiter.last_ = {cell, waiter.last_[0]};
    return cell;
  }
  return nullptr;
}

// Turns within the limit that no cell holds.
size_t Scheduler::Above() const {
  return listed_.size() - static_cast<size_t>(std::ranges::count(listed_, nullptr, &Held::account));
}

bool Scheduler::IsWithinLimit() const {
  if (Above() < most_ - of_one_) return true;
  for (const Cell* cell = cells_; cell != nullptr; cell = cell->next) {
    if (cell->account == nullptr) return true;
  }
  return false;
}

Scheduler::Room Scheduler::RoomFor(const void* model) const {
  const bool is_idle = model != nullptr && Count([&](const void*, const void* its) { return its == model; }) == 0;
  return {.within_limit = IsWithinLimit(), .idle = is_idle ? model : nullptr};
}

// If an account could have more turns than the cells allow, or a thread waits, no turn is taken without the lock.
void Scheduler::SetLocked() { locked_ = n_waiting_ + Above(); }

Scheduler::Held Scheduler::Wait(const Share& share, Waiter& waiter, const void* model) {
  BeginWait(share, waiter, model, nullptr);
  waiter.state_.wait(Waiter::kWaiting, std::memory_order_acquire);
  return EndWait(waiter);
}

void Scheduler::BeginWait(const Share& share, Waiter& waiter, const void* model, const Notify* notify) {
  const std::lock_guard lock(mutex_);
  // Nothing is allocated later.
  listed_.reserve(listed_.size() + n_waiting_ + 1);
  if (made_ < of_one_) {
    cells_ = new Cell(*this, cells_);
    ++made_;
  }
  waiter.share_ = &share;
  waiter.model_ = model;
  waiter.notify_.store(notify, std::memory_order_relaxed);
  waiter.held_ = {};
  std::list<Waiter*> one{&waiter};
  waiter.place_ = one.begin();
  waiter.line_ = LineOf(share, model);
  ++waiter.line_->models.at(model);
  waiter.line_->waiters.splice(waiter.line_->waiters.end(), one);
  ++n_waiting_;
  waiter.state_.store(Waiter::kWaiting, std::memory_order_release);
  // There may be turns: one that was left a moment ago, or those that another account must leave.
  SetLocked();
  GiveTurns(model);
}

Scheduler::Held Scheduler::EndWait(Waiter& waiter) {
  const std::lock_guard lock(mutex_);  // the thread that gave the turn is done with the waiter
  if (waiter.state_.load(std::memory_order_acquire) == Waiter::kTurn) return waiter.held_;
  TakeOut(waiter);
  if (lines_.empty()) order_.Rest();
  SetLocked();
  return {};
}

// Its own, or a new one. Has the model, too. If there is no memory, nothing has changed.
Scheduler::Lines::iterator Scheduler::LineOf(const Share& share, const void* model) {
  Lines made;
  auto line = std::ranges::find(lines_, &share, [](const Line& one) { return &one.share; });
  if (line == lines_.end()) line = made.emplace(made.end(), order_.Arrive(share), share);
  line->models.try_emplace(model);
  if (!made.empty()) lines_.splice(PositionOf(line->place), made);
  return line;
}

Scheduler::Lines::iterator Scheduler::PositionOf(FairOrder::Place place) {
  return std::ranges::find_if(lines_, [&](const Line& line) { return line.place > place; });
}

void Scheduler::TakeOut(const Waiter& waiter) {
  const auto model = waiter.line_->models.find(waiter.model_);
  if (--model->second == 0) waiter.line_->models.erase(model);
  waiter.line_->waiters.erase(waiter.place_);
  if (waiter.line_->waiters.empty()) lines_.erase(waiter.line_);
  --n_waiting_;
}

void Scheduler::HandOver(const void* model) {
  const std::lock_guard lock(mutex_);
  GiveTurns(model);
}

void Scheduler::LeaveListed(const Held& held) {
  const std::lock_guard lock(mutex_);
  listed_.erase(std::ranges::find(listed_, held));  // all equal ones are as good
  SetLocked();
  GiveTurns(held.model);
}

// Gives turns to all threads that may have one, in the order of their places, then of their arrival. Only `model`,
// whose turn was given back or is wanted, can be idle while threads wait for it.
void Scheduler::GiveTurns(const void* model) {
  Room room = RoomFor(model);
  while (room && GiveOne(room)) {
    const void* const full = room.full;
    room = RoomFor(model);
    room.full = full;
  }
}

bool Scheduler::GiveOne(Room& room) {
  for (Line& line : lines_) {
    for (auto waiter = line.waiters.begin(); waiter != line.waiters.end() && HasRoom(line, room); ++waiter) {
      if (TryGive(**waiter, room)) return true;  // the line may be gone
    }
  }
  return false;
}

bool Scheduler::HasRoom(const Line& line, const Room& room) {
  if (room.within_limit && line.share.account() != room.full) return true;
  return room.idle != nullptr && line.models.contains(room.idle);
}

// A turn that the thread may have; one of a cell is taken.
Scheduler::Held Scheduler::TakeFor(Waiter& waiter, Room& room) {
  const void* const account = waiter.share_->account();
  const void* const model = waiter.model_;
  if (room.within_limit && account != room.full) {
    if (Count([&](const void* its, const void*) { return its == account; }) < of_one_) {
      if (Cell* const cell = TakeCell(account, model, waiter)) return {cell, account, model};
      if (Above() < most_ - of_one_) return {nullptr, account, model};
    } else {
      room.full = account;
    }
  }
  if (model == nullptr || model != room.idle) return {};
  return {nullptr, nullptr, model};
}

// False: the thread may have none, or was cancelled.
bool Scheduler::TryGive(Waiter& waiter, Room& room) {
  if (waiter.state_.load(std::memory_order_relaxed) != Waiter::kWaiting) return false;
  const Held held = TakeFor(waiter, room);
  if (!held) return false;
  uint32_t expected = Waiter::kWaiting;
  if (!waiter.state_.compare_exchange_strong(expected, Waiter::kTurn, std::memory_order_acq_rel)) {
    if (held.cell != nullptr) held.cell->Free();
    return false;
  }
  if (held.cell == nullptr) listed_.push_back(held);
  waiter.held_ = held;
  // The guest's other waiters move behind those that come before its next turn.
  const auto line = waiter.line_;
  const FairOrder::Place next = order_.Serve(line->share, line->place);
  if (line->waiters.size() > 1 && next != line->place) {
    lines_.splice(PositionOf(next), lines_, line);
    line->place = next;
  }
  TakeOut(waiter);
  if (lines_.empty()) order_.Rest();
  SetLocked();
  waiter.Wake(true);
  return true;
}

}  // namespace wasinn::core
