#include "worker/channel_thread.h"

#include <pthread.h>

#include <cstring>
#include <memory>
#include <utility>

namespace wasinn::worker {
namespace {

void* Run(void* argument) {
  const std::unique_ptr<std::function<void()>> run(static_cast<std::function<void()>*>(argument));
  (*run)();
  return nullptr;
}

}  // namespace

core::Status StartChannelThread(std::function<void()> run) {
  pthread_attr_t attributes{};
  ::pthread_attr_init(&attributes);
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, kChannelStack);
  auto argument = std::make_unique<std::function<void()>>(std::move(run));
  pthread_t thread{};
  const int error = ::pthread_create(&thread, &attributes, &Run, argument.get());
  ::pthread_attr_destroy(&attributes);
  if (error != 0)
    return core::Error(WASINN_ERROR_UNAVAILABLE, "cannot start a thread in a worker: {}", std::strerror(error));
  static_cast<void>(argument.release());  // it belongs to the thread
  return {};
}

}  // namespace wasinn::worker
