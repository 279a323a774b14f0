#include "serve/statistics.h"

#include <string_view>
#include <utility>

namespace wasinn::serve {

using nlohmann::json;

void Statistics::Add(const wasinn_span& span) {
  const std::string_view name = span.name;
  const bool is_inference = name == "inference";
  if (span.inference == 0 && !is_inference) return;
  const std::lock_guard lock(mutex_);
  Model& model = models_[Key(span.model, span.version)];
  Duration* duration = nullptr;
  if (is_inference) {
    duration = span.code == WASINN_OK ? &model.success : &model.fail;
    model.last = std::chrono::system_clock::now();
  } else if (name == "queue") {
    duration = &model.queue;
  } else if (name == "compute_input") {
    duration = &model.input;
  } else if (name == "compute_infer") {
    duration = &model.infer;
  } else if (name == "compute_output") {
    duration = &model.output;
  }
  if (duration == nullptr) return;
  ++duration->count;
  duration->ns += span.duration_ns;
}

json Statistics::ToJson(const Key& key, const Model& model) {
  const auto of = [](const Duration& duration, uint64_t count) { return json{{"count", count}, {"ns", duration.ns}}; };
  const uint64_t count = model.success.count;
  const auto last = std::chrono::duration_cast<std::chrono::milliseconds>(model.last.time_since_epoch()).count();
  return {{"name", key.first},
          {"version", std::to_string(key.second)},
          {"last_inference", last},
          {"inference_count", count},
          {"execution_count", model.infer.count},
          {"inference_stats",
           {{"success", of(model.success, count)},
            {"fail", of(model.fail, model.fail.count)},
            {"queue", of(model.queue, count)},
            {"compute_input", of(model.input, count)},
            {"compute_infer", of(model.infer, count)},
            {"compute_output", of(model.output, count)},
            {"cache_hit", of({}, 0)},
            {"cache_miss", of({}, 0)}}},
          {"batch_stats", json::array()}};
}

json Statistics::All() const {
  json models = json::array();
  const std::lock_guard lock(mutex_);
  for (const auto& [key, model] : models_) models.push_back(ToJson(key, model));
  return {{"model_stats", std::move(models)}};
}

json Statistics::Of(const std::string& model, const std::string& version) const {
  json models = json::array();
  const std::lock_guard lock(mutex_);
  for (auto at = models_.lower_bound(Key(model, 0)); at != models_.end() && at->first.first == model; ++at) {
    if (version.empty() || version == std::to_string(at->first.second)) models.push_back(ToJson(at->first, at->second));
  }
  if (models.empty()) {  // nobody has computed it yet
    models.push_back(ToJson({model, static_cast<uint32_t>(version.empty() ? 1 : std::stoul(version))}, {}));
  }
  return {{"model_stats", std::move(models)}};
}

}  // namespace wasinn::serve
