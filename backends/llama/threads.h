// The threads of a llama context, within the host's budget.
#pragma once

#include "common/spare_threads.h"
#include "llama/host.h"

namespace wasinn::llama {

// The OS threads of a llama context, which llama.cpp would otherwise start for every token. They live as long as the
// context, because llama.cpp keeps their address, and sleep between its calls: only during a Lease they compute. If the
// host has enough sleeping threads, a context has none.
class Threads {
 public:
  Threads(const Host& host, int wanted);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int wanted() const { return wanted_; }
  // Makes `context` use them. It must be destroyed first.
  void Attach(llama_context* context) const;

  // The rest of the host's budget for one call of llama.cpp; or the budget of the enclosing call.
  class Lease {
   public:
    Lease(const Threads& threads, llama_context* context, const Lease* within = nullptr);

   private:
    const backend::ThreadLease lease_;
    const int count_;
  };

 private:
  const Host& host_;
  const int wanted_;
  const backend::ThreadLease pooled_;
  ggml_threadpool_t pool_ = nullptr;
};

}  // namespace wasinn::llama
