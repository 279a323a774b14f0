// Work in a child that has put the whole sandbox around itself.
#pragma once

#include <cstdint>
#include <functional>

#include "worker/child.h"
#include "worker/sandbox.h"

namespace wasinn::test {

inline Ended InSealed(const worker::SandboxOptions& options, uint64_t max_bytes, const std::function<int()>& work) {
  return InChild([&] {
    auto sandbox = worker::Sandbox::RaiseBeforeThreads(options);
    if (!sandbox) throw std::runtime_error(sandbox.error());
    if (const auto sealed = sandbox->Seal(max_bytes); !sealed) throw std::runtime_error(sealed.error());
    return work();
  });
}

}  // namespace wasinn::test
