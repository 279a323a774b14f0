// A worker that serves the echo backend on threads of this process, and the host's end of its channels.
#pragma once

#include <cstdint>
#include <cstdio>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/isolation/protocol.h"
#include "core/isolation/socket.h"
#include "fuzz/expect.h"
#include "worker/server.h"

namespace wasinn::fuzz {

template <typename T>
T Must(core::Result<T> result) {
  if (!result) std::fprintf(stderr, "%s\n", std::string(result.error().message()).c_str());
  FUZZ_EXPECT(result);
  return std::move(*result);
}

// One channel of a worker that serves the echo backend, on the host's side.
class Channel {
 public:
  explicit Channel(isolation::Socket socket) : socket_(std::move(socket)) {}

  // The answer after the head, which control channels and others have in common: its code.
  isolation::Reader Ask(std::span<const uint8_t> request, std::span<const int> descriptors = {}) {
    FUZZ_EXPECT(socket_.Send(request, descriptors) == isolation::Socket::Sent::kDone);
    const isolation::Socket::Received received = socket_.Receive(answer_);
    FUZZ_EXPECT(received.outcome == isolation::Socket::Outcome::kMessage && received.bytes <= answer_.size());
    return isolation::Reader({answer_.data(), received.bytes});
  }
  // Does not wait for an answer. Returns false if the worker has hung up.
  bool Send(std::span<const uint8_t> request, std::span<const int> descriptors) {
    return socket_.Send(request, descriptors) == isolation::Socket::Sent::kDone;
  }
  // The same; or it has hung up, as it may after a wrong message.
  bool Hear(isolation::Reader& answer) {
    const isolation::Socket::Received received = socket_.Receive(answer_);
    FUZZ_EXPECT(received.outcome != isolation::Socket::Outcome::kTooLate && received.bytes <= answer_.size());
    answer = isolation::Reader({answer_.data(), received.bytes});
    return received.outcome == isolation::Socket::Outcome::kMessage;
  }

 private:
  isolation::Socket socket_;
  std::vector<uint8_t> answer_ = std::vector<uint8_t>(isolation::kMaxBytes);
};

struct Head {
  uint32_t code = 0;
  uint64_t payload = 0;
};

// Any channel but the first. The payload follows, or it is to be fetched.
inline Head ReadHead(isolation::Reader& answer) {
  Head head{.code = answer.Number<uint32_t>()};
  (void)answer.Number<uint64_t>();
  (void)answer.Number<uint64_t>();
  for (auto lines = answer.Number<uint32_t>(); lines > 0 && answer.ok(); --lines) {
    (void)answer.Number<uint32_t>();
    (void)answer.Text();
  }
  if (head.code != WASINN_OK) FUZZ_EXPECT(!answer.Text().empty());
  head.payload = answer.Number<uint64_t>();
  FUZZ_EXPECT(answer.ok() && (answer.left() == 0 || answer.left() == head.payload));
  return head;
}

// A worker for the whole run. Its threads last as long as the process.
class Worker {
 public:
  Worker() : server_(framework_) {
    auto [here, there] = Must(isolation::Socket::MakePair());
    std::thread([this, channel = std::move(there)]() mutable { server_.Run(std::move(channel)); }).detach();
    first_ = Channel(std::move(here));
    std::vector<uint8_t> bytes;
    isolation::Writer request(bytes);
    request.Number(isolation::Op::kStart);
    isolation::Setting{.worker = "",
                       .backend = "echo",
                       .library = FUZZ_ECHO_FOLDER "/libwasinn_backend_echo.so",
                       .max_model_bytes = 1 << 20,
                       .max_tensor_bytes = 1 << 20}
        .Write(request);
    FUZZ_EXPECT(first_.Ask(request.written()).Number<uint32_t>() == WASINN_OK);
  }

  // On a busy machine the threads of earlier channels may still be running, and the system refuses more of them.
  Channel AddChannel() {
    auto [here, there] = Must(isolation::Socket::MakePair());
    while (!TryAddChannel(there.number())) std::this_thread::yield();
    return Channel(std::move(here));
  }

 private:
  bool TryAddChannel(int end) {
    std::vector<uint8_t> bytes;
    isolation::Writer request(bytes);
    request.Number(isolation::Op::kAddChannel);
    return first_.Ask(request.written(), {&end, 1}).Number<uint32_t>() == WASINN_OK;
  }

  worker::FrameworkOf framework_;
  worker::Server server_;
  Channel first_{isolation::Socket()};
};

}  // namespace wasinn::fuzz
