// Memory that lasts, charged to whoever it is kept for.
#pragma once

#include <wasinn/types.h>

#include <cstdint>
#include <utility>

namespace wasinn::base {

// The right to keep some bytes; it gives them back when it goes, so it goes after the memory and before the account
// does: a member of the model or context whose options named the account. One thread at a time.
class Reservation {
 public:
  Reservation() = default;  // of nobody: nothing is charged
  // `services`: wasinn_host_services with the fields that this side knows. A host that is too old charges nothing.
  template <typename Services>
  Reservation(const Services& services, void* account)
      : reserve_(services.reserve), host_(services.host), account_(account) {}
  Reservation(Reservation&& other) noexcept { *this = std::move(other); }
  Reservation& operator=(Reservation&& other) noexcept {
    std::swap(reserve_, other.reserve_);
    std::swap(host_, other.host_);
    std::swap(account_, other.account_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~Reservation() { (void)Resize(0); }

  uint64_t bytes() const { return bytes_; }

  // Call it before more is allocated, and after something was freed. False: that is more than may be held, and it is what
  // it was.
  bool Resize(uint64_t bytes) {
    const bool grows = bytes > bytes_;
    if (reserve_ != nullptr && bytes != bytes_) {
      if (grows && bytes - bytes_ > INT64_MAX) return false;
      if (reserve_(host_, account_, static_cast<int64_t>(bytes - bytes_)) != WASINN_OK && grows) return false;
    }
    bytes_ = bytes;
    return true;
  }

 private:
  uint32_t (*reserve_)(void* host, void* account, int64_t bytes) = nullptr;
  void* host_ = nullptr;
  void* account_ = nullptr;
  uint64_t bytes_ = 0;
};

}  // namespace wasinn::base
