#include "core/isolation/socket.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace wasinn::isolation {
namespace {

constexpr size_t kControlBytes = CMSG_SPACE(sizeof(int) * Socket::kMaxDescriptors);

Socket::Received OutcomeOf(ssize_t bytes) {
  if (bytes > 0) return {Socket::Outcome::kMessage, static_cast<size_t>(bytes)};
  const bool late = bytes < 0 && (errno == EAGAIN || errno == EWOULDBLOCK);
  return {late ? Socket::Outcome::kTooLate : Socket::Outcome::kClosed, 0};
}

// The system restarts its wait each time, so with repeated signals the wait would have no end.
template <typename Call>
ssize_t Again(std::chrono::milliseconds wait, Call&& call) {
  std::chrono::steady_clock::time_point end;
  for (bool interrupted = false;; interrupted = true) {
    const ssize_t result = call();
    if (result >= 0 || errno != EINTR) return result;
    if (wait.count() == 0) continue;
    const auto now = std::chrono::steady_clock::now();
    if (!interrupted) end = now + wait;
    if (now < end) continue;
    errno = EAGAIN;
    return -1;
  }
}

}  // namespace

core::Result<std::pair<Socket, Socket>> Socket::MakePair() {
  std::array<int, 2> fds{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds.data()) != 0) {
    return core::Fail(WASINN_ERROR_UNAVAILABLE, "no socket for a worker: {}", std::strerror(errno));
  }
  base::Descriptor one = base::Descriptor::NoStandardOne(fds[0]), other = base::Descriptor::NoStandardOne(fds[1]);
  if (one.is_open() && other.is_open()) return std::pair(Socket(std::move(one)), Socket(std::move(other)));
  return core::Fail(WASINN_ERROR_UNAVAILABLE, "no socket for a worker: {}", std::strerror(errno));
}

core::Status Socket::SetPatience(std::chrono::milliseconds wait) {
  const timeval time{.tv_sec = wait.count() / 1000, .tv_usec = wait.count() % 1000 * 1000};
  const bool set = ::setsockopt(fd_.number(), SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time)) == 0 &&
                   ::setsockopt(fd_.number(), SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time)) == 0;
  if (set) patience_ = wait;
  if (set) return {};
  return core::Error(WASINN_ERROR_UNAVAILABLE, "a worker's socket takes no deadline: {}", std::strerror(errno));
}

Socket::Sent Socket::Send(std::span<const uint8_t> message, std::span<const int> descriptors, bool wait) {
  const int flags = MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT);
  iovec part{const_cast<uint8_t*>(message.data()), message.size()};
  alignas(cmsghdr) std::array<char, kControlBytes> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size_bytes());
  }
  if (Again(patience_, [&] { return ::sendmsg(fd_.number(), &header, flags); }) >= 0) return Sent::kDone;
  const bool refused = errno == ETOOMANYREFS || errno == ENOMEM || errno == ENOBUFS || errno == EMFILE;
  return refused ? Sent::kRefused : Sent::kClosed;
}

bool Socket::IsTaken() const {
  int waiting = 0;
  return ::ioctl(fd_.number(), SIOCOUTQ, &waiting) == 0 && waiting == 0;
}

// `call` gets the flags of its system call, and adds its own.
template <typename Call>
ssize_t Socket::Take(Call&& call) const {
  if (spin_.count() > 0) {
    const auto end = std::chrono::steady_clock::now() + spin_;
    do {
      const ssize_t bytes = call(MSG_DONTWAIT);
      if (bytes >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) return bytes;
    } while (std::chrono::steady_clock::now() < end);
  }
  return Again(patience_, [&] { return call(0); });
}

Socket::Received Socket::Receive(std::span<uint8_t> buffer) {
  return OutcomeOf(
      Take([&](int flags) { return ::recv(fd_.number(), buffer.data(), buffer.size(), MSG_TRUNC | flags); }));
}

Socket::Received Socket::Receive(std::span<uint8_t> buffer, std::span<base::Descriptor> descriptors, size_t& taken) {
  taken = 0;
  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<char, kControlBytes> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const Received received = OutcomeOf(
      Take([&](int flags) { return ::recvmsg(fd_.number(), &header, MSG_CMSG_CLOEXEC | MSG_TRUNC | flags); }));
  if (received.outcome != Outcome::kMessage) return received;
  for (cmsghdr* one = CMSG_FIRSTHDR(&header); one != nullptr; one = CMSG_NXTHDR(&header, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (one->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(one) + i * sizeof(int), sizeof(int));
      base::Descriptor descriptor(fd);
      if (taken < descriptors.size()) descriptors[taken++] = std::move(descriptor);
    }
  }
  return received;
}

}  // namespace wasinn::isolation
