#include "core/isolation/template_process.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "core/isolation/spawn.h"

namespace wasinn::isolation {
namespace {

// Some frameworks take seconds to be opened, on a busy machine more.
constexpr std::chrono::milliseconds kPatience{60000};

}  // namespace

core::Status Template::Gone() {
  gone_.store(true, std::memory_order_release);
  return core::Status(WASINN_UNAVAILABLE, "the process that starts workers has ended; the next load starts another",
                      backend_);
}

core::Status Template::Ask(Writer& request, std::span<const int> descriptors, std::span<Descriptor> received,
                           Reader& answer) {
  if (request.used() > kMostBytes) {
    return core::Error(WASINN_TOO_LARGE, "the settings of backend '{}' are too long", backend_);
  }
  if (::getpid() != host_) return core::Status(WASINN_UNAVAILABLE, "this OS process was forked off its host", backend_);
  const Socket::Sent sent = socket_.Send(request.written(), descriptors);
  if (sent == Socket::Sent::kRefused) {
    return core::Status(WASINN_UNAVAILABLE, "the system lets no more descriptors pass to processes", backend_);
  }
  if (sent == Socket::Sent::kClosed) return Gone();
  size_t taken = 0;
  const Socket::Received got = socket_.Receive(buffer_, received, taken);
  if (got.outcome != Socket::Outcome::kMessage || got.bytes > buffer_.size()) return Gone();
  answer = Reader({buffer_.data(), got.bytes});
  const auto code = answer.Number<uint32_t>();
  const std::string_view message = answer.Text();
  if (!answer.ok()) return Gone();
  if (code != WASINN_OK) return core::Status(static_cast<wasinn_code>(code), std::string(message), backend_);
  return taken == received.size() ? core::Status() : Gone();
}

core::Result<std::shared_ptr<Template>> Template::Start(const Setting& setting) {
  auto pair = Socket::MakePair();
  if (!pair) return std::unexpected(std::move(pair.error()));
  if (core::Status status = StartProgram(setting.worker, pair->second); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  pair->second = Socket();
  std::shared_ptr<Template> made(new Template(std::move(pair->first)));
  made->backend_ = setting.backend;
  if (core::Status status = made->socket_.SetPatience(kPatience); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  std::vector<uint8_t> bytes;
  Writer request(bytes);
  request.Number(Op::kOpen);
  setting.Write(request);
  Reader answer;
  if (core::Status status = made->Ask(request, {}, {}, answer); !status.ok()) return std::unexpected(std::move(status));
  return made;
}

core::Result<Template::Worker> Template::Spawn() {
  auto pair = Socket::MakePair();
  if (!pair) return std::unexpected(std::move(pair.error()));
  Worker worker{.lane = std::move(pair->first), .process = Descriptor()};
  std::vector<uint8_t> bytes;
  Writer request(bytes);
  request.Number(Op::kSpawn);
  const int lane = pair->second.number();
  Reader answer;
  const std::lock_guard lock(mutex_);
  if (core::Status status = Ask(request, {&lane, 1}, {&worker.process, 1}, answer); !status.ok()) {
    return std::unexpected(std::move(status));
  }
  worker.pid = answer.Number<int32_t>();
  return worker;
}

std::string Template::EndOf(const Worker& worker) noexcept try {
  pollfd ended{.fd = worker.process.number(), .events = POLLIN, .revents = 0};
  constexpr int kMilliseconds = 2000;
  if (::poll(&ended, 1, kMilliseconds) <= 0) return "it has not ended yet";
  const std::lock_guard lock(mutex_);
  Writer request(request_);
  request.Number(Op::kWait);
  request.Number(static_cast<int32_t>(worker.pid));
  Reader answer;
  if (!Ask(request, {}, {}, answer).ok()) return "it ended";
  const auto status = answer.Number<int32_t>();
  if (WIFEXITED(status)) return fmt::format("it ended with code {}", WEXITSTATUS(status));
  if (!WIFSIGNALED(status)) return "it ended";
  const char* what = ::sigdescr_np(WTERMSIG(status));
  return fmt::format("it was ended by signal {} ({})", WTERMSIG(status), what == nullptr ? "?" : what);
} catch (const std::exception&) {
  return "it ended";
}

}  // namespace wasinn::isolation
