#include "bench/soak/crowd.h"

#include <memory>
#include <thread>
#include <utility>

namespace wasinn::soak {
namespace {

Held HeldBy(const wasinn_guest* guest) {
  wasinn_statistics stats{};
  stats.struct_size = sizeof(stats);
  const Status filled(wasinn_guest_statistics(guest, &stats));
  return {.guests = 1,
          .handles = uint64_t{stats.graphs} + stats.contexts + stats.tensors + stats.error_objects,
          .bytes = stats.model_bytes + stats.tensor_bytes};
}

}  // namespace

// A thread, which is one guest after the other.
struct Crowd::Member {
  size_t model = 0;
  bool in_worker = false;
  std::mt19937_64 random;
};

class Crowd::Living {
 public:
  Living(Crowd& crowd, wasinn_guest* guest) : crowd_(crowd), guest_(guest) {
    crowd_.counts_.guests.fetch_add(1);
    const std::lock_guard lock(crowd_.mutex_);
    crowd_.living_.insert(guest_);
  }
  ~Living() {
    const std::lock_guard lock(crowd_.mutex_);
    crowd_.living_.erase(guest_);
  }
  Living(const Living&) = delete;
  Living& operator=(const Living&) = delete;

 private:
  Crowd& crowd_;
  wasinn_guest* const guest_;
};

Crowd::Crowd(const Host& host, const std::vector<Model>& models, Options options)
    : host_(host),
      models_(models),
      options_(std::move(options)),
      right_(models.size()),
      left_(models.size()),
      kills_(options_.seed) {}

// Each model gets its share, and the first one also gets the rest.
void Crowd::Run(uint64_t inferences) {
  for (const bool in_worker : {false, true}) {
    const uint64_t all = in_worker ? inferences - inferences / 2 : inferences / 2;
    uint64_t shares = 0, given = 0;
    for (const Model& model : models_) shares += model.share(in_worker);
    if (shares == 0) return;
    for (size_t i = models_.size(); i-- > 0;) {
      const uint64_t part = i == 0 ? all - given : all * models_[i].share(in_worker) / shares;
      left_[i][in_worker] = static_cast<int64_t>(part);
      given += part;
    }
  }
  ++rounds_;
  std::vector<std::jthread> threads;
  threads.reserve(options_.guests);
  for (uint32_t i = 0; i < options_.guests; ++i) threads.emplace_back([this, i] { Live(i); });
}

bool Crowd::IsLeft(const Member& member) const { return left_[member.model][member.in_worker] > 0; }

bool Crowd::TakeOne(const Member& member) { return left_[member.model][member.in_worker].fetch_sub(1) > 0; }

Held Crowd::held() const {
  const std::lock_guard lock(mutex_);
  Held all;
  for (const wasinn_guest* guest : living_) {
    const Held one = HeldBy(guest);
    all = {all.guests + one.guests, all.handles + one.handles, all.bytes + one.bytes};
  }
  return all;
}

std::string Crowd::first_failure() const {
  const std::lock_guard lock(mutex_);
  return first_failure_;
}

void Crowd::Fail(const std::string& what) {
  counts_.failed.fetch_add(1);
  for (auto& left : left_) left[0] = left[1] = 0;
  const std::lock_guard lock(mutex_);
  if (first_failure_.empty()) first_failure_ = what;
}

void Crowd::Live(uint32_t number) {
  const bool in_worker = number % 2 == 1;
  const size_t turn = number / 2;
  Member member{.model = turn % models_.size(), .in_worker = in_worker, .random{}};
  if (in_worker && turn >= models_.size() && models_[member.model].is_slow_to_start()) member.model = 0;
  member.random.seed(options_.seed + 1000 * rounds_ + number);
  try {
    while (IsLeft(member)) BeGuest(member);
  } catch (const std::exception& error) {
    Fail(models_[member.model].backend() + (in_worker ? " in a worker: " : ": ") + error.what());
  }
}

void Crowd::BeGuest(Member& member) {
  Result<Guest> guest = Guest::Create(host_);
  if (!guest) throw Failed(guest.status().message());
  const Living living(*this, guest->get());
  const std::unique_ptr<Inferer> inferer =
      member.random() % 2 == 0 ? AsModule(guest->get()) : AsComponent(guest->get());
  try {
    for (uint64_t loads = 1 + member.random() % 3; loads > 0 && IsLeft(member); --loads) {
      LoadAndInfer(member, *inferer);
    }
  } catch (const Failed& error) {
    if (!member.in_worker || !error.is_lost()) throw;
    counts_.lost.fetch_add(1);
  }
  inferer->Unload();
  const Held kept = HeldBy(guest->get());
  counts_.kept_handles.fetch_add(kept.handles);
  counts_.kept_bytes.fetch_add(kept.bytes);
}

void Crowd::LoadAndInfer(Member& member, Inferer& inferer) {
  const Model& model = models_[member.model];
  inferer.Load(model, member.in_worker ? std::nullopt : std::optional(model.backend()));
  counts_.loads.fetch_add(1);
  constexpr uint64_t kFew = 50, kMore = 400;
  for (uint64_t inferences = kFew + member.random() % kMore; inferences > 0 && TakeOne(member); --inferences) {
    InferOnce(member, inferer);
  }
}

void Crowd::InferOnce(Member& member, Inferer& inferer) {
  const Question question = models_[member.model].Ask(member.random);
  if (IsRight(question, inferer.Infer(question))) {
    counts_.right.fetch_add(1);
    right_[member.model][member.in_worker].fetch_add(1);
  } else {
    counts_.wrong.fetch_add(1);
  }
  if (member.in_worker) AfterOneInWorker();
}

void Crowd::AfterOneInWorker() {
  const uint64_t done = in_workers_.fetch_add(1) + 1;
  if (options_.kill_every != 0 && done % options_.kill_every == 0) {
    std::unique_lock lock(mutex_);
    std::mt19937_64 whom(kills_());
    lock.unlock();
    if (options_.kill(whom)) counts_.kills.fetch_add(1);
  }
  if (options_.look_every != 0 && done % options_.look_every == 0) options_.look();
}

}  // namespace wasinn::soak
