#include "serve/routes/services.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace wasinn::serve {

// Its guest is freed last.
struct Services::One {
  One(GuestRuns& runs, const ServiceCall& call)
      : program(&call.program),
        tenant(&call.tenant),
        most(call.reuse.requests),
        idle(call.reuse.idle),
        held(runs, call.guest),
        may_send([&outbound = call.outbound](std::string_view scheme, std::string_view authority) {
          return outbound.Allow(scheme, authority);
        }) {}

  bool Waits() const { return n_running == 0; }
  bool IsOf(const ServiceCall& call) const { return program == &call.program && tenant == &call.tenant; }
  bool MayTake(const Reuse& reuse) const {
    return !is_leaving && n_running < reuse.at_once && n_taken < most && !service->has_ended();
  }

  const engines::Program* const program;
  const Tenant* const tenant;
  const size_t most;
  const std::chrono::milliseconds idle;
  GuestRuns::Held held;
  const engines::HttpPermission may_send;
  std::unique_ptr<engines::Service> service;
  // Guarded by the mutex of Services.
  size_t n_taken = 0, n_running = 0;
  size_t n_wanted = 0;  // of those that run
  bool is_leaving = false;
  Clock::time_point waits_since;
};

// One that waits, or else one that has room. The last one that waited is warm, and the others may end.
Services::OnePtr Services::Find(const ServiceCall& call) {
  const std::lock_guard lock(mutex_);
  OnePtr found;
  for (const OnePtr& one : all_) {
    if (!one->IsOf(call) || !one->MayTake(call.reuse)) continue;
    if (found == nullptr || (one->Waits() && (!found->Waits() || one->waits_since > found->waits_since))) found = one;
  }
  if (found == nullptr) return nullptr;
  ++found->n_taken;
  ++found->n_running;
  ++found->n_wanted;
  return found;
}

engines::Result<Services::OnePtr> Services::Start(const ServiceCall& call, const engines::RunOptions& options) {
  MakeRoom();
  auto one = std::make_shared<One>(runs_, call);
  engines::RunOptions whole = one->held.Complete(call.guest, options, {});
  whole.may_send = call.outbound.empty() ? nullptr : &one->may_send;
  auto service = call.program.Start(whole);
  if (!service) return std::unexpected(service.error());
  one->service = std::move(*service);
  one->n_taken = one->n_running = one->n_wanted = 1;
  const std::lock_guard lock(mutex_);
  all_.push_back(one);
  return one;
}

engines::Exit Services::Answer(const ServiceCall& call, const engines::RunOptions& options,
                               engines::HttpExchange exchange) {
  exchange.until = Clock::now() + std::chrono::milliseconds(call.guest.limits.guest.run_timeout_ms);
  for (;;) {
    OnePtr one = Find(call);
    if (one == nullptr) {
      auto started = Start(call, options);
      if (!started) return engines::Exit::Failed(started.error());
      one = std::move(*started);
    }
    bool has_left = false;
    std::optional<engines::Exit> exit;
    {
      const Cancellation::Stop stop(call.guest.cancellation, [&] { has_left = Leave(*one); });
      exit = one->service->Answer(exchange);
    }
    if (exit) one->held.Report(call.guest, *exit);
    Give(std::move(one), has_left);
    if (exit) return *std::move(exit);
  }
}

// The task of such a request may go on for ever. So the instance gets no more requests, and it ends if nobody waits for
// another answer of it.
bool Services::Leave(One& one) {
  const std::lock_guard lock(mutex_);
  one.is_leaving = true;
  if (--one.n_wanted == 0) one.held.guest().Stop();
  return true;
}

void Services::Give(OnePtr one, bool has_left) {
  OnePtr oldest;  // ends after the lock, as `one` does
  const std::lock_guard lock(mutex_);
  if (!has_left) --one->n_wanted;
  if (--one->n_running > 0) return;
  if (one->is_leaving || one->n_taken == one->most || one->service->has_ended()) {
    std::erase(all_, one);
    return;
  }
  one->waits_since = Clock::now();
  if (std::cmp_greater(std::ranges::count_if(all_, &One::Waits), most_)) oldest = TakeOldest();
}

// NULL: none waits.
Services::OnePtr Services::TakeOldest() {
  OnePtr oldest;
  for (const OnePtr& one : all_) {
    if (one->Waits() && (oldest == nullptr || one->waits_since < oldest->waits_since)) oldest = one;
  }
  std::erase(all_, oldest);
  return oldest;
}

void Services::MakeRoom() {
  if (pool_ == 0 || runs_.size() < pool_) return;
  OnePtr oldest;
  const std::lock_guard lock(mutex_);
  oldest = TakeOldest();
}

void Services::Sweep(Workers& workers) {
  std::vector<OnePtr> over;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    std::erase_if(all_, [&](OnePtr& one) {
      const bool is_over = one->Waits() && now - one->waits_since >= one->idle;
      if (is_over) over.push_back(std::move(one));
      return is_over;
    });
  }
  if (over.empty()) return;
  const auto all = std::make_shared<std::vector<OnePtr>>(std::move(over));
  const auto end = [all] { all->clear(); };
  const bool begun = workers.Begin({.run = end, .refuse = [end](const Failure&) { end(); }, .share = &share_});
  if (!begun) end();
}

}  // namespace wasinn::serve
