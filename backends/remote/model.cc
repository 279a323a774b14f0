#include "remote/model.h"

#include <fmt/format.h>

#include <utility>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "common/on_cancel.h"
#include "remote/address.h"
#include "remote/call.h"
#include "remote/errors.h"
#include "remote/metadata.h"

namespace wasinn::remote {

using backend::Error;

namespace {

// Only the host names addresses: a guest's bytes, whatever they say, have no path.
Address AddressOf(std::span<const wasinn_blob> blobs) {
  if (blobs.size() != 1)
    throw Error(WASINN_INVALID_ARGUMENT, fmt::format("expected one address, found {}", blobs.size()));
  if (blobs.front().path == nullptr) {
    throw Error(WASINN_SECURITY, "a remote model is an address, which only the host's configuration names");
  }
  const wasinn_blob& blob = blobs.front();
  return ParseAddress({reinterpret_cast<const char*>(blob.data), blob.size});
}

Reply Ask(Servers& servers, const wasinn_load_options& options, Request request) {
  const auto call = std::make_shared<Call>(servers, std::move(request), std::nullopt, true);
  const backend::OnCancel on_cancel(options, [&] { call->Cancel(); });
  Answered answered = call->Wait();
  const grpc::Status& status = answered.reply.status;
  const std::string& server = servers.endpoint(answered.server);
  if (status.error_code() == grpc::CANCELLED) {
    throw Error(WASINN_TIMEOUT,
                fmt::format("{}: the server had not told the model's inputs and outputs in time", server));
  }
  if (!status.ok()) ThrowStatus(status, server);
  return std::move(answered.reply);
}

std::string Described(const Servers& servers, const Metadata& metadata) {
  const nlohmann::json described = {{"servers", servers.address().endpoints},
                                    {"model", servers.address().model},
                                    {"version", servers.address().version},
                                    {"platform", Quoted(metadata.platform)}};
  return described.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Model::Model(Host& host, std::span<const wasinn_blob> blobs, const wasinn_load_options& options) : host_(host) {
  const Address address = AddressOf(blobs);
  const ModelConfig config =
      ModelConfig::Parse(host.config(), options.host_config, address.transport, address.is_secure);
  servers_ = std::make_unique<Servers>(address, config, host.connections(), host.log());
  protocol_ = MakeProtocol(address, options.host_config, host.log());
  const Metadata metadata =
      protocol_->AskMetadata([&](Request request) { return Ask(*servers_, options, std::move(request)); });
  signature_ = std::make_unique<Signature>(metadata);
  description_ = Described(*servers_, metadata);
  if (servers_->size() == 1) return;
  checks_.emplace(*servers_, *protocol_);
  host_.health().Add(*checks_);
}

Model::~Model() {
  if (checks_) host_.health().Remove(*checks_);
}

}  // namespace wasinn::remote
