#include "remote/model.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <inference.pb.h>
#include "common/error.h"
#include "common/on_cancel.h"
#include "remote/address.h"
#include "remote/call.h"
#include "remote/errors.h"
#include "remote/metadata.h"
#include "remote/request.h"

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

Metadata AskMetadata(Servers& servers, const wasinn_load_options& options) {
  inference::ModelMetadataRequest request;
  request.set_name(servers.address().model);
  request.set_version(servers.address().version);
  const auto call = std::make_shared<Call>(servers, "ModelMetadata", ToBuffer(request), std::nullopt, true);
  const backend::OnCancel on_cancel(options, [&] { call->Cancel(); });
  const Answered answered = Wait(*call);
  const std::string& server = servers.endpoint(answered.server);
  if (answered.status.error_code() == grpc::CANCELLED) {
    throw Error(WASINN_TIMEOUT,
                fmt::format("{}: the server had not told the model's inputs and outputs in time", server));
  }
  if (!answered.status.ok()) ThrowStatus(answered.status, server);
  return ReadMetadata(answered.message);
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
  const ModelConfig config = ModelConfig::Parse(host.config(), options.host_config, address.is_secure);
  servers_ = std::make_unique<Servers>(address, config, host.connections(), host.log());
  const Metadata metadata = AskMetadata(*servers_, options);
  signature_ = std::make_unique<Signature>(metadata);
  description_ = Described(*servers_, metadata);
  if (servers_->size() == 1) return;
  checks_.emplace(*servers_);
  host_.health().Add(*checks_);
}

Model::~Model() {
  if (checks_) host_.health().Remove(*checks_);
}

}  // namespace wasinn::remote
