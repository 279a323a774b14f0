// Threads of one context, within the host's budget.
#ifndef WASINN_BACKENDS_LLAMA_THREADS_H_
#define WASINN_BACKENDS_LLAMA_THREADS_H_

#include "llama/host.h"

namespace wasinn::llama {

// What is left of the budget, up to what is wanted, and these threads, which llama.cpp would otherwise start anew for
// every token.
class Threads {
 public:
  Threads(const Host& host, int wanted);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  int count() const { return count_; }
  // Has `context` use them, which must go first.
  void Attach(llama_context* context) const;

 private:
  const Host& host_;
  const int count_;
  ggml_threadpool_t pool_ = nullptr;
};

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_THREADS_H_
