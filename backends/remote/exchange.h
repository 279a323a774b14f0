// One request to one server, and the errors of those that fail.
#pragma once

#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>
#include <grpcpp/support/status.h>

#include <wasinn/types.h>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"

namespace wasinn::remote {

using Deadline = std::optional<std::chrono::system_clock::time_point>;
// Names are lower case.
using Headers = std::vector<std::pair<std::string, std::string>>;

// A movable buffer of gRPC: grpc::ByteBuffer would be copied, and its slices shared.
class Message {
 public:
  Message() = default;
  ~Message() = default;
  Message(const grpc::Slice* slices, size_t count) : buffer_(slices, count) {}
  // NOLINTNEXTLINE(google-explicit-constructor): a message is a buffer
  Message(grpc::ByteBuffer&& buffer) noexcept { buffer_.Swap(&buffer); }
  Message(const Message&) = delete;
  Message& operator=(const Message&) = delete;
  Message(Message&& other) noexcept { buffer_.Swap(&other.buffer_); }
  Message& operator=(Message&& other) noexcept {
    buffer_.Swap(&other.buffer_);
    return *this;
  }

  operator const grpc::ByteBuffer&() const { return buffer_; }  // NOLINT(google-explicit-constructor): as above
  const grpc::ByteBuffer* operator->() const { return &buffer_; }
  grpc::ByteBuffer& buffer() { return buffer_; }
  // 0 without a message.
  size_t Length() const { return buffer_.Valid() ? buffer_.Length() : 0; }

 private:
  grpc::ByteBuffer buffer_;
};

// Gets the total size of an answer before memory is allocated. Returns false to refuse it. One thread at a time.
using Charge = std::function<bool(uint64_t bytes)>;

// A protocol's request.
struct Request {
  std::string path;      // for gRPC: the method
  bool has_body = true;  // for HTTP: POST, or else GET
  Headers headers;       // in addition to the model's
  Message body;
  bool is_check = false;  // for HTTP: does not wait for the connection of a call
  Charge charge;          // for HTTP: called while the answer comes; may be empty
};

// The result of an exchange. All transports use gRPC's status and buffer.
struct Reply {
  grpc::Status status;
  Message message;
  bool was_sent = true;     // false: no part of the request can have reached the server
  bool was_answer = false;  // the server sent the status, whatever it is, or the status says nothing about the server
  Headers headers;          // for HTTP
};

// Start or Wait is called once. The object lives at least until the exchange ends.
class Exchange {
 public:
  using Done = std::function<void(Reply)>;

  virtual ~Exchange() = default;
  // `done` is called once, on a thread of the transport, perhaps before this returns. By then only the caller holds the
  // exchange.
  virtual void Start(Done done) = 0;
  // Starts, and waits on this thread.
  virtual Reply Wait() = 0;
  // Thread-safe, even before the start and after the end.
  virtual void Cancel() = 0;
};

// One server, by its address. Connects for an exchange, and again after a lost connection. Thread-safe.
class Connection {
 public:
  explicit Connection(std::string endpoint) : endpoint_(std::move(endpoint)) {}
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  const std::string& endpoint() const { return endpoint_; }
  // `request` and `headers`, which are sent with it, must outlive the exchange.
  virtual std::shared_ptr<Exchange> NewExchange(const Request& request, const Headers& headers, Deadline deadline) = 0;

 private:
  const std::string endpoint_;
};

struct ConnectionConfig;
// A server that speaks gRPC.
std::shared_ptr<Connection> MakeGrpcConnection(const std::string& endpoint, const ConnectionConfig& config);

// A message in one piece. HTTP's messages already are; others are copied.
class WholeMessage {
 public:
  explicit WholeMessage(const grpc::ByteBuffer& message) {
    if (message.Valid() && !message.TrySingleSlice(&slice_).ok()) (void)message.DumpToSingleSlice(&slice_);
  }

  std::string_view text() const { return {reinterpret_cast<const char*>(slice_.begin()), slice_.size()}; }

 private:
  grpc::Slice slice_;
};

// UNAVAILABLE is about the server, never about an error that a model reports.
wasinn_code CodeOf(const grpc::Status& status);
// A status of HTTP as one of gRPC, with the server's message from its answer's body.
grpc::Status StatusOf(unsigned code, std::string_view body);
// A server's text is untrusted: the result is shortened, on one line, and UTF-8.
std::string Quoted(const std::string& text);
// Replaces `endpoint` and its host by "the server" in messages of gRPC and TLS, and removes "ipv4:10.0.0.3:8001: ".
std::string WithoutAddress(std::string text, const std::string& endpoint);
backend::Error ErrorOf(const grpc::Status& status);

}  // namespace wasinn::remote
