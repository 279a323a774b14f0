// The host's side of one worker: its channels, and its state after it is lost.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/inference/on_behalf.h"
#include "core/inference/scheduler.h"
#include "core/isolation/protocol.h"
#include "core/isolation/zygote.h"
#include "core/runtime/clock.h"
#include "core/runtime/started_in.h"
#include "core/status.h"

namespace wasinn::isolation {

struct Counters {
  std::atomic<uint32_t> alive{0};
  std::atomic<uint64_t> started{0};
  std::atomic<uint64_t> lost{0};       // ended before their guest; noticed at the next request
  std::atomic<uint64_t> restarted{0};  // started after a loss
  std::atomic<uint64_t> refused{0};    // because of max_workers
};

struct Channel {
  Socket socket;
  uint64_t caller = 0;  // the guest whose call has it; 0: none
  std::vector<uint8_t> request, long_answer;
  std::vector<uint8_t> answer = std::vector<uint8_t>(kMaxBytes);
};

// Thread-safe.
class Connection {
 public:
  using Log = std::function<void(uint32_t level, const char* message)>;
  // Starts a worker that has opened its framework and is in its sandbox.
  static core::Result<std::shared_ptr<Connection>> Start(std::shared_ptr<Zygote> parent,
                                                         std::shared_ptr<Counters> place, const Setting& setting,
                                                         Log log, core::Clock clock = {});
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const Framework& framework() const { return framework_; }
  // Each side polls for messages while it waits, so each needs a processor.
  bool spins() const { return spin_.count() > 0; }
  uint32_t NewNumber() { return numbers_.fetch_add(1, std::memory_order_relaxed) + 1; }

  // A channel of one call, which is given back at the end.
  struct ChannelGiver {
    void operator()(Channel* channel) const { connection->GiveChannel(std::unique_ptr<Channel>(channel)); }
    Connection* connection;
  };
  using HeldChannel = std::unique_ptr<Channel, ChannelGiver>;

  // One call. It owns its channel and the answer's memory until it is destroyed.
  class Call {
   public:
    Call(Connection& connection, Op op);
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

    // Another request on the same channel, after the last answer was read: a call that has begun never waits for
    // another channel in order to end.
    void Again(Op op);
    Writer& request() { return request_; }
    // An answer may have this many bytes; by default kUsualAnswer.
    void ExpectAnswer(uint64_t bytes) { most_ = std::max(kUsualAnswer, std::min<uint64_t>(bytes, kMaxLongBytes)); }
    // Loads, computes and the creation of slots have no limit of time, until they are cancelled. For all other calls, a
    // worker that does not answer within kPatience is ended.
    enum class Length : uint8_t { kQuick, kAsLongAsItTakes };
    // Sends the request and waits. If an error has `answered`, it came from the worker, and the payload follows.
    core::Status Run(Length length, std::span<const int> descriptors = {});
    bool answered() const { return answered_; }
    bool asked() const { return sent_; }
    // The worker did not do it, or was not asked.
    bool refused() const { return !asked() || (answered_ && answer_.code != WASINN_OK); }
    const Answer& answer() const { return answer_; }
    // The rest of the answer.
    Reader& payload() { return payload_; }
    // The answer makes no sense: ends the worker.
    core::Status Nonsense();

   private:
    core::Status Send(std::span<const int> descriptors);
    core::Status Wait(Length length);
    bool ReadAnswer(std::span<const uint8_t> message);
    core::Status Fetch();

    Connection& connection_;
    core::Result<HeldChannel> held_;
    Channel* const channel_ = held_ ? held_->get() : nullptr;
    std::vector<uint8_t> nowhere_;  // for a request without a channel
    Writer request_;
    uint64_t most_ = kUsualAnswer;
    Answer answer_;
    Reader payload_;
    bool sent_ = false;
    bool answered_ = false;
  };
  static constexpr std::chrono::milliseconds kPatience{10000};
  static constexpr uint64_t kUsualAnswer = 2u << 20;
  // Calls at once.
  static constexpr uint32_t kMaxChannels = 48;
  // Computes and steps at once, of all its models: further ones wait, so that channels are left for quick calls.
  static constexpr uint32_t kMaxComputes = 40;
  core::Scheduler& computes() { return computes_; }

