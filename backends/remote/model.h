// A model on other servers.
#pragma once

#include <memory>
#include <span>
#include <string>

#include <wasinn/backend.h>

#include "remote/protocol.h"
#include "remote/servers.h"
#include "remote/tensors.h"

namespace wasinn::remote {

class Checks;

// Its signature is the server's description at load time.
class Model {
 public:
  Model(Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options);
  ~Model();
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  Host& host() const { return host_; }
  Servers& servers() const { return *servers_; }
  const Protocol& protocol() const { return *protocol_; }
  const Signature& signature() const { return *signature_; }
  const wasinn_info* info() const { return signature_->info(); }
  const char* Describe() const { return description_.c_str(); }

 private:
  Host& host_;
  std::unique_ptr<Servers> servers_;
  std::unique_ptr<Protocol> protocol_;
  std::unique_ptr<const Signature> signature_;
  std::string description_;
  std::unique_ptr<Checks> checks_;  // if there are several servers
};

}  // namespace wasinn::remote
