// A connection of a client, with one request at a time. A load generator has many of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace wasinn::bench {

struct Target {
  uint16_t port = 8000;
  std::string path;  // of a POST
  std::string body;
  std::string key;  // of a tenant; "": none
};

class Connection {
 public:
  virtual ~Connection() = default;
  int descriptor() const { return descriptor_; }
  // Called only after the last request is answered.
  virtual void Send() = 0;
  // Reads the bytes that have come. Returns whether they complete the answer.
  virtual bool Read() = 0;
  // About the last answer.
  bool is_good() const { return is_good_; }

 protected:
  explicit Connection(uint16_t port);  // throws if nobody listens
  void Write(const void* bytes, size_t size) const;
  // An empty result: nothing has come yet. Throws if the server has hung up.
  size_t ReadSome(void* bytes, size_t room) const;

  bool is_good_ = false;

 private:
  int descriptor_ = -1;
};

std::unique_ptr<Connection> ConnectHttp(const Target& target);
std::unique_ptr<Connection> ConnectGrpc(const Target& target);

}  // namespace wasinn::bench
