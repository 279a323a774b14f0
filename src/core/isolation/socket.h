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
  // The most descriptors for one message.
  static constexpr size_t kMaxDescriptors = 16;

  Socket() = default;
  explicit Socket(base::Descriptor fd) : fd_(std::move(fd)) {}
  // Two connected ends; they are closed in programs that are started.
  static core::Result<std::pair<Socket, Socket>> MakePair();

  // Receive and Send give up after this time, or a little later if signals interrupt them.
  core::Status SetPatience(std::chrono::milliseconds wait);
  // Receive polls this long for a message before it sleeps, which avoids being woken on another processor.
  void SetSpin(std::chrono::microseconds spin) { spin_ = spin; }

  enum class Sent : uint8_t {
    kDone,
    kClosed,  // the other end is closed, or takes no more
    kRefused  // by the system: no memory, or too many descriptors under way; nothing was sent
  };
  // `wait` false: kClosed, too, if it takes no more now.
  Sent Send(std::span<const uint8_t> message, std::span<const int> descriptors = {}, bool wait = true);
  // Whether the other end has taken everything that was sent.
  bool IsTaken() const;

  enum class Outcome : uint8_t { kMessage, kTooLate, kClosed };
  struct Received {
    Outcome outcome = Outcome::kClosed;
    size_t bytes = 0;  // more than the buffer has: the rest is lost
  };
  Received Receive(std::span<uint8_t> buffer);
  // As above, with the `taken` descriptors that come along; without it they are closed.
  Received Receive(std::span<uint8_t> buffer, std::span<base::Descriptor> descriptors, size_t& taken);

  explicit operator bool() const { return fd_.is_open(); }
  int number() const { return fd_.number(); }

 private:
  template <typename Call>
  ssize_t Take(Call&& call) const;

  base::Descriptor fd_;
  std::chrono::milliseconds patience_{0};  // 0: no limit
  std::chrono::microseconds spin_{0};
};

}  // namespace wasinn::isolation
