#include "onnx/model.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>
#include <vector>

#include "base/on_cancel.h"
#include "common/config.h"
#include "common/dtype.h"
#include "common/model_bytes.h"
#include "common/target.h"
#include "common/throw.h"
#include "onnx/call_scope.h"
#include "onnx/external_files.h"
#include "onnx/kept_model.h"

namespace wasinn::onnx {

using backend::Error;
using backend::Throw;

// The model's bytes, and options for its load.
struct Model::Source {
  std::span<const uint8_t> bytes;
  std::string folder;  // of the file with the bytes
  ModelScan scan;
  ModelConfig config;
  Trust trust;
  ExternalFiles external;
  const wasinn_load_options& options;
};

namespace {

// Copies of weights that ONNX Runtime makes in its allocator: unchanged, packed for its kernels, reordered.
constexpr uint64_t kCopiesOfWeights = 4;

// A cache must not stop a model from loading: of its errors, only the load's own deadline counts.
void RethrowTimeout(const std::exception& error) {
  const auto* const own = dynamic_cast<const Error*>(&error);
  if (own != nullptr && own->code() == WASINN_ERROR_TIMEOUT) throw Error(*own);
}

// Throws the message of a failed load, with advice.
[[noreturn]] void FailLoading(const OrtLibrary& library, OrtStatus* status,
                              const std::set<std::string>& external_files) {
  wasinn_code code = WASINN_ERROR_RUNTIME;
  const std::string words = library.Message(status, &code);
  // With the file's version and the highest that it supports.
  if (words.contains("Unsupported model IR version") ||
      words.contains("is under development and support for this is limited") ||
      words.contains("Current official support for domain")) {
    throw Error(code, backend::TooNew(words, "ONNX Runtime", library.version(),
                                      "export the model again with an older opset and IR version (torch.onnx.export's "
                                      "opset_version, onnx.version_converter)"));
  }
  if (words.contains("is not a registered function/op")) {
    Throw(code, "loading the model: {}: not one of ONNX Runtime {}. {}", words, library.version(),
          backend::kOpLibrariesAdvice);
  }
  if (external_files.empty()) Throw(code, "loading the model: {}", words);
  Throw(code, "loading the model with weights in {}: {}", fmt::join(external_files, ", "), words);
}

// The classes of outputs that are maps, in the order of their columns.
nlohmann::ordered_json ClassesOf(const Signature& signature) {
  nlohmann::ordered_json all;
  for (const Port& port : signature.outputs()) {
    for (const std::string& name : port.classes.names) {
      if (port.classes.are_texts) {
        all[port.name].push_back(name);
      } else {
        all[port.name].push_back(std::stoll(name));
      }
    }
  }
  return all;
}

uint64_t MemoryForLoading(uint64_t max_bytes, size_t model_bytes) {
  if (max_bytes == 0) return UINT64_MAX;
  return backend::AddSat(max_bytes, kCopiesOfWeights * model_bytes);
}

// ONNX Runtime gives each part of a model to the first provider that can compute it, and the CPU is the last.
std::string DeviceOf(const Providers& providers) {
  std::string device;
  for (const backend::Config::Named& provider : providers) {
    if (UsesDevice({provider})) device += provider.name + ",";
  }
  return device + "cpu";
}

}  // namespace

// If this throws, the destructor runs: a session without an owner ends in its turn, too.
Model::Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options)
    : Model(host) {
  const wasinn_builder& builder = backend::OneBuilder(builders, options, "onnx", "an ONNX model");
  const Trust trust = builder.path == nullptr ? Trust::kGuest : Trust::kHost;
  const std::string folder = trust == Trust::kHost ? backend::FolderOf(builder.path) : "";
  ModelScan scan = ScanModel({builder.data, builder.size}, trust);
  ExternalFiles external(scan.external_files, folder);
  const Source source = {
      .bytes = {builder.data, builder.size},
      .folder = folder,
      .scan = std::move(scan),
      .config = ModelConfig::Parse(options.host_config, options.guest_config, host.config()),
      .trust = trust,
      .external = std::move(external),
      .options = options,
  };
  reservation_ = backend::Reservation(host.services(), options.account);
  if (source.config.session.providers) {
    LoadOn(*source.config.session.providers, source);
  } else {
    backend::LoadOnTarget(
        options, host.fallback(), /*cpu=*/Providers(), [&] { return ProvidersOf(options.target, host.library()); },
        [&](const Providers& providers) { LoadOn(providers, source); });
  }
  signature_ = std::make_unique<Signature>(host_.library(), session_.get(), source.scan);
  if (device_memory_) signature_->set_memory(device_memory_->name());
  if (takes_turns_) signature_->set_max_parallel(1);
  MakeDescription();
}

void Model::LoadOn(const Providers& providers, const Source& source) {
  takes_turns_ = UsesWebGpu(providers);
  const DeviceTurn turn(takes_turns_);
  copies_inputs_ = UsesDevice(providers);
  device_ = DeviceOf(providers);
  device_memory_.reset();
  if (LoadKept(providers, source)) return;
  try {
    MakeAnew(providers, source);
  } catch (...) {
    // If WebGPU has found no device, the end of the environment calls a missing object, and the process crashes.
    if (takes_turns_) host_.environment().NeverEnd(host_.log());
    throw;
  }
  device_memory_ = DeviceMemory::Of(host_.library(), session_.get(), providers);
}

