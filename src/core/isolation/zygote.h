// The host's side of a zygote: an OS process that has opened one framework and makes workers of it.
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

// Any thread.
class Zygote {
 public:
  // With each answer. Some frameworks take seconds to be opened, on a busy machine more.
  static constexpr std::chrono::milliseconds kPatience{60000};

  // Opens the framework there, which may take long. It ends when this goes, or the host. With `spares` a worker stands
  // ready for whoever comes next, from the second on: a host of one guest has none.
  static core::Result<std::shared_ptr<Zygote>> Start(const Setting& setting, bool spares);
  Zygote(const Zygote&) = delete;
  Zygote& operator=(const Zygote&) = delete;

  struct Worker {
    Socket channel;
    pid_t pid = 0;
    base::Descriptor process;  // a pidfd
  };
  core::Result<Worker> Spawn();
  // With later answers.
  core::Status SetPatience(std::chrono::milliseconds wait);
  // It makes no workers any more: it has ended, or does not answer.
  bool gone() const { return gone_.load(std::memory_order_acquire); }
  // How a worker ended that has ended: "it was killed by signal 9 (Killed)".
  std::string EndOf(const Worker& worker) noexcept;

 private:
  Zygote(Socket socket, Setting setting, bool spares)
      : setting_(std::move(setting)), spares_(spares), socket_(std::move(socket)), buffer_(kMostBytes) {
    started_in_.SetToThisProcess();
  }
  // Of `mutex_`, as all that follows.
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
  std::mutex mutex_;  // of one question at a time, and of what follows
  Socket socket_;
  std::vector<uint8_t> buffer_;
  std::vector<uint8_t> request_ = std::vector<uint8_t>(64);  // of WaitFor, which needs no memory
  bool spawned_ = false;                                     // a worker, at least one
  std::optional<Socket> ordered_;  // the channel of a worker about which the zygote has not been heard yet
  std::optional<Worker> spare_;
  std::vector<pid_t> late_;  // workers that had not ended when they were asked for, and would stay zombies
};

}  // namespace wasinn::isolation
