#include "core/isolation/zygote.h"

#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstring>

namespace wasinn::isolation {
core::Status Zygote::Gone() {
  gone_.store(true, std::memory_order_release);
  return core::Status(WASINN_ERROR_UNAVAILABLE,
                      "the process that starts workers has ended; the next load starts another", setting_.backend);
}

core::Status Zygote::Ask(Writer& request, std::span<const int> descriptors, std::span<base::Descriptor> received,
                         Reader& answer) {
  CollectSpare();
  core::Status status = Send(request, descriptors);
  return status.ok() ? Receive(received, answer) : std::move(status);
}

core::Status Zygote::Send(Writer& request, std::span<const int> descriptors) {
  if (gone()) return Gone();
  if (request.used() > kMaxBytes) {
    return core::Error(WASINN_ERROR_TOO_LARGE, "the settings of backend '{}' are too long", setting_.backend);
  }
  if (started_in_.is_elsewhere())
    return core::Status(WASINN_ERROR_UNAVAILABLE, "this OS process was forked off its host", setting_.backend);
  const Socket::Sent sent = socket_.Send(request.written(), descriptors);
  if (sent == Socket::Sent::kRefused) {
    return core::Status(WASINN_ERROR_UNAVAILABLE, "the system lets no more descriptors pass to processes",
                        setting_.backend);
  }
  return sent == Socket::Sent::kDone ? core::Status() : Gone();
}

// A late answer would be mistaken for the answer to another question, and a worker's process for another's.
core::Status Zygote::Receive(std::span<base::Descriptor> received, Reader& answer) {
  if (gone()) return Gone();
  size_t taken = 0;
  const Socket::Received got = socket_.Receive(buffer_, received, taken);
  if (got.outcome != Socket::Outcome::kMessage || got.bytes > buffer_.size()) return Gone();
  answer = Reader({buffer_.data(), got.bytes});
  const auto code = answer.Number<uint32_t>();
  const std::string_view message = answer.Text();
  if (!answer.ok()) return Gone();
  if (code != WASINN_OK) return core::Status(static_cast<wasinn_code>(code), std::string(message), setting_.backend);
  return taken == received.size() ? core::Status() : Gone();
}

core::Status Zygote::SetPatience(std::chrono::milliseconds wait) {
  const std::lock_guard lock(mutex_);
  return socket_.SetPatience(wait);
}

core::Result<std::shared_ptr<Zygote>> Zygote::Start(const Setting& setting, bool spares) {
  ASSIGN_OR_RETURN(auto pair, Socket::MakePair());
  RETURN_IF_ERROR(StartProgram(setting.worker, setting.has_devices, pair.second));
  pair.second = Socket();
  std::shared_ptr<Zygote> made(new Zygote(std::move(pair.first), setting, spares));
  RETURN_IF_ERROR(made->SetPatience(kPatience));
  std::vector<uint8_t> bytes;
  Writer request(bytes);
  request.Number(Op::kOpen);
  setting.Write(request);
  Reader answer;
  const std::lock_guard lock(made->mutex_);
  RETURN_IF_ERROR(made->Ask(request, {}, {}, answer));
  return made;
}

// Requests a worker, and does not wait for it. To `prepare` itself, it gets that request on its channel.
core::Status Zygote::Order(bool prepare) {
  ASSIGN_OR_RETURN(auto pair, Socket::MakePair());
  std::vector<uint8_t> bytes;
  Writer request(bytes);
  if (prepare) {
    request.Number(Op::kPrepare);
    setting_.Write(request);
    if (pair.first.Send(request.written()) != Socket::Sent::kDone) {
      return core::Status(WASINN_ERROR_UNAVAILABLE, "the system has no memory for a message to a worker",
                          setting_.backend);
    }
    request.Clear();
  }
  request.Number(Op::kSpawn);
  const int channel = pair.second.number();
  RETURN_IF_ERROR(Send(request, {&channel, 1}));
  ordered_ = std::move(pair.first);
  return {};
}

core::Result<Zygote::Worker> Zygote::Collect() {
  Worker worker{.channel = std::move(*ordered_), .process = base::Descriptor()};
  ordered_.reset();
  Reader answer;
  RETURN_IF_ERROR(Receive({&worker.process, 1}, answer));
  worker.pid = answer.Number<int32_t>();
  return worker;
}

// Answers come in the order of the questions, so this one comes before any other.
void Zygote::CollectSpare() {
  if (!ordered_) return;
  if (auto worker = Collect()) spare_ = std::move(*worker);
}

// A spare that lives: a shortage of memory may have killed it.
std::optional<Zygote::Worker> Zygote::TakeSpare() {
  CollectSpare();
  if (!spare_) return {};
  Worker worker = std::move(*spare_);
  spare_.reset();
  pollfd ended{.fd = worker.process.number(), .events = POLLIN, .revents = 0};
  if (::poll(&ended, 1, 0) == 0) return worker;
  (void)WaitFor(worker.pid);
  return {};
}

// Workers that are still missing get the next turn.
void Zygote::WaitForLate() {
  std::erase_if(late_, [this](pid_t worker) { return WaitFor(worker).has_value(); });
}

core::Result<Zygote::Worker> Zygote::SpareOrNew() {
  WaitForLate();
  if (std::optional<Worker> spare = TakeSpare()) return std::move(*spare);
  RETURN_IF_ERROR(Order(false));
  return Collect();
}

// Without a spare the next guest waits a little longer.
void Zygote::OrderSpare() noexcept try { (void)Order(true); } catch (const std::exception&) {
}

core::Result<Zygote::Worker> Zygote::Spawn() {
  const std::lock_guard lock(mutex_);
  core::Result<Worker> worker = SpareOrNew();
  if (worker && spares_ && spawned_) OrderSpare();
  spawned_ = true;
  return worker;
}

// The wait status, as from waitpid.
core::Result<int> Zygote::WaitFor(pid_t worker) {
  Writer request(request_);
  request.Number(Op::kWait);
  request.Number(static_cast<int32_t>(worker));
  Reader answer;
  RETURN_IF_ERROR(Ask(request, {}, {}, answer));
  return answer.Number<int32_t>();
}

std::string Zygote::EndOf(const Worker& worker) noexcept try {
  pollfd ended{.fd = worker.process.number(), .events = POLLIN, .revents = 0};
  constexpr int kMilliseconds = 2000;
  const bool has_ended = ::poll(&ended, 1, kMilliseconds) > 0;
  const std::lock_guard lock(mutex_);
  if (!has_ended) {
    if (std::ranges::find(late_, worker.pid) == late_.end()) late_.push_back(worker.pid);
    return "it has not ended yet";
  }
  const core::Result<int> waited = WaitFor(worker.pid);
  std::erase(late_, worker.pid);
  if (!waited) return "it ended";
  const int status = *waited;
  if (WIFEXITED(status)) return fmt::format("it ended with code {}", WEXITSTATUS(status));
  if (!WIFSIGNALED(status)) return "it ended";
  const char* what = ::sigdescr_np(WTERMSIG(status));
  return fmt::format("it was ended by signal {} ({})", WTERMSIG(status), what == nullptr ? "?" : what);
} catch (const std::exception&) {
  return "it ended";
}

}  // namespace wasinn::isolation
