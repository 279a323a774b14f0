#include "core/metrics/meter.h"

namespace wasinn::core {

Meter::Meter(const Of& of, const GraphMetrics* graph)
    : metrics_(of.metrics), guest_(of.guest), graph_(of.metrics == nullptr ? nullptr : graph) {
  if (graph_ == nullptr) return;
  if (metrics_->timed()) times_ = std::make_unique<Times>();
  graph_->series().Join(*this);
}

Meter::~Meter() {
  if (graph_ != nullptr) graph_->series().Leave(*this);
}

void Meter::CountFailure(Event event, wasinn_code code) {
  if (graph_ != nullptr) graph_->series().CountFailure(event, code);
}

void Meter::LookAtBegin(Stage stage) {
  if (has_computed_ && stage != Stage::kOutput) {
    has_computed_ = false;
    if (metrics_->spans().wanted()) inference_ = metrics_->spans().NewInference();
  }
  began_[static_cast<size_t>(stage)] = next_ = SteadyClock::now();
}

void Meter::LookAtEnd(Stage stage, wasinn_code code, SteadyClock::time_point now) {
  const bool follows = stage == Stage::kQueue || stage == Stage::kCompute;
  const SteadyClock::time_point began = follows ? next_ : began_[static_cast<size_t>(stage)];
  next_ = now;
  (*times_)[static_cast<size_t>(stage)].Observe(now - began);
  if (stage == Stage::kInference) has_computed_ = true;
  metrics_->spans().Report(StageName(stage), code, guest_, inference_, graph_->model(), graph_->backend(), began, now);
}

}  // namespace wasinn::core
