// wasinn/wamr.hpp - wamr.h for C++17: wasi-nn in WAMR's runtime as an object. Header-only.
#ifndef WASINN_WAMR_HPP_
#define WASINN_WAMR_HPP_

#include <wasinn/wamr.h>
#include <wasinn/wasinn.hpp>

#include <memory>

namespace wasinn {

// Registered during the life of this object. Destroy it after the last instance is gone and the modules are unloaded,
// and before wasm_runtime_destroy.
class Wamr {
 public:
  // The first call of an instance makes a guest of `host` for it. The host must outlive this, and those guests.
  static Result<Wamr> Register(const Host& host) {
    wasinn_wamr* registered = nullptr;
    if (Status status(wasinn_wamr_register(host.get(), &registered)); !status) return status;
    return Wamr(registered);
  }
  // The program makes the guests, and `guest_of` finds the guest of an instance. `user` must outlive this.
  static Result<Wamr> RegisterGuests(wasinn_wamr_guest_of guest_of, void* user = nullptr) {
    wasinn_wamr* registered = nullptr;
    if (Status status(wasinn_wamr_register_guests(guest_of, user, &registered)); !status) return status;
    return Wamr(registered);
  }

  // Finds or makes the guest of an instance before its first call: for guests with threads.
  Status Attach(wasm_module_inst_t instance) { return Status(wasinn_wamr_attach(get(), instance)); }

  // Ends the registration now.
  void Unregister() { wamr_.reset(); }

  wasinn_wamr* get() const { return wamr_.get(); }

 private:
  explicit Wamr(wasinn_wamr* wamr) : wamr_(wamr) {}

  std::unique_ptr<wasinn_wamr, internal::Free<wasinn_wamr_unregister>> wamr_;
};

}  // namespace wasinn

#endif  // WASINN_WAMR_HPP_
