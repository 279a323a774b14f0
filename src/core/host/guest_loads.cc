// The part of a guest that loads models.
#include <utility>

#include "core/host/guest.h"
#include "core/models/formats.h"

namespace wasinn::core {

Status Guest::CopyParts(std::span<const std::span<const uint8_t>> parts, Reservation& bytes,
                        std::vector<std::shared_ptr<const Blob>>& builders) {
  uint64_t total = 0;
  for (std::span<const uint8_t> part : parts) total += part.size();  // no overflow: all are in one guest's memory
  if (Status status = bytes.Resize(total); !status.ok()) {
    return status.With(fmt::format(
        "{}; a large model should be registered with the host, under a name (--model NAME=PATH)", status.message()));
  }
  for (std::span<const uint8_t> part : parts) {
    if (policy_.loads_in_process()) {
      builders.push_back(Blob::Copy(part));
      continue;
    }
    Result<std::shared_ptr<const Blob>> sealed = Blob::CopySealed(part);  // shared with the worker
    if (!sealed) return std::move(sealed.error());
    builders.push_back(std::move(*sealed));
  }
  model_bytes_copied_.fetch_add(total, std::memory_order_relaxed);
  return Status();
}

Status Guest::CheckFormat(std::string_view word) const {
  return host_->backends().CheckFormat(FormatName(word), WASINN_ERROR_INVALID_ENCODING, wait());
}

Result<uint32_t> Guest::Load(std::span<const std::span<const uint8_t>> parts, std::string_view encoding,
                             wasinn_target target) {
  RETURN_IF_ERROR(policy_.CheckLoad(target));
  RETURN_IF_ERROR(CheckFormat(encoding));
  ASSIGN_OR_RETURN(Loading loading, BeginLoad(parts, encoding, target));
  return EndLoad(std::move(loading));
}

Result<Guest::Loading> Guest::BeginLoad(std::span<const std::span<const uint8_t>> parts, std::string_view encoding,
                                        wasinn_target target) {
  if (parts.empty()) return Fail(WASINN_ERROR_INVALID_ARGUMENT, "a model needs at least one part");
  Loading loading{.charges = std::make_shared<GraphCharges>(*this),
                  .builders = {},
                  .encoding = std::string(encoding),
                  .target = target};
  RETURN_IF_ERROR(loading.charges->count.Resize(1));
  RETURN_IF_ERROR(CopyParts(parts, loading.charges->bytes, loading.builders));
  return loading;
}

Result<uint32_t> Guest::EndLoad(Loading loading) {
  std::shared_ptr<GraphCharges> charges = std::move(loading.charges);
  ASSIGN_OR_RETURN(SharedGraphs::Shared shared,
                   host_->LoadBytes(loading.builders,
                                    {.encoding = FormatName(loading.encoding),
                                     .target = loading.target,
                                     .cpu_fallback = policy_.cpu_fallback,
                                     .isolated_gpu = policy_.isolated_gpu,
                                     .max_bytes = limits_.max_model_bytes,
                                     .deadline = std::chrono::milliseconds(limits_.load_timeout_ms),
                                     .stop = &closing_,
                                     .account = model_bytes_,
                                     .loader = tag()},
                                    wait(), policy_, policy_.loads_in_process() ? nullptr : workers_.get()));
  // Charges as much as a load without other users.
  if (!shared.made) {
    const uint64_t bytes = charges->bytes.held() + shared.graph->kept();
    RETURN_IF_ERROR(charges->bytes.Resize(bytes));
  }
  return AddGraph(std::move(charges), {.graph = std::move(shared.graph), .context_config = {}, .outputs = {}});
}

Result<uint32_t> Guest::LoadByName(std::string_view name, const std::string& config) {
  ASSIGN_OR_RETURN(std::shared_ptr<GraphCharges> charges, BeginLoadByName(name));
  return EndLoadByName(std::move(charges), name, config);
}

Result<std::shared_ptr<Guest::GraphCharges>> Guest::BeginLoadByName(std::string_view name) {
  if (name.size() > limits_.max_name_bytes) {
    return Fail(WASINN_ERROR_TOO_LARGE, "a model's name of {} bytes is longer than the limit of {}", name.size(),
                limits_.max_name_bytes);
  }
  RETURN_IF_ERROR(policy_.CheckName(name));
  auto charges = std::make_shared<GraphCharges>(*this);
  RETURN_IF_ERROR(charges->count.Resize(1));
  return charges;
}

Result<uint32_t> Guest::EndLoadByName(std::shared_ptr<GraphCharges> charges, std::string_view name,
                                      const std::string& config) {
  if (!host_->models().Find(name)) return std::unexpected(UnknownModel(host_->models(), policy_, name));
  Host::Configured model;
  if (config.empty()) {
    ASSIGN_OR_RETURN(model.graph, host_->LoadNamed(name, wait(), tag()));
  } else {
    ASSIGN_OR_RETURN(model, host_->LoadNamed(name,
                                             {.guest_config = config,
                                              .deadline = std::chrono::milliseconds(limits_.load_timeout_ms),
                                              .stop = &closing_,
                                              .account = model_bytes_,
                                              .loader = tag()},
                                             policy_, charges->bytes));
  }
  return AddGraph(std::move(charges), std::move(model));
}

// The graph carries its charges: contexts and taken outputs keep the graph, so the charges end with the last of them.
Result<uint32_t> Guest::AddGraph(std::shared_ptr<GraphCharges> charges, Host::Configured model) {
  charges->graph = std::move(model.graph);
  const Graph* const charged = charges->graph.get();
  model.graph = {std::move(charges), charged};
  return graphs_.Insert(std::make_shared<GuestGraph>(std::move(model)));
}

}  // namespace wasinn::core
