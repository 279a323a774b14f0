// Guests that load, infer and unload, each on its own thread. Half of them use models that the host has registered,
// half bring their own models, which run in workers. Some of those workers are killed.
#pragma once

#include <wasinn/wasinn.hpp>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "bench/soak/guest.h"
#include "bench/soak/models.h"

namespace wasinn::soak {

struct Counts {
  std::atomic<uint64_t> right{0}, wrong{0}, lost{0}, failed{0};
  std::atomic<uint64_t> loads{0}, guests{0}, kills{0};
  // Objects that guests still had after they had released everything.
  std::atomic<uint64_t> kept_handles{0}, kept_bytes{0};
};

// The objects that all guests together have now.
struct Held {
  uint64_t guests = 0, handles = 0, bytes = 0;
};

class Crowd {
 public:
  struct Options {
    uint32_t guests = 64;
    uint64_t seed = 1;
    uint64_t kill_every = 0;  // in inferences in workers; 0: never
    uint64_t look_every = 0;  // in inferences in workers, too
    std::function<bool(std::mt19937_64& random)> kill;
    std::function<void()> look;
  };
  Crowd(const Host& host, const std::vector<Model>& models, Options options);

  // Makes `inferences` right inferences, half of them in workers. No guest is left afterwards.
  void Run(uint64_t inferences);

  const Counts& counts() const { return counts_; }
  Held held() const;
  // The right inferences of one model, in the host's process or in workers.
  uint64_t right(size_t model, bool in_worker) const { return right_[model][in_worker ? 1 : 0]; }
  // The first failure.
  std::string first_failure() const;

 private:
  struct Member;
  class Living;
  void Live(uint32_t number);
  void BeGuest(Member& member);
  void LoadAndInfer(Member& member, Inferer& inferer);
  void InferOnce(Member& member, Inferer& inferer);
  bool IsLeft(const Member& member) const;
  bool TakeOne(const Member& member);
  void AfterOneInWorker();
  void Fail(const std::string& what);

  const Host& host_;
  const std::vector<Model>& models_;
  const Options options_;
  Counts counts_;
  // For each model, in the host's process and in workers.
  std::vector<std::array<std::atomic<uint64_t>, 2>> right_;
  std::vector<std::array<std::atomic<int64_t>, 2>> left_;  // inferences that this run still has to make
  std::atomic<uint64_t> in_workers_{0};
  uint64_t rounds_ = 0;
  mutable std::mutex mutex_;  // guards the members below
  std::set<wasinn_guest*> living_;
  std::mt19937_64 kills_;  // chooses the workers that are killed
  std::string first_failure_;
};

}  // namespace wasinn::soak