void Model::MakeAnew(const Providers& providers, const Source& source) {
  try {
    MakeSession(providers, source, source.bytes, {.folder = source.folder});
  } catch (const Error& error) {
    if (source.trust == Trust::kHost || error.code() != WASINN_ERROR_TOO_LARGE) throw;
    // All its constants at once are too much for the limit, or for the cache. One after another, in each compute, may
    // work.
    MakeSession(providers, source, source.bytes, {.folder = source.folder, .folds = false});
  }
}

bool Model::LoadKept(const Providers& providers, const Source& source) {
  // A guest's bytes never fill the host's disk, and devices make code of their own, which is not in the model.
  if (source.trust == Trust::kGuest || copies_inputs_ || !KeptModel::Wanted(source.config.session)) return false;
  if (!source.config.op_libraries.empty()) return false;  // the cached model's name does not contain them
  std::vector<backend::ModelCache::Bytes> sources = source.external.contents();
  if (sources.empty() != source.scan.external_files.empty()) return false;  // too large for one message of the cache
  sources.insert(sources.begin(), source.bytes);
  std::optional<KeptModel> kept;
  try {
    kept.emplace(host_.library(), source.config.session, sources);
  } catch (const std::exception& error) {
    host_.log().Write(WASINN_LOG_WARNING, fmt::format("cache_dir: no optimized model is kept: {}", error.what()));
    return false;
  }
  return LoadFrom(*kept, providers, source) || LoadInto(*kept, providers, source);
}

bool Model::LoadFrom(const KeptModel& kept, const Providers& providers, const Source& source) {
  try {
    const std::optional<backend::ModelCache::Contents> found = kept.Find();
    if (!found) return false;
    (void)ScanModel(found->bytes(), Trust::kGuest);  // as one that may not name files
    MakeSession(providers, source, found->bytes(), {.is_optimized = true});
    was_kept_ = true;
    return true;
  } catch (const std::exception& error) {
    RethrowTimeout(error);
    host_.log().Write(WASINN_LOG_INFO, fmt::format("a kept model is optimized again: {}", error.what()));
    return false;
  }
}

bool Model::LoadInto(const KeptModel& kept, const Providers& providers, const Source& source) {
  try {
    backend::ModelCache::Draft draft(kept.cache());
    MakeSession(providers, source, source.bytes, {.folder = source.folder, .keep_at = draft.path()});
    draft.KeepAs(kept.name());
  } catch (const std::exception& error) {
    RethrowTimeout(error);
    host_.log().Write(WASINN_LOG_INFO, fmt::format("the optimized model is not kept: {}", error.what()));
  }
  return session_ != nullptr;
}

void Model::MakeSession(const Providers& providers, const Source& source, std::span<const uint8_t> bytes,
                        const Origin& origin) {
  const OrtLibrary& library = host_.library();
  CallScope::Subject subject;
  MemoryBudget budget;
  budget.Begin(host_.NewChargeId(), MemoryForLoading(source.options.max_bytes, bytes.size()));
  subject.log = &host_.log();
  subject.budget = &budget;
  const CallScope scope(subject);
  const auto options = MakeSessionOptions(library, host_.environment(), host_.log(), source.config, providers, origin);
  if (!origin.is_optimized) source.external.AddTo(library, options.get(), !origin.keep_at.empty());
  OrtSession* session = nullptr;
  OrtStatus* status = nullptr;
  {
    const auto interrupt = [&] { library.SetLoadCancelled(options.get()); };
    const base::OnCancel cancel(source.options, library.CanCancelLoad() ? std::function<void()>(interrupt) : nullptr);
    status = library.api().CreateSessionFromArray(host_.environment().get(), bytes.data(), bytes.size(), options.get(),
                                                  &session);
  }
  const std::string_view words = status == nullptr ? "" : library.api().GetErrorMessage(status);
  // The OS process's limit stopped folding, which uses no allocator of this backend.
  const bool no_memory = words.contains("bad_alloc");
  if (status != nullptr && (budget.refused() != 0 || no_memory)) {
    Throw(WASINN_ERROR_TOO_LARGE, "loading the model needs more memory than the {} bytes allowed: {}", budget.limit(),
          library.Message(status));
  }
  if (status != nullptr) FailLoading(library, status, source.scan.external_files);
  session_.reset(session);
  if (source.trust == Trust::kGuest) ChargeSession(source, budget.used());
}

// The model's own bytes already stand for copies of weights, as in the limit of a load.
void Model::ChargeSession(const Source& source, uint64_t held_bytes) {
  const uint64_t own = kCopiesOfWeights * source.bytes.size();
  try {
    reservation_.Resize(held_bytes - std::min(held_bytes, own));
  } catch (...) {
    session_.reset();
    throw;
  }
}

void Model::MakeDescription() {
  nlohmann::ordered_json json = {
      {"framework", "ONNX Runtime " + host_.library().version()}, {"device", device_}, {"stateful", false}};
  if (was_kept_) json["kept"] = true;
  if (const auto classes = ClassesOf(*signature_); !classes.empty()) json["classes"] = classes;
  // Providers' names come from the configuration, those of outputs and classes from the model.
  description_ = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace wasinn::onnx
