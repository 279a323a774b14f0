#include <strings.h>

#include <cstdlib>
#include <string_view>

#include "bench/serve/load.h"

namespace wasinn::bench {
namespace {

// The position at which the value of a header begins; npos if there is no such header.
size_t FindValue(std::string_view header, std::string_view name) {
  for (size_t line = header.find("\r\n"); line != header.npos; line = header.find("\r\n", line + 2)) {
    const std::string_view rest = header.substr(line + 2);
    if (rest.size() > name.size() && ::strncasecmp(rest.data(), name.data(), name.size()) == 0) {
      return line + 2 + name.size();
    }
  }
  return header.npos;
}

// HTTP/1.1, only as far as answers with a length need it.
class HttpConnection final : public Connection {
 public:
  explicit HttpConnection(const Target& target) : Connection(target.port) {
    const std::string key = target.key.empty() ? "" : "Authorization: Bearer " + target.key + "\r\n";
    request_ = "POST " + target.path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + key +
               "Content-Length: " + std::to_string(target.body.size()) + "\r\n\r\n" + target.body;
  }

  void Send() override {
    got_.clear();
    expected_ = 0;
    Write(request_.data(), request_.size());
  }

  bool Read() override {
    char bytes[16384];
    got_.append(bytes, ReadSome(bytes, sizeof bytes));
    if (expected_ == 0) {
      const size_t end = got_.find("\r\n\r\n");
      if (end == got_.npos) return false;
      const size_t length = FindValue(std::string_view(got_).substr(0, end + 2), "content-length:");
      expected_ = end + 4 + (length == got_.npos ? 0 : std::strtoull(&got_[length], nullptr, 10));
      is_good_ = got_.starts_with("HTTP/1.1 200");
    }
    return got_.size() >= expected_;
  }

 private:
  std::string request_, got_;
  size_t expected_ = 0;
};

}  // namespace

std::unique_ptr<Connection> ConnectHttp(const Target& target) { return std::make_unique<HttpConnection>(target); }

}  // namespace wasinn::bench
