// One end of a channel.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <utility>

#include "base/descriptor.h"
#include "core/status.h"

namespace wasinn::isolation {

class Socket {
 public:
  // As many as go with one message.
  static constexpr size_t kMostDescriptors = 16;

  Socket() = default;
  explicit Socket(base::Descriptor fd) : fd_(std::move(fd)) {}
  // Two that are connected; closed where a program is started.
  static core::Result<std::pair<Socket, Socket>> MakePair();

  // Receive and Send give up after so long each time, or a little later where signals interrupt them.
  core::Status SetPatience(std::chrono::milliseconds wait);
  // Receive looks for a message for so long before it sleeps, which spares being woken on another processor.
  void SetSpin(std::chrono::microseconds spin) { spin_ = spin; }

  enum class Sent : uint8_t {
    kDone,
    kClosed,  // nobody is at the other end, or it takes no more
    kRefused  // by the system, which has no memory or counts too many descriptors under way: nothing was sent
  };
  // `wait` false: it takes no more now is kClosed, too.
  Sent Send(std::span<const uint8_t> message, std::span<const int> descriptors = {}, bool wait = true);
  // Whether all that was sent has been taken by the other end.
  bool IsTaken() const;

  enum class Outcome : uint8_t { kMessage, kTooLate, kClosed };
  struct Received {
    Outcome outcome = Outcome::kClosed;
    size_t bytes = 0;  // more than the buffer has: the rest is gone
  };
  Received Receive(std::span<uint8_t> buffer);
  // The same with the descriptors that come along, `taken` of them; without it they are closed.
  Received Receive(std::span<uint8_t> buffer, std::span<base::Descriptor> descriptors, size_t& taken);

  explicit operator bool() const { return fd_.is_open(); }
  int number() const { return fd_.number(); }

 private:
  template <typename Call>
  ssize_t Take(Call&& call) const;

  base::Descriptor fd_;
  std::chrono::milliseconds patience_{0};  // 0: any
  std::chrono::microseconds spin_{0};
};

}  // namespace wasinn::isolation
