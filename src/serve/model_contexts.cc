#include "serve/model_contexts.h"

#include <nlohmann/json.hpp>

namespace wasinn::serve {

ModelContexts::~ModelContexts() {
  for (const uint32_t context : resting_) Drop(context);
  if (graph_) wasinn_status_free(wasinn_wit()->graph_drop(guest_, *graph_));
}

Outcome<uint32_t> ModelContexts::Load() {
  wasinn_wit_result result = {};
  wasinn_status* status = wasinn_wit()->graph_load_by_name(guest_, name_.data(), name_.size(), &result);
  return ToOutcome(guest_, status, result);
}

// Whether the results of one inference depend on no other one in the same context. A model that does not tell has contexts for one
// inference each.
bool ModelContexts::KeepsNothing(uint32_t graph) {
  wasinn_wit_view view = {};
  if (!ToOutcome(wasinn_wit()->describe(guest_, graph, &view))) return false;
  const View description(view);
  const std::span<const char> text = description.of<char>();
  const auto json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object() || !json.contains("model")) return false;
  const nlohmann::json& model = json["model"];
  return model.is_object() && model.contains("stateful") && model["stateful"] == false;
}

// A graph whose worker is gone makes no contexts: the next one may.
Outcome<uint32_t> ModelContexts::Make() {
  for (bool again = false;; again = true) {
    const std::lock_guard one_at_a_time(loading_);
    std::optional<uint32_t> graph;
    {
      const std::lock_guard lock(mutex_);
      graph = graph_;
    }
    const bool is_new = !graph;
    if (is_new) {
      const Outcome<uint32_t> loaded = Load();
      if (!loaded) return loaded;
      graph = *loaded;
    }
    wasinn_wit_result result = {};
    wasinn_status* status = wasinn_wit()->graph_init_execution_context(guest_, *graph, &result);
    Outcome<uint32_t> context = ToOutcome(guest_, status, result);
    const bool keep = context.has_value() || (context.error().code == WASINN_TOO_LARGE);
    if (!keep) wasinn_status_free(wasinn_wit()->graph_drop(guest_, *graph));
    const bool reuse = keep && is_new && KeepsNothing(*graph);
    {
      const std::lock_guard lock(mutex_);
      graph_ = keep ? graph : std::nullopt;
      if (is_new) reuse_ = reuse;
    }
    if (keep || is_new || again) return context;
  }
}

Outcome<uint32_t> ModelContexts::Take() {
  {
    const std::lock_guard lock(mutex_);
    if (!resting_.empty()) {
      const uint32_t context = resting_.back();
      resting_.pop_back();
      return context;
    }
  }
  return Make();
}

void ModelContexts::GiveBack(uint32_t context) {
  {
    const std::lock_guard lock(mutex_);
    if (reuse_) return resting_.push_back(context);
  }
  Drop(context);
}

void ModelContexts::Drop(uint32_t context) { wasinn_status_free(wasinn_wit()->context_drop(guest_, context)); }

}  // namespace wasinn::serve
