#include "core/metrics/metrics.h"

namespace wasinn::core {

std::shared_ptr<ModelMetrics> Metrics::OfModel(const std::string& name, uint32_t version) {
  const std::lock_guard lock(mutex_);
  std::erase_if(models_, [](const auto& one) { return one.second.expired(); });
  std::weak_ptr<ModelMetrics>& known = models_[{name, version}];
  if (auto model = known.lock()) return model;
  auto made = std::make_shared<ModelMetrics>(name, version);
  known = made;
  return made;
}

std::vector<std::shared_ptr<const ModelMetrics>> Metrics::models() const {
  std::vector<std::shared_ptr<const ModelMetrics>> models;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, weak] : models_) {
    if (auto model = weak.lock()) models.push_back(std::move(model));
  }
  models.push_back(of_guests_);
  return models;
}

void LoadMeter::End(wasinn_code code, const std::string& backend) {
  const SteadyClock::time_point now = SteadyClock::now();
  model_->Of(backend).CountLoad(code, now - began_);
  metrics_.spans().Report("load", code, guest_, 0, *model_, backend, began_, now);
}

}  // namespace wasinn::core
