#include "serve/model_contexts.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

namespace wasinn::serve {

std::optional<uint32_t> RestingContexts::Take(const ModelContexts* of) {
  Order taken;
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(resting_.rbegin(), resting_.rend(), of, &Order::value_type::first);
  if (found == resting_.rend()) return std::nullopt;
  taken.splice(taken.end(), resting_, std::prev(found.base()));
  return taken.front().second;
}

void RestingContexts::Put(const ModelContexts* of, uint32_t context) {
  Order one = {{of, context}}, over;
  {
    const std::lock_guard lock(mutex_);
    resting_.splice(resting_.end(), one);
    if (resting_.size() > most_) over.splice(over.end(), resting_, resting_.begin());
  }
  DropThese(over);
}

void RestingContexts::Drop(const ModelContexts* of) {
  Order dropped;
  {
    const std::lock_guard lock(mutex_);
    for (auto next = resting_.begin(); next != resting_.end();) {
      const auto one = next++;
      if (one->first == of) dropped.splice(dropped.end(), resting_, one);
    }
  }
  DropThese(dropped);
}

bool RestingContexts::DropAll() {
  Order dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(resting_);
  }
  DropThese(dropped);
  return !dropped.empty();
}

void RestingContexts::DropThese(const Order& contexts) {
  for (const auto& [of, context] : contexts) wasinn_status_free(wasinn_wit()->context_drop(guest_, context));
}

ModelContexts::~ModelContexts() { resting_.Drop(this); }

Outcome<ModelContexts::Graph> ModelContexts::Load() {
  wasinn_wit_result result = {};
  wasinn_status* status = wasinn_wit()->graph_load_by_name(guest_, name_.data(), name_.size(), &result);
  const Outcome<uint32_t> loaded = ToOutcome(guest_, status, result);
  if (!loaded) return std::unexpected(loaded.error());
  Graph graph(guest_, *loaded);
  Describe(graph);
  return graph;
}

// What the model says of itself.
void ModelContexts::Describe(Graph& graph) {
  wasinn_wit_view view = {};
  if (!ToOutcome(wasinn_wit()->describe(guest_, graph.get(), &view))) return;
  const View description(view);
  const std::span<const char> text = description.of<char>();
  const auto json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object() || !json.contains("model")) return;
  const nlohmann::json& model = json["model"];
  if (!model.is_object()) return;
  graph.keeps_nothing = model.contains("stateful") && model["stateful"] == false;
  if (model.contains("parallel") && model["parallel"].is_number_unsigned()) graph.parallel = model["parallel"];
}

Outcome<void> ModelContexts::LoadOnce() {
  if (graph_) return {};
  Outcome<Graph> loaded = Load();
  if (!loaded) return std::unexpected(std::move(loaded.error()));
  graph_.emplace(std::move(*loaded));
  reuse_.store(graph_->keeps_nothing, std::memory_order_relaxed);
  return {};
}

Outcome<uint32_t> ModelContexts::Parallel() {
  const std::lock_guard one_at_a_time(making_);
  if (auto loaded = LoadOnce(); !loaded) return std::unexpected(std::move(loaded.error()));
  return graph_->parallel;
}

// A graph whose worker is gone makes no contexts: the next one may.
Outcome<uint32_t> ModelContexts::Make() {
  const std::lock_guard one_at_a_time(making_);
  for (bool again = false;; again = true) {
    const bool is_new = !graph_;
    if (auto loaded = LoadOnce(); !loaded) return std::unexpected(std::move(loaded.error()));
    wasinn_wit_result result = {};
    wasinn_status* status = wasinn_wit()->graph_init_execution_context(guest_, graph_->get(), &result);
    Outcome<uint32_t> context = ToOutcome(guest_, status, result);
    if (context || context.error().code == WASINN_TOO_LARGE) return context;
    graph_.reset();
    if (is_new || again) return context;
  }
}

Outcome<uint32_t> ModelContexts::Take() {
  if (const auto rested = resting_.Take(this)) return *rested;
  return Make();
}

void ModelContexts::GiveBack(uint32_t context) {
  if (reuse_.load(std::memory_order_relaxed)) return resting_.Put(this, context);
  wasinn_status_free(wasinn_wit()->context_drop(guest_, context));
}

}  // namespace wasinn::serve