  // Interrupts the worker's work, again and again until it ends: the first call of Interrupt sends a request, a call
  // kGrace after that ends the worker.
  static constexpr std::chrono::milliseconds kGrace{100};
  class Interruption {
   public:
    Interruption() { Begin(); }
    // Does not block. `number` is the slot's, `turn` its compute's; 0: nothing that can be cancelled.
    void Interrupt(Connection& connection, uint32_t number, uint64_t turn);
    // Called on the calling thread.
    void Begin() {
      since_.store(0, std::memory_order_relaxed);
      guest_.store(core::OnBehalf::guest(), std::memory_order_relaxed);
    }

   private:
    std::atomic<uint64_t> guest_{0};
    std::atomic<int64_t> since_{0};  // a time of the connection's clock, in nanoseconds
  };

  // Digests of a model's parts by the worker's number for it, for the log if the worker is lost.
  void Hold(uint32_t number, std::string digests);
  void Release(uint32_t number);

  // Calls the operation without waiting for its outcome, for destructors. If there is no channel, it uses the first
  // one. If that fails, too, the worker is ended, so that it keeps nothing that is gone here.
  void Notify(Op op, std::initializer_list<uint32_t> numbers) noexcept;

  // Ends the worker; everything that it held is lost. Does not block; `why` is a constant.
  void End(const char* why);
  // As End, for a worker that is not needed any more: it does not count as lost.
  void Abandon();
  bool lost() const { return lost_.load(std::memory_order_acquire); }
  // The guests in whose calls a lost worker ended.
  std::vector<uint64_t> Suspects();
  // It is lost, or belongs to another OS process, from which this one was forked.
  bool gone() const { return lost() || forked(); }
  core::Status Lost();

 private:
  Connection(std::shared_ptr<Zygote> parent, const Setting& setting, Log log, core::Clock clock)
      : parent_(std::move(parent)),
        backend_(setting.backend),
        owner_(setting.owner),
        spin_(setting.spin_us),
        log_(std::move(log)),
        clock_(clock) {}
  core::Result<HeldChannel> TakeChannel();
  void GiveChannel(std::unique_ptr<Channel> channel);
  void Blame(uint64_t guest);
  std::vector<uint64_t> FindSuspects();
  core::Status Open(const Setting& setting);
  core::Status NotifyByFirst(Op op, std::initializer_list<uint32_t> numbers);
  core::Status Sent(Socket::Sent sent);
  void Kill();
  core::Result<Socket> AddChannel();
  // Both need `adding_`.
  core::Status Control(Writer& request, std::span<const int> descriptors, Reader& payload);
  core::Status Exchange(Writer& request, std::span<const int> descriptors, Reader& payload);
  std::string Held();
  // This process has the host's sockets, and must not use them.
  bool forked() const { return started_in_.is_elsewhere(); }

  const std::shared_ptr<Zygote> parent_;
  std::shared_ptr<Counters> place_;  // one of the host's workers; NULL: not counted
  const std::string backend_, owner_;
  const std::chrono::microseconds spin_;
  const Log log_;
  const core::Clock clock_;  // for interruptions
  Zygote::Worker worker_;
  Framework framework_;
  std::atomic<uint32_t> numbers_{0};
  core::Scheduler computes_{kMaxComputes, kMaxComputes, "of its worker"};
  Socket cancels_;  // a channel without answers
  core::StartedIn started_in_;
  std::mutex adding_;
  Channel control_;                                 // guarded by adding_: the first channel, which adds others
  std::mutex mutex_;                                // guards the members below
  std::vector<std::unique_ptr<Channel>> channels_;  // idle ones
  std::vector<uint64_t> callers_;                   // guests whose calls have the others
  uint32_t n_channels_ = 0;
  std::atomic<bool> lost_{false};
  bool is_open_ = false;  // since its start
  std::atomic<bool> is_abandoned_{false};
  std::atomic<const char*> why_{nullptr};  // the host ended it
  std::mutex holding_;
  std::map<uint32_t, std::string> held_;  // guarded by holding_
  std::mutex ending_;                     // guards the members below; held during a question
  std::string end_;                       // how it ended
  std::vector<uint64_t> suspects_;
  std::atomic<uint64_t> blamed_{0};  // the guest for whose call the host ended it
};

}  // namespace wasinn::isolation
