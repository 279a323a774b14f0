// How llama.cpp is called, and code of a test that runs inside of such a call.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "support/this_build.h"

namespace wasinn::test {

// A stand-in for llama.cpp reports the calls that compute (llama_shim.cc).
class Calls {
 public:
  // The configuration of a host with the stand-in.
  static inline const std::string kHost =
      R"({"library": ")" + testing::InThisBuild("lib/libllama_shim_threads.so") + "\"}";

  Calls() {
    threads_.clear();
    results_.clear();
    helpers_ = most_helpers_ = 0;
    Report() = Called;
  }
  ~Calls() {
    Report() = nullptr;
    inside_ = nullptr;
  }

  // The threads of each call since the last time.
  static std::vector<int> TakeThreads() {
    const std::lock_guard lock(mutex_);
    return std::exchange(threads_, {});
  }
  static std::vector<int> TakeResults() {
    const std::lock_guard lock(mutex_);
    return std::exchange(results_, {});
  }
  // The most at one time besides those that called.
  static int most_helpers() { return most_helpers_; }
  // Runs in each call.
  static void SetInside(std::function<void()> inside) { inside_ = std::move(inside); }

 private:
  using ReportFunction = void (*)(int threads, int32_t result);

  static ReportFunction& Report() {
    void* library = dlopen(testing::InThisBuild("lib/libllama_shim_threads.so").c_str(), RTLD_NOW | RTLD_LOCAL);
    return *static_cast<ReportFunction*>(dlsym(library, "wasinn_shim_decodes"));
  }
  static void Called(int threads, int32_t result) {
    static thread_local int mine = 0;
    {
      const std::lock_guard lock(mutex_);
      helpers_ += threads > 0 ? threads - 1 : 1 - mine;
      most_helpers_ = std::max(most_helpers_, helpers_);
      if (threads > 0) threads_.push_back(threads);
      if (threads == 0) results_.push_back(result);
    }
    mine = threads;
    if (threads > 0 && inside_) inside_();
  }

  static inline std::mutex mutex_;
  static inline std::vector<int> threads_, results_;
  static inline int helpers_ = 0, most_helpers_ = 0;
  static inline std::function<void()> inside_;
};

}  // namespace wasinn::test
