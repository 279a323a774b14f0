#include "serve/models/model_contexts.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace wasinn::serve {

std::optional<uint32_t> IdleContexts::Take(const ModelContexts* of) {
  Order taken;
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(idle_.rbegin(), idle_.rend(), [of](const Idle& one) { return one.of == of && !one.prompt; });
  if (found == idle_.rend()) return std::nullopt;
  taken.splice(taken.end(), idle_, std::prev(found.base()));
  return taken.front().context;
}

void IdleContexts::Put(const ModelContexts* of, uint32_t context) {
  Order one = {{of, context, std::nullopt}}, over;
  {
    const std::lock_guard lock(mutex_);
    idle_.splice(idle_.end(), one);
    if (idle_.size() > most_) over.splice(over.end(), idle_, idle_.begin());
  }
  DropThese(over);
}

std::optional<uint32_t> IdleContexts::TakeFor(const ModelContexts* of, std::string_view prompt) {
  Order taken;
  const std::lock_guard lock(mutex_);
  auto best = idle_.end();
  ptrdiff_t most = -1;
  for (auto one = idle_.begin(); one != idle_.end(); ++one) {
    if (!one->IsWarm(of)) continue;
    const ptrdiff_t common = std::ranges::mismatch(prompt, *one->prompt).in1 - prompt.begin();
    // Only for a text that continues it: others would overwrite it. If there are too many, the longest idle one goes.
    const bool goes_on = 2 * common >= std::ssize(*one->prompt);
    if (goes_on && common > most) best = one;
    if (goes_on) most = std::max(most, common);
  }
  if (best == idle_.end()) return std::nullopt;
  taken.splice(taken.end(), idle_, best);
  return taken.front().context;
}

void IdleContexts::PutWith(const ModelContexts* of, uint32_t context, std::string prompt, size_t most) {
  Order one = {{of, context, std::move(prompt)}}, over;
  {
    const std::lock_guard lock(mutex_);
    idle_.splice(idle_.end(), one);
    const auto is_warm = [of](const Idle& other) { return other.IsWarm(of); };
    if (static_cast<size_t>(std::ranges::count_if(idle_, is_warm)) > most) {
      over.splice(over.end(), idle_, std::ranges::find_if(idle_, is_warm));
    } else if (idle_.size() > most_) {
      over.splice(over.end(), idle_, idle_.begin());
    }
  }
  DropThese(over);
}

void IdleContexts::Drop(const ModelContexts* of) {
  Order dropped;
  {
    const std::lock_guard lock(mutex_);
    for (auto next = idle_.begin(); next != idle_.end();) {
      const auto one = next++;
      if (one->of == of) dropped.splice(dropped.end(), idle_, one);
    }
  }
  DropThese(dropped);
}

bool IdleContexts::DropAll() {
  Order dropped;
  {
    const std::lock_guard lock(mutex_);
    dropped.swap(idle_);
  }
  DropThese(dropped);
  return !dropped.empty();
}

void IdleContexts::DropThese(const Order& contexts) {
  for (const Idle& one : contexts) wasinn_status_free(wasinn_wit()->context_drop(guest_, one.context));
}

ModelContexts::~ModelContexts() { idle_.Drop(this); }

ModelContexts::Graph ModelContexts::Load() {
  wasinn_wit_result result = {};
  wasinn_status* status = wasinn_wit()->graph_load_by_name(guest_, name_.data(), name_.size(), &result);
  Graph graph(guest_, RepOrThrow(guest_, status, result));
  Describe(graph);
  return graph;
}

// Reads the model's description of itself.
void ModelContexts::Describe(Graph& graph) {
  wasinn_wit_view view = {};
  if (!Try([&] { OrThrow(wasinn_wit()->describe(guest_, graph.get(), &view)); })) return;
  const View description(view);
  const std::span<const char> text = description.of<char>();
  const auto json = nlohmann::json::parse(text.begin(), text.end(), nullptr, false);
  if (!json.is_object() || !json.contains("model")) return;
  const nlohmann::json& model = json["model"];
  if (!model.is_object()) return;
  graph.keeps_nothing = model.contains("stateful") && model["stateful"] == false;
  const auto number = [&](const char* key) {
    return model.contains(key) && model[key].is_number_unsigned() ? model[key].get<uint32_t>() : 0;
  };
  graph.limits = {.parallel = number("parallel"), .context = number("context")};
}

void ModelContexts::LoadOnce() {
  if (graph_) return;
  graph_.emplace(Load());
  reuse_.store(graph_->keeps_nothing, std::memory_order_relaxed);
  warm_.store(graph_->limits.parallel, std::memory_order_relaxed);
}

TextLimits ModelContexts::Limits() {
  const std::lock_guard one_at_a_time(making_);
  LoadOnce();
  return graph_->limits;
}

// A graph whose worker is gone makes no contexts: a new graph may.
uint32_t ModelContexts::Make() {
  const std::lock_guard one_at_a_time(making_);
  for (bool again = false;; again = true) {
    const bool is_new = !graph_;
    LoadOnce();
    wasinn_wit_result result = {};
    wasinn_status* status = wasinn_wit()->graph_init_execution_context(guest_, graph_->get(), &result);
    try {
      return RepOrThrow(guest_, status, result);
    } catch (const Failure& failure) {
      if (failure.code == WASINN_ERROR_TOO_LARGE) throw;
      graph_.reset();
      if (is_new || again) throw;
    }
  }
}

void ModelContexts::GiveBack(uint32_t context) {
  if (reuse_.load(std::memory_order_relaxed)) return idle_.Put(this, context);
  wasinn_status_free(wasinn_wit()->context_drop(guest_, context));
}

void ModelContexts::GiveBackWith(uint32_t context, std::string beginning) {
  const size_t most = warm_.load(std::memory_order_relaxed);
  if (most == 0) return wasinn_status_free(wasinn_wit()->context_drop(guest_, context));
  idle_.PutWith(this, context, std::move(beginning), most);
}

namespace {

Failure TakeError(wasinn_guest* guest, uint32_t error) {
  const wasinn_wit_functions& wit = *wasinn_wit();
  uint32_t code = 0;
  wasinn_wit_view data = {};
  OrThrow(wit.error_status(guest, error, &code));
  OrThrow(wit.error_data(guest, error, &data));
  const View view(data);
  const std::span<const char> text = view.of<char>();
  Failure failure{static_cast<wasinn_code>(code), {text.begin(), text.end()}};
  wasinn_status_free(wit.error_drop(guest, error));
  return failure;
}

}  // namespace

void OrThrow(wasinn_status* status) {
  if (status == nullptr) return;
  Failure failure{wasinn_status_code(status), wasinn_status_message(status)};
  wasinn_status_free(status);
  throw failure;
}

uint32_t RepOrThrow(wasinn_guest* guest, wasinn_status* status, const wasinn_wit_result& result) {
  OrThrow(status);
  if (result.is_error == 0) return result.rep;
  throw TakeError(guest, result.rep);
}

}  // namespace wasinn::serve
