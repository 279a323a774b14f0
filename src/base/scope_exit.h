// Calls a function at the end of a scope, however it is left: std::scope_exit of the Library Fundamentals TS.
#pragma once

#include <utility>

namespace wasinn::base {

template <typename Function>
class ScopeExit {
 public:
  explicit ScopeExit(Function function) : function_(std::move(function)) {}
  ~ScopeExit() { function_(); }
  ScopeExit(const ScopeExit&) = delete;
  ScopeExit& operator=(const ScopeExit&) = delete;

 private:
  const Function function_;
};

}  // namespace wasinn::base
