#include "core/metrics/metrics.h"

#include <unistd.h>

#include "core/inference/scheduler.h"
#include "core/metrics/meter.h"

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

void Series::Join(const Meter& meter) {
  const std::lock_guard lock(mutex_);
  meters_.insert(&meter);
}

void Series::Leave(const Meter& meter) {
  const std::lock_guard lock(mutex_);
  if (meters_.erase(&meter) != 0) Add(meter, gone_);
}

void Series::CountLoad(wasinn_code code, std::chrono::nanoseconds duration) {
  const std::lock_guard lock(mutex_);
  ++gone_.loads[static_cast<size_t>(code)];
  load_times_.Observe(duration);
}

void Series::Add(const Meter& meter, Reading& sum) {
  for (size_t i = 0; i < kEvents; ++i) sum.events[i][WASINN_OK] += meter.succeeded(static_cast<Event>(i));
  sum.batches += meter.batches();
  sum.batch_rows += meter.batch_rows();
  if (meter.times() == nullptr) return;
  for (size_t i = 0; i < kStages; ++i) sum.stages[i].Add((*meter.times())[i]);
}

Series::Reading Series::Read() const {
  const std::lock_guard lock(mutex_);
  Reading sum = gone_;
  for (const Meter* meter : meters_) Add(*meter, sum);
  for (size_t event = 0; event < kEvents; ++event) {
    for (size_t code = 0; code < kCodes; ++code) {
      sum.events[event][code] += failures_[event][code].load(std::memory_order_relaxed);
    }
  }
  sum.load_times.Add(load_times_);
  sum.graphs = graphs_.size();
  sum.contexts = meters_.size();
  for (const Scheduler* scheduler : graphs_) {
    if (scheduler != nullptr) sum.waiting += scheduler->waiting();
  }
  return sum;
}

void Series::Join(const Scheduler* scheduler) {
  const std::lock_guard lock(mutex_);
  graphs_.insert(scheduler);
}

void Series::Leave(const Scheduler* scheduler) {
  const std::lock_guard lock(mutex_);
  graphs_.erase(graphs_.find(scheduler));
}

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

namespace {

uint64_t Nanoseconds(SteadyClock::duration duration) {
  return static_cast<uint64_t>(std::chrono::nanoseconds(duration).count());
}

}  // namespace

const char* StageName(Stage stage) {
  static constexpr const char* kNames[kStages] = {"inference", "queue", "compute_input", "compute_infer",
                                                  "compute_output"};
  return kNames[static_cast<size_t>(stage)];
}

void Spans::Report(const char* name, wasinn_code code, const GuestTag& guest, uint64_t inference,
                   const ModelMetrics& model, const std::string& backend, SteadyClock::time_point began,
                   SteadyClock::time_point ended) const {
  if (function_ == nullptr) return;
  const wasinn_span span{.struct_size = sizeof(wasinn_span),
                         .code = code,
                         .name = name,
                         .start_ns = Nanoseconds(began.time_since_epoch()),
                         .duration_ns = Nanoseconds(ended - began),
                         .thread = static_cast<uint64_t>(::gettid()),
                         .guest = guest.number,
                         .guest_name = guest.name,
                         .inference = inference,
                         .model = model.name().c_str(),
                         .version = model.version().value_or(0),
                         .backend = backend.c_str()};
  function_(user_, &span);
}

}  // namespace wasinn::core
