#include "cli/run_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/table.h"
#include "settings/text.h"

namespace wasinn::cli {
namespace {

using Json = nlohmann::ordered_json;

const char* WordOf(engines::Exit::Kind kind) {
  switch (kind) {
    case engines::Exit::Kind::kExited:
      return "exited";
    case engines::Exit::Kind::kTrapped:
      return "trapped";
    case engines::Exit::Kind::kInterrupted:
      return "interrupted";
    case engines::Exit::Kind::kFailed:
      break;
  }
  return "failed";
}

std::string TimeOf(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} µs", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

double Seconds(uint64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

void RunReport::Times::Add(const wasinn_span& span) {
  ++count;
  total_ns += span.duration_ns;
  if (span.code != WASINN_OK) ++errors;
}

void RunReport::Begin(std::string module, std::string engine) {
  const std::lock_guard lock(mutex_);
  module_ = std::move(module);
  engine_ = std::move(engine);
  began_ = Clock::now();
}

void RunReport::Add(const wasinn_span& span) {
  const std::string_view name = span.name;
  const bool is_load = name == "load", is_compute = name == "inference";
  if (!is_load && !is_compute && name != "compute_infer") return;  // other steps are inside of these
  const std::lock_guard lock(mutex_);
  Model& model = models_[{span.model, span.version}];
  (is_load ? model.loads : is_compute ? model.computes : model.in_framework).Add(span);
}

void RunReport::Running(wasinn_guest* guest) {
  const std::lock_guard lock(mutex_);
  guest_ = guest;
  is_running_ = true;
  runs_ = Clock::now();
}

void RunReport::End(const engines::Exit& exit, int code) {
  const std::lock_guard lock(mutex_);
  if (is_over_) return;
  is_over_ = true;
  ended_ = Clock::now();
  exit_ = exit;
  code_ = code;
  if (guest_ != nullptr) wasinn_status_free(wasinn_guest_statistics(guest_, &stats_));
  guest_ = nullptr;
}

double RunReport::CompileSeconds() const {
  return std::chrono::duration<double>((is_running_ ? runs_ : ended_) - began_).count();
}
double RunReport::RunSeconds() const { return is_running_ ? std::chrono::duration<double>(ended_ - runs_).count() : 0; }

RunReport::Sum RunReport::Total(const std::string& model) {
  const std::lock_guard lock(mutex_);
  Sum sum = {.errors = stats_.errors};
  for (const auto& [id, its] : models_) {
    const uint64_t computed = its.computes.count - its.computes.errors;
    // A guest's own model has no version, and the guest's name.
    if (id.first != model || id.second == 0) {
      sum.others += computed + its.steps();
    } else {
      sum.computed += computed;
      sum.steps += its.steps();
    }
  }
  return sum;
}

std::string RunReport::ToJson() {
  const std::lock_guard lock(mutex_);
  Json models = Json::array();
  for (const auto& [id, model] : models_) {
    models.push_back({{"name", id.first},
                      {"version", id.second},
                      {"loads", model.loads.count},
                      {"load_seconds", Seconds(model.loads.total_ns)},
                      {"computes", model.computes.count},
                      {"compute_seconds", Seconds(model.computes.total_ns)},
                      {"errors", model.loads.errors + model.computes.errors}});
  }
  const Json json = {{"module", module_},
                     {"engine", engine_},
                     {"outcome", WordOf(exit_.kind)},
                     {"exit_code", code_},
                     {"message", exit_.message},
                     {"start_seconds", CompileSeconds()},
                     {"run_seconds", RunSeconds()},
                     {"computes", stats_.computes},
                     {"errors", stats_.errors},
                     {"input_bytes", stats_.bytes_in},
                     {"output_bytes", stats_.bytes_out},
                     {"model_bytes", stats_.model_bytes_copied},
                     {"models", models}};
  return json.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

std::string RunReport::ToText() {
  const std::lock_guard lock(mutex_);
  std::string text = fmt::format("\n{} on {}: {} with {}; start {}, run {}\n", settings::PrintableName(module_),
                                 engine_, WordOf(exit_.kind), code_, TimeOf(CompileSeconds()), TimeOf(RunSeconds()));
  text += fmt::format("computes {}, bytes in {}, out {}, of its own models {}; errors {}\n", stats_.computes,
                      stats_.bytes_in, stats_.bytes_out, stats_.model_bytes_copied, stats_.errors);
  if (models_.empty()) return text;
  Table table({"MODEL", "LOADS", "TIME", "COMPUTES", "TIME", "EACH", "ERRORS"});
  for (const auto& [id, model] : models_) {
    const Times& computes = model.computes;
    const std::string each =
        computes.count == 0 ? "-" : TimeOf(Seconds(computes.total_ns) / static_cast<double>(computes.count));
    table.Add({settings::PrintableName(id.first) + (id.second == 0 ? "" : ":" + std::to_string(id.second)),
               std::to_string(model.loads.count), TimeOf(Seconds(model.loads.total_ns)), std::to_string(computes.count),
               TimeOf(Seconds(computes.total_ns)), each, std::to_string(model.loads.errors + computes.errors)});
  }
  return text + table.ToString();
}

}  // namespace wasinn::cli
