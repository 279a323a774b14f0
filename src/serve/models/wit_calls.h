// wasinn/wit.h for a program of the host's own: owners for what it gives, and a Failure where WIT has an error object.
#pragma once

#include <wasinn/wit.h>

#include <memory>
#include <string>
#include <utility>

#include "serve/oip/inference.h"

namespace wasinn::serve {

// What a view shows, until it goes. Before its guest.
class View {
 public:
  View() = default;
  explicit View(const wasinn_wit_view& view) : view_(view) {}
  View(View&& other) noexcept : view_(std::exchange(other.view_, {})) {}
  View& operator=(View&& other) noexcept {
    std::swap(view_, other.view_);
    return *this;
  }
  ~View() {
    if (view_.release != nullptr) view_.release(view_.owner);
  }

  template <typename T>
  std::span<const T> of() const {
    return {static_cast<const T*>(view_.data), view_.count};
  }

 private:
  wasinn_wit_view view_ = {};
};

// NULL: it went well.
Outcome<void> ToOutcome(wasinn_status* status);

// The rep of a result, or what its error object says; that goes.
Outcome<uint32_t> ToOutcome(wasinn_guest* guest, wasinn_status* status, const wasinn_wit_result& result);

}  // namespace wasinn::serve
