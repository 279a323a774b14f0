// Threads of one llama context, within the host's budget.
#pragma once

#include "common/spare_threads.h"
#include "llama/host.h"

namespace wasinn::llama {

// The OS threads of a llama context, which llama.cpp would otherwise start anew for every token. They are there to the
// context's end, since llama.cpp remembers where they are, and sleep between its calls: only a Lease has them compute.
// Where the host has enough that sleep, a context goes without.
class Threads {
 public:
  Threads(const Host& host, int wanted);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int wanted() const { return wanted_; }
  // Has `context` use them, which must go first.
  void Attach(llama_context* context) const;

  // What is left of the host's budget, for one call of llama.cpp; or what the call has within which this one is made.
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
