// The certificates of a server's ports, which can be read again while it serves.
#pragma once

#include <boost/asio/ssl/context.hpp>

#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "serve/oip/inference.h"

namespace wasinn::serve {

// Paths of PEM files, or their contents.
struct TlsFiles {
  std::string certificate;  // with its signers, up to the authority
  std::string key;          // not encrypted
  std::string client_ca;    // authorities for clients' certificates; "": clients need none
};

// From one reading of the files. HTTP's connections use `context`, gRPC's the same bytes.
struct Certificates {
  TlsFiles pem;
  boost::asio::ssl::context context;
};

// TLS 1.2 and 1.3. Thread-safe.
class Tls {
 public:
  // Throws Failure if the files do not have what they should, like Load.
  explicit Tls(TlsFiles files) : files_(std::move(files)) { Load(); }

  // Later connections use the current files. After a failure nothing changes.
  void Load();

  std::shared_ptr<Certificates> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }
  bool asks_clients() const { return !files_.client_ca.empty(); }

 private:
  const TlsFiles files_;
  mutable std::mutex mutex_;  // guards the members below
  std::shared_ptr<Certificates> current_;
};

}  // namespace wasinn::serve
