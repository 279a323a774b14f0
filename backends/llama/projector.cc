#include "llama/projector.h"

#include <atomic>
#include <chrono>

#include "base/on_cancel.h"
#include "common/throw.h"
#include "llama/log_scope.h"
#include "llama/model.h"

namespace wasinn::llama {

using backend::Throw;

Projector::Projector(const Model& model, const ProjectorSettings& settings, const wasinn_load_options& options)
    : library_(model.host().library().path()), projector_(nullptr, {&library_}) {
  const LogScope scope(model.host().log(), model.config().defaults.log);
  std::atomic<bool> stopped = false;
  const base::OnCancel cancel(options, [&stopped] { stopped = true; });
  const auto go_on = [](float /*progress*/, void* stop) { return !*static_cast<std::atomic<bool>*>(stop); };
  const wasinn_llama_projector_options wanted = {.path = settings.path.c_str(),
                                                 .model = model.get(),
                                                 .gpu = model.on_gpu() ? 1 : 0,
                                                 .image_min_tokens = settings.least_tokens,
                                                 .image_max_tokens = settings.most_tokens,
                                                 .go_on = go_on,
                                                 .user = &stopped};
  projector_.reset(library_.projector_new(&wanted));
  if (stopped) Throw(WASINN_ERROR_TIMEOUT, "loading the projector was cancelled");
  if (projector_ == nullptr) {
    Throw(WASINN_ERROR_INVALID_ARGUMENT, "projector: {}: {}", settings.path, scope.Errors("llama.cpp cannot load it"));
  }
  is_mrope_ = library_.is_mrope(projector_.get()) != 0;
}

std::unique_lock<std::timed_mutex> Projector::Turn(const std::atomic<bool>& cancelled) const {
  constexpr auto kCancelPoll = std::chrono::milliseconds(5);
  std::unique_lock lock(encoding_, std::defer_lock);
  while (!lock.try_lock_for(kCancelPoll)) {
    if (cancelled) Throw(WASINN_ERROR_TIMEOUT, "the generation was cancelled while it waited for the projector");
  }
  return lock;
}

}  // namespace wasinn::llama
