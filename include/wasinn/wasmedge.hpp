// wasinn/wasmedge.hpp - wasmedge.h for C++17: the modules of one guest as an object. Header-only.
#ifndef WASINN_WASMEDGE_HPP_
#define WASINN_WASMEDGE_HPP_

#include <wasinn/wasmedge.h>
#include <wasinn/wasinn.hpp>

#include <memory>

namespace wasinn {

// Registered during the life of this object. Destroy it after the guest is closed and its instance and store are gone,
// and before the Guest.
class WasmEdgeModules {
 public:
  static Result<WasmEdgeModules> Register(WasmEdge_ExecutorContext* executor, WasmEdge_StoreContext* store,
                                          const Guest& guest) {
    wasinn_wasmedge* registered = nullptr;
    if (Status status(wasinn_wasmedge_register(executor, store, guest.get(), &registered)); !status) return status;
    return WasmEdgeModules(registered);
  }

  // Ends the registration now.
  void Unregister() { modules_.reset(); }

  wasinn_wasmedge* get() const { return modules_.get(); }

 private:
  explicit WasmEdgeModules(wasinn_wasmedge* modules) : modules_(modules) {}

  std::unique_ptr<wasinn_wasmedge, internal::Free<wasinn_wasmedge_unregister>> modules_;
};

}  // namespace wasinn

#endif  // WASINN_WASMEDGE_HPP_
