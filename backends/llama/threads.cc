#include "llama/threads.h"

namespace wasinn::llama {

Threads::Threads(const Host& host, int wanted) : host_(host), count_(host.spare_threads().Take(wanted)) {
  const LlamaLibrary& library = host.library();
  if (count_ == 1 || library.threadpool_new == nullptr || library.threadpool_free == nullptr) return;
  ggml_threadpool_params params = library.threadpool_params_default(count_);
  pool_ = library.threadpool_new(&params);
}

Threads::~Threads() {
  if (pool_ != nullptr) host_.library().threadpool_free(pool_);
  host_.spare_threads().Give(count_);
}

void Threads::Attach(llama_context* context) const {
  if (pool_ != nullptr) host_.library().attach_threadpool(context, pool_, pool_);
}

}  // namespace wasinn::llama
