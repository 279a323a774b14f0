#include "llama/threads.h"

namespace wasinn::llama {

Threads::Threads(const Host& host, int wanted)
    : host_(host), wanted_(wanted), pooled_(&host.pooled_threads(), wanted, wanted) {
  const LlamaLibrary& library = host.library();
  if (pooled_.count() == 1 || library.threadpool_new == nullptr || library.threadpool_free == nullptr) return;
  ggml_threadpool_params params = library.threadpool_params_default(wanted);
  params.poll = 0;  // no busy waiting for work after the lease
  pool_ = library.threadpool_new(&params);
}

Threads::~Threads() {
  if (pool_ != nullptr) host_.library().threadpool_free(pool_);
}

void Threads::Attach(llama_context* context) const {
  if (pool_ != nullptr) host_.library().attach_threadpool(context, pool_, pool_);
}

Threads::Lease::Lease(const Threads& threads, llama_context* context, const Lease* within)
    : lease_(&threads.host_.spare_threads(), within == nullptr ? threads.wanted_ : 1),
      count_(within == nullptr ? lease_.count() : within->count_) {
  threads.host_.library().set_n_threads(context, count_, count_);
}

}  // namespace wasinn::llama
