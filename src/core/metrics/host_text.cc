
#include "core/host/host.h"
#include "core/metrics/exposition.h"
#include "core/metrics/metrics.h"

namespace wasinn::core {
namespace {

using Labels = Exposition::Labels;
constexpr auto kCounter = Exposition::Type::kCounter, kGauge = Exposition::Type::kGauge,
               kHistogram = Exposition::Type::kHistogram;

// All values of one series at one time.
struct Read {
  std::shared_ptr<const ModelMetrics> model;
  std::string version, backend;
  Series::Reading reading;

  Labels labels() const { return {{"model", model->name()}, {"version", version}, {"backend", backend}}; }
};

std::vector<Read> ReadAll(const Metrics& metrics) {
  std::vector<Read> all;
  for (const std::shared_ptr<const ModelMetrics>& model : metrics.models()) {
    const std::string version = model->version() ? fmt::to_string(*model->version()) : "";
    model->WithEach([&](const std::string& backend, const Series& series) {
      all.push_back({model, version, backend, series.Read()});
    });
  }
  return all;
}

uint64_t Load(const std::atomic<uint64_t>& value) { return value.load(std::memory_order_relaxed); }

// Adds only outcomes that have happened.
void AddOutcomes(Exposition& text, const Labels& labels, const Series::Outcomes& outcomes) {
  for (size_t code = 0; code < outcomes.size(); ++code) {
    // Success is there from the beginning, so that a rate has a first value.
    if (outcomes[code] == 0 && code != WASINN_OK) continue;
    Labels with_code = labels;
    with_code.emplace_back("code", CodeName(static_cast<wasinn_code>(code)));
    text.Sample(with_code, outcomes[code]);
  }
}

void AddInferences(Exposition& text, const std::vector<Read>& all) {
  text.Family("wasinn_inferences_total", kCounter, "Computes that have ended, by outcome.");
  for (const Read& one : all) AddOutcomes(text, one.labels(), one.reading.events[size_t(Event::kInference)]);
  text.Family("wasinn_generation_steps_total", kCounter, "Steps of models that generate piece by piece, by outcome.");
  for (const Read& one : all) AddOutcomes(text, one.labels(), one.reading.events[size_t(Event::kStep)]);
}

// Only models that had batches get samples.
void AddBatches(Exposition& text, const std::vector<Read>& all) {
  const auto add = [&](const char* name, const char* help, uint64_t Series::Reading::* value) {
    text.Family(name, kCounter, help);
    for (const Read& one : all) {
      if (one.reading.batches > 0) text.Sample(one.labels(), one.reading.*value);
    }
  };
  add("wasinn_batches_total", "Batches that were computed, of one inference or several.", &Series::Reading::batches);
  add("wasinn_batch_rows_total", "Rows of these batches.", &Series::Reading::batch_rows);
}

void AddStages(Exposition& text, const std::vector<Read>& all) {
  static constexpr struct {
    Stage stage;
    const char *name, *help;
  } kFamilies[] = {
      {Stage::kInference, "wasinn_inference_duration_seconds",
       "Time of one compute, from the guest's call to its return."},
      {Stage::kQueue, "wasinn_inference_queue_duration_seconds", "Time of waiting for a turn to compute."},
      {Stage::kInput, "wasinn_inference_compute_input_duration_seconds",
       "Time of checking, copying and binding inputs, in one call."},
      {Stage::kCompute, "wasinn_inference_compute_infer_duration_seconds", "Time of computing in the framework."},
      {Stage::kOutput, "wasinn_inference_compute_output_duration_seconds",
       "Time of copying or taking outputs, in one call."}};
  for (const auto& family : kFamilies) {
    text.Family(family.name, kHistogram, family.help);
    for (const Read& one : all) text.Sample(one.labels(), one.reading.stages[size_t(family.stage)]);
  }
}

void AddModels(Exposition& text, const std::vector<Read>& all) {
  text.Family("wasinn_model_loads_total", kCounter, "Attempts to load and compile a model, by outcome.");
  for (const Read& one : all) AddOutcomes(text, one.labels(), one.reading.loads);
  text.Family("wasinn_model_load_duration_seconds", kHistogram, "Time of one such attempt.");
  for (const Read& one : all) text.Sample(one.labels(), one.reading.load_times);
  const auto add = [&](const char* name, const char* help, size_t Series::Reading::* value) {
    text.Family(name, kGauge, help);
    for (const Read& one : all) text.Sample(one.labels(), one.reading.*value);
  };
  add("wasinn_model_graphs", "Compiled copies of the model that are loaded.", &Series::Reading::graphs);
  add("wasinn_model_contexts", "Execution contexts that guests have for it.", &Series::Reading::contexts);
  add("wasinn_model_inferences_waiting", "Computes that wait for the model, which runs only so many at once.",
      &Series::Reading::waiting);
}

void AddOne(Exposition& text, const char* name, Exposition::Type type, uint64_t value, const char* help) {
  text.Family(name, type, help);
  text.Sample(Labels(), value);
}

void AddGuests(Exposition& text, const Guests::Sum& guests) {
  AddOne(text, "wasinn_guests", kGauge, guests.open, "Guests that are open.");
  AddOne(text, "wasinn_graphs", kGauge, guests.graphs, "Graphs that guests hold.");
  AddOne(text, "wasinn_contexts", kGauge, guests.contexts, "Execution contexts that guests hold.");
  AddOne(text, "wasinn_tensors", kGauge, guests.tensors, "Tensors that components hold.");
  text.Family("wasinn_held_bytes", kGauge, "Memory that guests are charged for, as limits count it.");
  text.Sample({{"of", "models"}}, guests.model_bytes);
  text.Sample({{"of", "tensors"}}, guests.tensor_bytes);
  text.Family("wasinn_copies_total", kCounter, "Copies of tensors between guests and the host.");
  text.Sample({{"direction", "in"}}, guests.copies_in);
  text.Sample({{"direction", "out"}}, guests.copies_out);
  text.Family("wasinn_copied_bytes_total", kCounter, "Bytes of these copies.");
  text.Sample({{"direction", "in"}}, guests.bytes_in);
  text.Sample({{"direction", "out"}}, guests.bytes_out);
  AddOne(text, "wasinn_model_copied_bytes_total", kCounter, guests.model_bytes_copied,
         "Bytes of models copied out of guests' memory.");
}

void AddRefusals(Exposition& text, const Metrics& metrics, const isolation::Counters& workers) {
  text.Family("wasinn_refusals_total", kCounter, "Refused requests, by the setting that limits them.");
  const auto& refusals = metrics.refusals;
  const std::pair<const char*, uint64_t> kLimits[] = {{"max_contexts", Load(refusals.contexts)},
                                                      {"max_errors", Load(refusals.errors)},
                                                      {"max_graphs", Load(refusals.graphs)},
                                                      {"max_model_bytes", Load(refusals.model_bytes)},
                                                      {"max_tensor_bytes", Load(refusals.tensor_bytes)},
                                                      {"max_tensors", Load(refusals.tensors)},
                                                      {"max_total_bytes", Load(refusals.total_bytes)},
                                                      {"max_workers", Load(workers.refused)}};
  for (const auto& [limit, count] : kLimits) text.Sample({{"limit", limit}}, count);
}

void AddHost(Exposition& text, Host& host) {
  const Metrics& metrics = host.metrics();
  AddOne(text, "wasinn_inferences_running", kGauge, host.scheduler().running(), "Computes that have their turn.");
  AddOne(text, "wasinn_inferences_waiting", kGauge, host.scheduler().waiting(),
         "Computes that wait for their turn, since no more than max_computes run at once.");
  AddGuests(text, host.guests().Read());
  text.Family("wasinn_errors_total", kCounter, "Calls of guests that ended in an error, by its code.");
  for (size_t code = 1; code < kCodes; ++code) {
    const uint64_t count = Load(metrics.errors[code]);
    if (count > 0) text.Sample({{"code", CodeName(static_cast<wasinn_code>(code))}}, count);
  }
  const isolation::Counters& workers = host.backends().workers();
  AddRefusals(text, metrics, workers);
  AddOne(text, "wasinn_log_lines_dropped_total", kCounter, Load(metrics.log_lines_dropped),
         "Errors of guests that the log's limits left out.");
  AddOne(text, "wasinn_workers", kGauge, workers.alive.load(std::memory_order_relaxed),
         "Worker processes that run models outside of the host.");
  AddOne(text, "wasinn_workers_started_total", kCounter, Load(workers.started), "Workers that were started.");
  AddOne(text, "wasinn_workers_lost_total", kCounter, Load(workers.lost),
         "Workers that ended while a guest needed them.");
  AddOne(text, "wasinn_workers_restarted_total", kCounter, Load(workers.restarted),
         "Workers that were started after a lost one.");
}

}  // namespace

std::string MetricsText(Host& host) {
  Exposition text;
  const std::vector<Read> all = ReadAll(host.metrics());
  AddInferences(text, all);
  AddBatches(text, all);
  if (host.metrics().timed()) AddStages(text, all);
  AddModels(text, all);
  AddHost(text, host);
  return std::move(text).Take();
}

}  // namespace wasinn::core
