// A host with the echo backend in this process and small quotas, and its models. For fuzzers of the ABIs.
#pragma once

#include <wasinn/wasinn.h>

#include <cstdint>
#include <string_view>

namespace wasinn::fuzz {

inline constexpr uint32_t kMaxGraphs = 4, kMaxContexts = 6;
inline constexpr uint64_t kMaxBytes = 4096;
inline constexpr uint32_t kHonestTimeoutMs = 60000;

// Models of the echo backend: every form of inputs and outputs that it knows, and those that fail.
std::string_view ModelText(uint32_t number);

// One host for the whole run, like in a server, with a model named "m": its input and output is "x", f32 [2].
wasinn_host* InProcessHost();

void ExpectOk(wasinn_status* status);
// Checks a log message: it is one line of UTF-8 without control characters.
void CheckLog(void* user, const wasinn_log_record* record);
void ExpectQuotas(const wasinn_guest* guest, uint64_t most_bytes = kMaxBytes);

class HostedGuest {
 public:
  HostedGuest() { ExpectOk(wasinn_guest_new(InProcessHost(), nullptr, &guest_)); }
  // Has other deadlines than the host, so that an honest guest is not late because the machine is busy.
  explicit HostedGuest(uint32_t timeout_ms);
  ~HostedGuest() { wasinn_guest_free(guest_); }
  HostedGuest(const HostedGuest&) = delete;
  HostedGuest& operator=(const HostedGuest&) = delete;
  wasinn_guest* get() const { return guest_; }

 private:
  wasinn_guest* guest_ = nullptr;
};

}  // namespace wasinn::fuzz
