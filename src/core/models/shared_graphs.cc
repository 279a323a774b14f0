#include "core/models/workers.h"

#include <algorithm>
#include <utility>

namespace wasinn::core {

std::string SharedGraphs::KeyOf(std::span<const std::shared_ptr<const Blob>> parts, const Graph::LoadOptions& options) {
  std::string key = fmt::format("{} {} {} {} {} {}", options.encoding, static_cast<uint32_t>(options.target),
                                options.cpu_fallback, options.isolated_gpu, options.max_bytes, options.backend);
  for (const std::string* config : {&options.host_config, &options.guest_config}) {
    key += fmt::format(" {}:{}", config->size(), *config);
  }
  for (const std::shared_ptr<const Blob>& part : parts) key += " " + part->Digest();
  return key;
}

std::shared_ptr<SharedGraphs::Made> SharedGraphs::Find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  if (graphs_.size() >= look_at_) Forget();
  std::shared_ptr<Made>& made = graphs_[key];
  if (made == nullptr) made = std::make_shared<Made>(Made::Failures::kOfOne);
  return made;
}

// Needs `mutex_`. A caller that holds an element is about to load it.
void SharedGraphs::Forget() {
  std::erase_if(graphs_, [](const auto& one) {
    const auto& [key, made] = one;
    const auto graph = made->Peek();
    return made.use_count() == 1 && made->is_idle() && (!graph || graph->expired());
  });
  look_at_ = std::max<size_t>(16, 2 * graphs_.size());
}

void SharedGraphs::ForgetGone(Made& made) {
  std::shared_ptr<Graph> there;  // freed after the lock of `made`, if this is its last owner
  made.ForgetIf([&there](const std::weak_ptr<Graph>& weak) {
    there = weak.lock();
    return there == nullptr || there->lost();
  });
}

Result<SharedGraphs::Shared> SharedGraphs::Get(const std::string& key, const WaitOptions& wait, const Load& load) {
  const std::shared_ptr<Made> made = Find(key);
  for (;;) {
    ForgetGone(*made);
    std::shared_ptr<Graph> loaded;
    const Result<std::weak_ptr<Graph>> found =
        made->Get(wait, "a model of the same bytes", [&]() -> Result<std::weak_ptr<Graph>> {
          ASSIGN_OR_RETURN(loaded, load());
          return std::weak_ptr(loaded);
        });
    if (!found) return std::unexpected(Copy(found.error()));
    if (loaded != nullptr) return Shared{std::move(loaded), true};
    if (auto graph = found->lock()) return Shared{std::move(graph), false};
  }
}

}  // namespace wasinn::core
