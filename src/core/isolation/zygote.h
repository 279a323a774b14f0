// The host's side of a zygote: an OS process that has opened one framework and forks workers.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/isolation/protocol.h"
#include "core/isolation/socket.h"
#include "core/runtime/started_in.h"
#include "core/status.h"

namespace wasinn::isolation {

// Thread-safe.
class Zygote {
 public:
  // For each answer. Some frameworks take seconds to open, and more on a busy machine.
  static constexpr std::chrono::milliseconds kPatience{60000};

  // Opens the framework in a new process, which may take long. The process ends with this object or with the host. With
  // `spares` a worker is ready for the next guest, from the second one on: a host of one guest has none.
  static core::Result<std::shared_ptr<Zygote>> Start(const Setting& setting, bool spares);
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  struct Worker {
    Socket channel;
    pid_t pid = 0;
    base::Descriptor process;  // a pidfd
  };
  core::Result<Worker> Spawn();
  // For later answers.
  core::Status SetPatience(std::chrono::milliseconds wait);
  // It makes no workers any more: it has ended, or does not answer.
  bool gone() const { return gone_.load(std::memory_order_acquire); }
  // How an ended worker ended: "it was killed by signal 9 (Killed)".
  std::string EndOf(const Worker& worker) noexcept;

 private:
  Zygote(Socket socket, Setting setting, bool spares)
      : setting_(std::move(setting)), spares_(spares), socket_(std::move(socket)), buffer_(kMaxBytes) {
    started_in_.SetToThisProcess();
  }
  // Needs `mutex_`, like all functions below.
  core::Status Ask(Writer& request, std::span<const int> descriptors, std::span<base::Descriptor> received,
                   Reader& answer);
  core::Status Send(Writer& request, std::span<const int> descriptors);
  core::Status Receive(std::span<base::Descriptor> received, Reader& answer);
  core::Status Gone();
  core::Status Order(bool prepare);
  core::Result<Worker> Collect();
  void OrderSpare() noexcept;
  void CollectSpare();
  std::optional<Worker> TakeSpare();
  core::Result<Worker> SpareOrNew();
  core::Result<int> WaitFor(pid_t worker);
  void WaitForLate();

  core::StartedIn started_in_;
  const Setting setting_;
  const bool spares_;
  std::atomic<bool> gone_{false};
  std::mutex mutex_;  // held for one question at a time; guards the members below
  Socket socket_;
  std::vector<uint8_t> buffer_;
  std::vector<uint8_t> request_ = std::vector<uint8_t>(64);  // for WaitFor, which allocates nothing
  bool spawned_ = false;                                     // at least one worker
  std::optional<Socket> ordered_;  // the channel of a worker that the zygote has not confirmed yet
  std::optional<Worker> spare_;
  std::vector<pid_t> late_;  // workers that had not ended at the last question, and would stay zombies
};

}  // namespace wasinn::isolation
