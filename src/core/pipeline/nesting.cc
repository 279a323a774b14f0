#include "core/pipeline/nesting.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace wasinn::pipeline {
namespace {

using core::Error;
using core::ModelSource;
using core::Result;

class Nesting {
 public:
  explicit Nesting(const FindSource& find) : find_(find) {}

  // The depth of nested pipelines at a source, including itself.
  Result<size_t> HeightOf(const ModelSource& source) {
    path_.push_back(&source);
    size_t height = 1;
    for (const StepSpec& step : source.pipeline.steps) {
      ASSIGN_OR_RETURN(size_t below, HeightOfStep(step));
      height = std::max(height, 1 + below);
    }
    path_.pop_back();
    heights_.emplace(KeyOf(source), height);
    return height;
  }

 private:
  using Key = std::pair<std::string, uint32_t>;
  static Key KeyOf(const ModelSource& source) { return {source.name, source.version}; }

  Result<size_t> HeightOfStep(const StepSpec& step) {
    const std::shared_ptr<const ModelSource> source = find_(step.model_name);
    if (source == nullptr || source->pipeline.empty()) return 0;  // the load reports a missing model
    const auto is_it = [&](const ModelSource* one) { return KeyOf(*one) == KeyOf(*source); };
    if (std::ranges::any_of(path_, is_it)) {
      return std::unexpected(Error(WASINN_ERROR_INVALID_ARGUMENT, "it is a step of itself: {}", Listed(source->name)));
    }
    const auto known = heights_.find(KeyOf(*source));
    if (path_.size() + (known == heights_.end() ? 1 : known->second) > kDeepest) {
      return std::unexpected(Error(WASINN_ERROR_INVALID_ARGUMENT, "more than {} pipelines within each other: {}",
                                   kDeepest, Listed(source->name)));
    }
    return known == heights_.end() ? HeightOf(*source) : known->second;
  }

  std::string Listed(const std::string& last) const {
    std::string list;
    for (const ModelSource* source : path_) list += fmt::format("'{}' -> ", source->name);
    return fmt::format("{}'{}'", list, last);
  }

  const FindSource& find_;
  std::vector<const ModelSource*> path_;  // whose steps are checked now, from the loaded one on
  std::map<Key, size_t> heights_;         // of pipelines that are finite
};

}  // namespace

core::Status CheckNesting(const ModelSource& source, const FindSource& find) {
  Result<size_t> height = Nesting(find).HeightOf(source);
  return height ? core::Status() : std::move(height.error());
}

}  // namespace wasinn::pipeline
