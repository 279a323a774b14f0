// Who may ask, and of what.
#pragma once

#include <expected>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

#include "serve/generation.h"
#include "serve/oip/inference.h"
#include "serve/tenants/admission.h"

namespace wasinn::serve {

// Why nobody was let in.
struct Refusal {
  bool needs_key;
  Failure failure;
};

// Any thread.
class Gate {
 public:
  // What new requests get from here on.
  void Open(std::shared_ptr<Generation> generation);
  std::shared_ptr<Generation> current() const {
    const std::lock_guard lock(mutex_);
    return current_;
  }
  // `authorization`: "Bearer KEY"; "": none was given.
  std::expected<Admission, Refusal> Admit(std::string_view authorization) const {
    return Admit(current(), authorization);
  }
  static std::expected<Admission, Refusal> Admit(std::shared_ptr<Generation> generation,
                                                 std::string_view authorization);
  // Where anybody may ask.
  static Admission AdmitAnybody(std::shared_ptr<Generation> generation);

  // Those that requests still hold, the current one among them.
  std::vector<std::shared_ptr<Generation>> All() const;

 private:
  mutable std::mutex mutex_;  // of what follows
  std::shared_ptr<Generation> current_;
  std::vector<std::weak_ptr<Generation>> earlier_;
};

}  // namespace wasinn::serve
