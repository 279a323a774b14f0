// A backend in two libraries: the first one has the table and loads quickly on any machine, for hosts open all backends
// to learn their formats. The second one, its runtime, lies beside it, is linked to the framework and does the work.
#ifndef WASINN_BACKENDS_COMMON_RUNTIME_H_
#define WASINN_BACKENDS_COMMON_RUNTIME_H_

#include <wasinn/backend.h>

#include <string>

namespace wasinn::backend {

// The table of the runtime in `file`, which lies beside the library with the address `here`, by its function `symbol`.
// Opened for the life of the OS process. Throws WASINN_UNSUPPORTED_OPERATION, with `otherwise` and why it did not open.
const wasinn_backend* OpenRuntimeBeside(const void* here, const char* file, const char* symbol,
                                        const std::string& otherwise);

// The runtime's function of the same place in the table. `Runtime` gives the runtime's table, which is there, since
// every object that a function gets came from it.
template <auto Runtime, auto Member>
struct Forward;
template <auto Runtime, typename R, typename... Args, R (*wasinn_backend::*Member)(Args...)>
struct Forward<Runtime, Member> {
  static R Call(Args... args) { return (Runtime()->*Member)(args...); }
};

}  // namespace wasinn::backend

#endif  // WASINN_BACKENDS_COMMON_RUNTIME_H_
