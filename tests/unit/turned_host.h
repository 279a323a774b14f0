// Hosts whose time stands still until a test turns the hands of their clock.
#pragma once

#include "api/objects.h"
#include "support/echo.h"
#include "support/test.h"

namespace wasinn::testing {

inline HostPtr TurnedHost(const core::Clock::Hands& hands, Log& log, const std::string& toml = "") {
  auto options = EchoConfig(toml)->ToHostOptions();
  EXPECT_TRUE(options) << options.error().message();
  options->clock = core::Clock(hands);
  auto host = core::Host::Create(std::move(*options), &Log::Write, &log);
  EXPECT_TRUE(host) << host.error().message();
  return HostPtr(new wasinn_host{std::move(*host)});
}

// Turns them once the watchdog has seen what runs on this host, so that it counts for that. Something must run.
inline void Turn(core::Clock::Hands& hands, const HostPtr& host, std::chrono::milliseconds by) {
  const core::Watchdog& dog = host->host->watchdog();
  for (const uint64_t seen = dog.scans() + 2; dog.scans() < seen;) std::this_thread::yield();
  hands.Turn(by);
}

// Turns them on and on, for what ends when enough time has passed.
template <typename T>
T TurnUntilDone(core::Clock::Hands& hands, std::future<T>& ends) {
  while (ends.wait_for(std::chrono::milliseconds(1)) != std::future_status::ready) {
    hands.Turn(std::chrono::milliseconds(20));
  }
  return ends.get();
}

}  // namespace wasinn::testing
