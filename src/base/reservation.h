// Memory that lasts, charged to the account of its user.
#pragma once

#include <wasinn/types.h>

#include <cstdint>
#include <utility>

namespace wasinn::base {

// The right to keep some bytes. Its destructor gives them back, so it must be destroyed after the memory and before the
// account: make it a member of the model or context whose options named the account. One thread at a time.
class Reservation {
 public:
  Reservation() = default;  // charges no account
  // `services`: wasinn_host_services with the fields that this side knows. If the host is too old, nothing is charged.
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

  // Call it before an allocation, and after memory was freed. False: the account may not hold that much, and nothing
  // has changed.
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
