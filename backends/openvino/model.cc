#include "openvino/model.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/error.h"
#include "common/private_folder.h"
#include "common/target.h"

namespace wasinn::openvino {

namespace {

// Files in it are trusted like the model itself.
void CheckCacheFolder(const backend::Log& log, ModelConfig* config) {
  if (!config->cache_dir) return;
  try {
    (void)backend::OpenPrivateFolder(*config->cache_dir);
  } catch (const backend::Error& error) {
    log.Write(WASINN_LOG_WARNING, fmt::format("openvino: cache_dir: no compiled model is kept: {}", error.what()));
    config->cache_dir.reset();
  }
}

}  // namespace

Model::Model(const Host& host, std::span<const wasinn_builder> builders, const wasinn_load_options& options)
    : ModelBase(host) {
  ModelConfig config = ModelConfig::Parse(options.host_config, options.guest_config, host.config());
  SourceModel source = ReadSource(host, builders, options);
  // A guest's bytes never fill the host's disk.
  if (builders.front().path == nullptr) config.cache_dir.reset();
  CheckCacheFolder(host.log(), &config);
  weights_ = std::move(source.weights);
  may_loop_ = source.may_loop;
  has_state_ = source.has_state;
  state_bytes_ = source.state_bytes;
  compiled_ = std::make_unique<Compiled>(host.library(), host.core(), std::move(source.model));
  const int streams = config.Streams(compiled_->has_open_shapes(), host.config().budget);
  const auto compile = [&](const std::string& device) {
    compiled_->CompileFor(device, PropertiesOf(device, config, streams));
    on_cpu_ = device == "CPU";
  };
  if (config.device) {
    compile(WithoutMissing(host.library(), *config.device));
  } else {
    backend::LoadOnTarget(
        options, host.fallback(), /*cpu=*/std::string("CPU"), [&] { return DevicesOf(options.target, host); }, compile);
  }
  single_thread_ = Property("INFERENCE_NUM_THREADS") == "1";
  signature_ = std::make_unique<Signature>(host.library(), compiled_->get());
  signature_->set_max_parallel(MaxParallel());
  if (!has_state_) signature_->set_shares_slots();
  signature_->set_stateful(has_state_);
  MakeDescription();
}

// Twice as many as OpenVINO runs at once, so that the next is ready when one is done. Others would wait inside.
uint32_t Model::MaxParallel() const {
  int streams = 1;  // with open shapes: contexts compute in turns
  if (!compiled_->has_open_shapes()) {
    const std::string text = Property("NUM_STREAMS");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), streams);
    if (error != std::errc() || streams < 1) return 0;  // the device does not report it
  }
  return 2 * static_cast<uint32_t>(streams);
}

// Empty if the device has none.
std::string Model::Property(const char* key) const {
  char* text = nullptr;
  if (host_.api().ov_compiled_model_get_property(compiled_->get(), key, &text) != OK || text == nullptr) return "";
  std::string value = text;
  host_.api().ov_free(text);
  return value;
}

void Model::MakeDescription() {
  constexpr std::pair<const char*, const char*> kProperties[] = {
      {"device", "EXECUTION_DEVICES"},     {"precision", "INFERENCE_PRECISION_HINT"},
      {"performance", "PERFORMANCE_HINT"}, {"threads_of_all_streams", "INFERENCE_NUM_THREADS"},
      {"streams", "NUM_STREAMS"},          {"name", "NETWORK_NAME"}};
  nlohmann::ordered_json json = {{"framework", "OpenVINO " + host_.library().version()}};
  for (const auto& [name, key] : kProperties) {
    const std::string value = Property(key);
    if (!value.empty()) json[name] = value;
  }
  json["stateful"] = has_state_;
  // The name is the model's own, and may be invalid UTF-8.
  description_ = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace wasinn::openvino
