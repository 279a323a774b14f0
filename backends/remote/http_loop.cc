#include "remote/http_loop.h"

#include <new>

namespace wasinn::remote {

HttpLoop::HttpLoop() : work_(boost::asio::make_work_guard(context_)), thread_([this] { Run(); }) {}

HttpLoop::~HttpLoop() {
  context_.stop();
  thread_.join();
  readers_.join();  // a reader may be the last to drop an exchange
}

void HttpLoop::Run() {
  for (;;) {
    try {
      context_.run();
      return;
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): a handler failed; the others continue
    }
  }
}

}  // namespace wasinn::remote
