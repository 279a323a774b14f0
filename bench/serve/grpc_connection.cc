// Unary calls over gRPC, by nghttp2. A client of gRPC itself would use more processor time than a server.
#include <arpa/inet.h>
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "bench/serve/load.h"

namespace wasinn::bench {
namespace {

void Check(ssize_t result) {
  if (result < 0) throw std::runtime_error(nghttp2_strerror(static_cast<int>(result)));
}

nghttp2_nv Header(std::string_view name, std::string_view value) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));  // only read
  };
  return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
}

class GrpcConnection final : public Connection {
 public:
  explicit GrpcConnection(const Target& target) : Connection(target.port), path_(target.path), message_(5, '\0') {
    if (!target.key.empty()) key_ = "Bearer " + target.key;
    const uint32_t size = htonl(static_cast<uint32_t>(target.body.size()));
    std::memcpy(&message_[1], &size, sizeof size);
    message_ += target.body;
    nghttp2_session_callbacks* callbacks = nullptr;
    Check(nghttp2_session_callbacks_new(&callbacks));
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    const int failed = nghttp2_session_client_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);
    Check(failed);
    Check(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0));
    Flush();
  }
  ~GrpcConnection() override { nghttp2_session_del(session_); }
  GrpcConnection(const GrpcConnection&) = delete;
  GrpcConnection& operator=(const GrpcConnection&) = delete;

  void Send() override {
    is_good_ = is_answered_ = false;
    sent_ = 0;
    const nghttp2_nv headers[] = {Header(":method", "POST"),    Header(":scheme", "http"),
                                  Header(":path", path_),       Header(":authority", "localhost"),
                                  Header("te", "trailers"),     Header("content-type", "application/grpc"),
                                  Header("authorization", key_)};
    const size_t n_headers = std::size(headers) - (key_.empty() ? 1 : 0);
    nghttp2_data_provider body = {{.ptr = this}, GiveBody};
    Check(nghttp2_submit_request(session_, nullptr, headers, n_headers, &body, nullptr));
    Flush();
  }

  bool Read() override {
    uint8_t bytes[16384];
    if (const size_t n = ReadSome(bytes, sizeof bytes); n > 0) Check(nghttp2_session_mem_recv(session_, bytes, n));
    Flush();
    return is_answered_;
  }

 private:
  static GrpcConnection& Of(void* user) { return *static_cast<GrpcConnection*>(user); }

  static ssize_t GiveBody(nghttp2_session*, int32_t, uint8_t* room, size_t size, uint32_t* flags, nghttp2_data_source*,
                          void* user) {
    GrpcConnection& self = Of(user);
    const size_t n = std::min(size, self.message_.size() - self.sent_);
    std::memcpy(room, &self.message_[self.sent_], n);
    self.sent_ += n;
    if (self.sent_ == self.message_.size()) *flags = NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(n);
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame*, const uint8_t* name, size_t name_size,
                      const uint8_t* value, size_t value_size, uint8_t, void* user) {
    const auto text = [](const uint8_t* bytes, size_t size) {
      return std::string_view(reinterpret_cast<const char*>(bytes), size);
    };
    if (text(name, name_size) == "grpc-status") Of(user).is_good_ = text(value, value_size) == "0";
    return 0;
  }

  static int OnClose(nghttp2_session*, int32_t, uint32_t, void* user) {
    Of(user).is_answered_ = true;
    return 0;
  }

  void Flush() {  // in one piece, like gRPC's own clients
    std::string out;
    const uint8_t* bytes = nullptr;
    ssize_t n = 0;
    while ((n = nghttp2_session_mem_send(session_, &bytes)) > 0) {
      out.append(reinterpret_cast<const char*>(bytes), static_cast<size_t>(n));
    }
    Check(n);
    Write(out.data(), out.size());
  }

  const std::string path_;
  std::string key_;  // as in the header; "": none
  std::string message_;
  nghttp2_session* session_ = nullptr;
  size_t sent_ = 0;
  bool is_answered_ = false;
};

}  // namespace

std::unique_ptr<Connection> ConnectGrpc(const Target& target) { return std::make_unique<GrpcConnection>(target); }

}  // namespace wasinn::bench
