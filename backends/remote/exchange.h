// One request to one server.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/status.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace wasinn::remote {

using Deadline = std::optional<std::chrono::system_clock::time_point>;
// Names are in lower case.
using Headers = std::vector<std::pair<std::string, std::string>>;

// A buffer of gRPC that moves: its own type would be copied, and its slices shared.
class Message {
 public:
  Message() = default;
  ~Message() = default;
  Message(const grpc::Slice* slices, size_t count) : buffer_(slices, count) {}
  // NOLINTNEXTLINE(google-explicit-constructor): it is one
  Message(grpc::ByteBuffer&& buffer) noexcept { buffer_.Swap(&buffer); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  Message(Message&& other) noexcept { buffer_.Swap(&other.buffer_); }
  Message& operator=(Message&& other) noexcept {
    buffer_.Swap(&other.buffer_);
    return *this;
  }

  operator const grpc::ByteBuffer&() const { return buffer_; }  // NOLINT(google-explicit-constructor): it is one
  const grpc::ByteBuffer* operator->() const { return &buffer_; }
  grpc::ByteBuffer& buffer() { return buffer_; }
  // No message has none.
  size_t Length() const { return buffer_.Valid() ? buffer_.Length() : 0; }

 private:
  grpc::ByteBuffer buffer_;
};

// Told how many bytes an answer takes in all, before it takes them. False: it may not. One thread at a time.
using Charge = std::function<bool(uint64_t bytes)>;

// What a protocol asks.
struct Request {
  std::string path;      // of gRPC: the method
  bool has_body = true;  // of HTTP: POST, or else GET
  Headers headers;       // beside those of the model
  Message body;
  bool is_check = false;  // of HTTP: it waits for no call's connection
  Charge charge;          // of HTTP: while the answer comes; may be empty
};

// How it ended. gRPC's status and buffer say it for every transport.
struct Reply {
  grpc::Status status;
  Message message;
  bool was_sent = true;     // false: nothing of the request can have reached the server
  bool was_answer = false;  // the status is what the server answered, whatever it says, or says nothing of the server
  Headers headers;          // of HTTP
};

// Either Start or Wait, once. Lives until its end at least.
class Exchange {
 public:
  using Done = std::function<void(Reply)>;

  virtual ~Exchange() = default;
  // `done` comes once, on a thread of the transport's, perhaps before this returns. By then nothing but the caller holds
  // the exchange.
  virtual void Start(Done done) = 0;
  // The same on this thread.
  virtual Reply Wait() = 0;
  // Any thread, before it starts and after its end, too.
  virtual void Cancel() = 0;
};

}  // namespace wasinn::remote
