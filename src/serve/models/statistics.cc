#include "serve/models/statistics.h"

namespace wasinn::serve {

using nlohmann::json;

Statistics::Model& Statistics::Find(const wasinn_span& span) {
  const auto found = models_.find(std::pair(std::string_view(span.model), span.version));
  return found != models_.end() ? found->second : models_[Key(span.model, span.version)];
}

void Statistics::Add(const wasinn_span& span) {
  const std::string_view name = span.name;
  const bool is_inference = name == "inference";
  if (span.inference == 0 && !is_inference) return;
  const std::lock_guard lock(mutex_);
  Model& model = Find(span);
  Duration* duration = nullptr;
  if (is_inference) {
    duration = span.code == WASINN_OK ? &model.success : &model.fail;
    model.last = std::chrono::system_clock::now();
    if (span.code == WASINN_OK) model.latencies.Observe(std::chrono::nanoseconds(span.duration_ns));
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

void Statistics::Add(const std::string& guest, bool succeeded, std::chrono::nanoseconds took) {
  const std::lock_guard lock(mutex_);
  Model& model = models_[Key(guest, 1)];
  model.last = std::chrono::system_clock::now();
  if (succeeded) model.latencies.Observe(took);
  for (Duration* duration : {succeeded ? &model.success : &model.fail, &model.infer}) {
    ++duration->count;
    duration->ns += static_cast<uint64_t>(took.count());
  }
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

json Statistics::All(const std::function<bool(const std::string& model)>& sees) const {
  json models = json::array();
  const std::lock_guard lock(mutex_);
  for (const auto& [key, model] : models_) {
    if (sees(key.first)) models.push_back(ToJson(key, model));
  }
  return {{"model_stats", std::move(models)}};
}

json Statistics::Of(const std::string& model, const std::string& version, const std::string& highest) const {
  json models = json::array();
  const std::lock_guard lock(mutex_);
  for (auto at = models_.lower_bound(Key(model, 0)); at != models_.end() && at->first.first == model; ++at) {
    if (version.empty() || version == std::to_string(at->first.second)) models.push_back(ToJson(at->first, at->second));
  }
  if (models.empty()) models.push_back(ToJson({model, static_cast<uint32_t>(std::stoul(highest))}, {}));
  return {{"model_stats", std::move(models)}};
}

std::chrono::system_clock::time_point Statistics::Last(const std::string& model, uint32_t version) const {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(std::pair(std::string_view(model), version));
  return found == models_.end() ? std::chrono::system_clock::time_point() : found->second.last;
}

Statistics::Seen Statistics::Look(const std::string& model, uint32_t version) const {
  const std::lock_guard lock(mutex_);
  const auto found = models_.find(std::pair(std::string_view(model), version));
  if (found == models_.end()) return {};
  const Model& of = found->second;
  Seen seen{of.success.count, of.fail.count, {}};
  seen.latencies.Add(of.latencies);
  return seen;
}

}  // namespace wasinn::serve
