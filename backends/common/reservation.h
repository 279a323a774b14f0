// Lasting memory of a backend, charged to whoever it is kept for.
#pragma once

#include <wasinn/backend.h>

#include <cstdint>
#include <string>
#include <utility>

#include "common/error.h"

namespace wasinn::backend {

// The right to keep some bytes; it gives them back when it goes, so it goes after the memory and before the account
// does: a member of the model or context whose options named the account. One thread at a time.
class Reservation {
 public:
  Reservation() = default;  // of nobody: nothing is charged
  // `services` with the fields that this backend knows (ReadStruct). A host that is too old charges nothing.
  Reservation(const wasinn_host_services& services, void* account)
      : reserve_(services.reserve), host_(services.host), account_(account) {}
  Reservation(Reservation&& other) noexcept { Swap(other); }
  Reservation& operator=(Reservation&& other) noexcept {
    Swap(other);
    return *this;
  }
  ~Reservation() { GiveBack(bytes_); }

  uint64_t bytes() const { return bytes_; }

  // Call it before more is allocated, and after something was freed. Throws WASINN_ERROR_TOO_LARGE, and then it is what it
  // was.
  void Resize(uint64_t bytes) {
    if (bytes > bytes_) {
      Take(bytes - bytes_);
    } else {
      GiveBack(bytes_ - bytes);
    }
    bytes_ = bytes;
  }

 private:
  void Swap(Reservation& other) noexcept {
    std::swap(reserve_, other.reserve_);
    std::swap(host_, other.host_);
    std::swap(account_, other.account_);
    std::swap(bytes_, other.bytes_);
  }
  void Take(uint64_t more) const {
    if (reserve_ == nullptr) return;
    if (more <= INT64_MAX && reserve_(host_, account_, static_cast<int64_t>(more)) == WASINN_OK) return;
    throw Error(WASINN_ERROR_TOO_LARGE, std::to_string(more) + " bytes to keep, beside the " + std::to_string(bytes_) +
                                            " here, are more than may still be held");
  }
  void GiveBack(uint64_t less) const {
    if (reserve_ != nullptr && less > 0) reserve_(host_, account_, -static_cast<int64_t>(less));
  }

  uint32_t (*reserve_)(void* host, void* account, int64_t bytes) = nullptr;
  void* host_ = nullptr;
  void* account_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace wasinn::backend
