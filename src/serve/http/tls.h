// The certificates of a server's ports, which can be read anew while it serves.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "serve/oip/inference.h"

namespace wasinn::serve {

// Paths of PEM files, or what is in them.
struct TlsFiles {
  std::string certificate;  // and what signed it, up to the authority
  std::string key;          // not encrypted
  std::string client_ca;    // who may have signed clients' certificates; "": clients need none
};

// Of one time of reading. HTTP's connections are made of `context`, gRPC's of the same bytes.
struct Certificates {
  TlsFiles pem;
  boost::asio::ssl::context context;
};

// TLS 1.2 and 1.3. Any thread.
class Tls {
 public:
  static Outcome<std::shared_ptr<Tls>> Load(TlsFiles files);

  // Connections from here on have what the files have now. Upon a failure nothing changes.
  Outcome<void> Reload();

  std::shared_ptr<Certificates> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }
  bool asks_clients() const { return !files_.client_ca.empty(); }

 private:
  explicit Tls(TlsFiles files) : files_(std::move(files)) {}

  const TlsFiles files_;
  mutable std::mutex mutex_;  // of what follows
  std::shared_ptr<Certificates> current_;
};

}  // namespace wasinn::serve
