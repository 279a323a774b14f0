#include "remote/http_loop.h"

#include <new>

namespace wasinn::remote {

HttpLoop::HttpLoop() : work_(boost::asio::make_work_guard(context_)), thread_([this] { Run(); }) {}

HttpLoop::~HttpLoop() {
  context_.stop();
  thread_.join();
  readers_.join();  // which may still leave the last end
}

void HttpLoop::Run() {
  for (;;) {
    try {
      context_.run();
      return;
    } catch (const std::bad_alloc&) {  // NOLINT(bugprone-empty-catch): of a handler: the others go on
    }
  }
}

}  // namespace wasinn::remote
