#include "serve/routes/services.h"

#include <algorithm>
#include <exception>
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

// A request's, which gives it back.
struct Services::Use {
  Services& services;
  OnePtr one;
  bool has_left = false;
  ~Use() { services.Give(std::move(one), has_left); }
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
  auto one = std::make_shared<One>(runs_, call);
  MakeRoom();
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
    Use use{*this, std::move(one)};
    std::optional<engines::Exit> exit;
    {
      const Cancellation::Stop stop(call.guest.cancellation, [&use, this] { use.has_left = Leave(*use.one); });
      exit = use.one->service->Answer(exchange);
    }
    if (!exit) continue;
    use.one->held.Report(call.guest, *exit);
    return *std::move(exit);
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

void Services::Give(OnePtr one, bool has_left) noexcept {
  Some over;
  {
    const std::lock_guard lock(mutex_);
    if (!has_left && --one->n_wanted == 0 && one->is_leaving) one->held.guest().Stop();
    if (--one->n_running > 0) return;
    if (one->is_leaving || one->n_taken == one->most || one->service->has_ended()) {
      std::erase(all_, one);  // it ends after the lock
      return;
    }
    one->waits_since = Clock::now();
    if (std::cmp_greater(std::ranges::count_if(all_, &One::Waits), most_)) over = TakeOldest();
  }
  End(std::move(over));
}

Services::Some Services::TakeOldest() noexcept {
  auto oldest = all_.end();
  for (auto one = all_.begin(); one != all_.end(); ++one) {
    if ((*one)->Waits() && (oldest == all_.end() || (*one)->waits_since < (*oldest)->waits_since)) oldest = one;
  }
  Some taken;
  if (oldest != all_.end()) taken.splice(taken.end(), all_, oldest);
  return taken;
}

void Services::MakeRoom() {
  for (bool is_full = pool_ > 0; is_full && runs_.memories() > pool_;) {
    Some oldest;
    const std::lock_guard lock(mutex_);
    oldest = TakeOldest();
    is_full = !oldest.empty();
  }
}

void Services::Sweep() {
  Some over;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    for (auto next = all_.begin(); next != all_.end();) {
      const auto one = next++;
      if ((*one)->Waits() && now - (*one)->waits_since >= (*one)->idle) over.splice(over.end(), all_, one);
    }
  }
  End(std::move(over));
}

// If no worker takes them, they wait on.
void Services::End(Some over) noexcept {
  if (over.empty()) return;
  try {
    const auto ended = std::make_shared<Some>(std::move(over));
    const auto keep = [this, ended] {
      const std::lock_guard lock(mutex_);
      all_.splice(all_.end(), *ended);
    };
    const bool begun = workers_.Begin(
        {.run = [ended] { ended->clear(); }, .refuse = [keep](const Failure&) { keep(); }, .share = &share_});
    if (!begun) keep();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): without memory they end here
  }
}

}  // namespace wasinn::serve
