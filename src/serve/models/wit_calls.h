// wasinn/wit.h for the host's own program: owners for its results, and a Failure for WIT's error objects.
#pragma once

#include <wasinn/wit.h>

#include <memory>
#include <string>
#include <utility>

#include "serve/oip/inference.h"

namespace wasinn::serve {

// The content of a view, during its life. Destroy it before its guest.
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

// NULL: success.
Outcome<void> ToOutcome(wasinn_status* status);

// The rep of a result, or the message of its error object, which is dropped.
Outcome<uint32_t> ToOutcome(wasinn_guest* guest, wasinn_status* status, const wasinn_wit_result& result);

}  // namespace wasinn::serve
