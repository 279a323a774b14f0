#include "openvino/model.h"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/error.h"
#include "openvino/core.h"
#include "openvino/device.h"

namespace wasinn::openvino {

using backend::Error;

Model::Model(const Host& host, std::span<const wasinn_blob> blobs, const wasinn_load_options& options) : host_(host) {
  ModelConfig config = ModelConfig::Parse(options.host_config, options.guest_config, host.config());
  SourceModel source = ReadSource(host, blobs, options);
  // Nothing that a guest sends fills the host's disk.
  if (blobs.front().path == nullptr) config.cache_dir.reset();
  reservation_ = std::move(source.reservation);
  weights_ = std::move(source.weights);
  may_loop_ = source.may_loop;
  has_state_ = source.has_state;
  state_bytes_ = source.state_bytes;
  compiled_ = std::make_unique<Compiled>(host.library(), host.core(), std::move(source.model));
  const int streams = config.Streams(compiled_->has_open_shapes(), host.config().budget);
  if (config.device) {
    const std::string device = WithoutMissing(host.library(), *config.device);
    compiled_->CompileFor(device, PropertiesOf(device, config, streams));
  } else {
    CompileOnTarget(config, streams, options);
  }
  single_thread_ = Property("INFERENCE_NUM_THREADS") == "1";
  auto signature = std::make_unique<Signature>(host.library(), compiled_->get());
  signature->set_max_parallel(MaxParallel());
  signature_ = std::move(signature);
  MakeDescription();
}

// Twice what OpenVINO runs at once, so that the next is there when one is done. What is more would wait in OpenVINO.
uint32_t Model::MaxParallel() const {
  int streams = 1;  // of open shapes: contexts compute in turns
  if (!compiled_->has_open_shapes()) {
    const std::string text = Property("NUM_STREAMS");
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), streams);
    if (error != std::errc() || streams < 1) return 0;  // a device that does not say
  }
  return 2 * static_cast<uint32_t>(streams);
}

void Model::CompileOnTarget(const ModelConfig& config, int streams, const wasinn_load_options& options) {
  std::vector<std::string> devices;
  std::string missing;
  try {
    devices = DevicesOf(options.target, host_);
  } catch (const Error& error) {
    if (options.cpu_fallback == 0) throw;
    missing = error.what();
  }
  if (options.cpu_fallback != 0 && (devices.empty() || devices.back() != "CPU")) devices.emplace_back("CPU");
  for (size_t i = 0; i < devices.size(); ++i) {
    const bool last = i + 1 == devices.size();
    if (last && !missing.empty()) host_.WarnOfFallback(missing);
    try {
      return compiled_->CompileFor(devices[i], PropertiesOf(devices[i], config, streams));
    } catch (const Error& error) {
      if (last) throw;
      missing = error.what();
    }
  }
}

// Empty where the device has none.
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
  // The name is the model's own, and may be no UTF-8.
  description_ = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace wasinn::openvino
