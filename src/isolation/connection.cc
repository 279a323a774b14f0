#include "isolation/connection.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace wasinn::isolation {
namespace {

// A page that is zero in whoever is forked off: such a process has our sockets, and must not use them.
core::Result<uint8_t*> MakeMark() {
  const auto size = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
  void* page = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return core::Fail(WASINN_TOO_LARGE, "out of memory");
  if (::madvise(page, size, MADV_WIPEONFORK) != 0) {
    ::munmap(page, size);
    return core::Fail(WASINN_UNAVAILABLE, "workers need Linux 4.14 or newer");
  }
  auto* mark = static_cast<uint8_t*>(page);
  *mark = 1;
  return mark;
}

wasinn_code CodeOf(uint32_t code) {
  return code <= WASINN_LOST ? static_cast<wasinn_code>(code) : WASINN_RUNTIME_ERROR;
}

constexpr uint32_t kMostLogLines = 64;

}  // namespace

// ---- A call

Connection::Call::Call(Connection& connection, Op op)
    : connection_(connection), lane_(connection.TakeLane()), request_(lane_ ? (*lane_)->buffer : std::span<uint8_t>()) {
  request_.Number(op);
}

Connection::Call::~Call() {
  if (lane_) connection_.GiveLane(std::move(*lane_));
}

core::Status Connection::Call::Wait(Length length, size_t& bytes) {
  Lane& lane = **lane_;
  for (;;) {
    const Socket::Received received = lane.socket.Receive(lane.buffer);
    bytes = received.bytes;
    if (received.outcome == Socket::Outcome::kMessage) return {};
    if (received.outcome == Socket::Outcome::kClosed) return connection_.Lost();
    if (length == Length::kAsLongAsItTakes) continue;
    connection_.End("it did not answer");
    return connection_.Lost();
  }
}

core::Status Connection::Call::Run(Length length, std::span<const int> descriptors) {
  if (connection_.lost()) return connection_.Lost();
  if (!lane_) return std::move(lane_.error());
  if (!request_.fits()) {
    return core::Status(WASINN_TOO_LARGE, fmt::format("a call of more than {} bytes to a worker", kMostBytes),
                        connection_.backend_);
  }
  if (!(*lane_)->socket.Send(request_.written(), descriptors)) return connection_.Lost();
  size_t bytes = 0;
  if (core::Status status = Wait(length, bytes); !status.ok()) return status;
  if (bytes > kMostBytes || !ReadAnswer({(*lane_)->buffer.data(), bytes})) return Nonsense();
  answered_ = true;
  if (answer_.code == WASINN_OK) return {};
  return core::Status(CodeOf(answer_.code), std::string(answer_.message), connection_.backend_);
}

bool Connection::Call::ReadAnswer(std::span<const uint8_t> message) {
  Reader& reader = payload_;
  reader = Reader(message);
  answer_.code = reader.Number<uint32_t>();
  answer_.graph_reserved = reader.Number<uint64_t>();
  answer_.slot_reserved = reader.Number<uint64_t>();
  const auto lines = reader.Number<uint32_t>();
  if (lines > kMostLogLines) return false;
  for (uint32_t i = 0; i < lines; ++i) {
    const auto level = reader.Number<uint32_t>();
    const std::string line(reader.Text());
    if (!reader.ok()) return false;
    connection_.log_(level, line.c_str());
  }
  if (answer_.code != WASINN_OK) answer_.message = reader.Text();
  return reader.ok();
}

core::Status Connection::Call::Nonsense() {
  connection_.End("its answer made no sense");
  return connection_.Lost();
}

// ---- Lanes

core::Result<std::unique_ptr<Lane>> Connection::TakeLane() {
  {
    const std::lock_guard lock(mutex_);
    if (!lanes_.empty()) {
      std::unique_ptr<Lane> lane = std::move(lanes_.back());
      lanes_.pop_back();
      return lane;
    }
    if (n_lanes_ == kMostLanes) {
      return std::unexpected(core::Status(
          WASINN_UNAVAILABLE, fmt::format("{} calls to its worker are under way already", kMostLanes), backend_));
    }
    ++n_lanes_;
  }
  core::Result<Socket> socket = AddLane();
  if (!socket) {
    const std::lock_guard lock(mutex_);
    --n_lanes_;
    return std::unexpected(std::move(socket.error()));
  }
  auto lane = std::make_unique<Lane>();
  lane->socket = std::move(*socket);
  return lane;
}

// One that has an answer on its way, since its call was left, is never left: Run ends with its answer or the worker.
void Connection::GiveLane(std::unique_ptr<Lane> lane) {
  const std::lock_guard lock(mutex_);
  lanes_.push_back(std::move(lane));
}

core::Status Connection::Control(Writer& request, std::span<const int> descriptors, Reader& payload) {
  if (lost()) return Lost();
  if (!request.fits() || !control_.socket.Send(request.written(), descriptors)) return Lost();
  const Socket::Received received = control_.socket.Receive(control_.buffer);
  if (received.outcome != Socket::Outcome::kMessage || received.bytes > control_.buffer.size()) {
    End("it did not answer");
    return Lost();
  }
  payload = Reader({control_.buffer.data(), received.bytes});
  const auto code = payload.Number<uint32_t>();
  const std::string message(payload.Text());
  if (!payload.ok()) End("its answer made no sense");
  if (lost()) return Lost();
  return code == WASINN_OK ? core::Status() : core::Status(CodeOf(code), message, backend_);
}

core::Result<Socket> Connection::AddLane() {
  auto pair = Socket::MakePair();
  if (!pair) return std::unexpected(std::move(pair.error()));
  if (core::Status status = pair->first.SetPatience(kPatience); !status.ok()) return std::unexpected(std::move(status));
  const int end = pair->second.get();
  Reader payload;
  const std::lock_guard lock(adding_);
  Writer request(control_.buffer);
  request.Number(Op::kAddLane);
  core::Status status = Control(request, {&end, 1}, payload);
  if (!status.ok()) return std::unexpected(std::move(status));
  return std::move(pair->first);
}

// ---- The worker

core::Result<std::shared_ptr<Connection>> Connection::Start(std::shared_ptr<Template> parent, const Setting& setting,
                                                            Log log) {
  std::shared_ptr<Connection> made(new Connection(std::move(parent), setting.backend, std::move(log)));
  if (core::Status status = made->Open(setting); !status.ok()) return std::unexpected(std::move(status));
  return made;
}

core::Status Connection::Open(const Setting& setting) {
  core::Result<uint8_t*> mark = MakeMark();
  if (!mark) return std::move(mark.error());
  here_ = *mark;
  core::Result<Template::Worker> worker = parent_->Spawn();
  if (!worker) return std::move(worker.error());
  worker_ = std::move(*worker);
  control_.socket = std::move(worker_.lane);
  Reader payload;
  {
    const std::lock_guard lock(adding_);
    Writer request(control_.buffer);
    request.Number(Op::kStart);
    setting.Write(request);
    if (core::Status status = Control(request, {}, payload); !status.ok()) return status;
    if (!framework_.Read(payload)) {
      End("its answer made no sense");
      return Lost();
    }
    if (core::Status status = control_.socket.SetPatience(kPatience); !status.ok()) return status;
  }
  core::Result<Socket> cancels = AddLane();
  if (!cancels) return std::move(cancels.error());
  cancels_ = std::move(*cancels);
  return {};
}

Connection::~Connection() {
  // Its lanes hang up: it ends by itself, unless it does not look.
  if (worker_.process && !forked()) {
    Kill();
    (void)parent_->EndOf(worker_);  // so that it is no zombie
  }
  if (here_ != nullptr) ::munmap(const_cast<uint8_t*>(here_), static_cast<size_t>(::sysconf(_SC_PAGESIZE)));
}

void Connection::End(const char* why) {
  if (forked()) return;
  {
    const std::lock_guard lock(mutex_);
    if (why_.empty() && end_.empty()) why_ = why;
  }
  lost_.store(true, std::memory_order_release);
  Kill();
}

// By the descriptor: the number may be another's by now.
void Connection::Kill() {
  if (worker_.process) ::syscall(SYS_pidfd_send_signal, worker_.process.get(), SIGKILL, nullptr, 0);
}

core::Status Connection::Lost() {
  if (forked()) {
    return core::Status(WASINN_LOST, "the worker belongs to the OS process that this one was forked off", backend_);
  }
  lost_.store(true, std::memory_order_release);
  Kill();  // one that has only hung up is no use either
  const std::lock_guard lock(mutex_);
  if (end_.empty()) {
    end_ = parent_->EndOf(worker_);
    if (!why_.empty()) end_ = why_;
    log_(WASINN_LOG_WARNING, fmt::format("a worker is gone with the models that it held: {}", end_).c_str());
  }
  return core::Status(WASINN_LOST, fmt::format("the model's worker is gone: {}; load the model again", end_), backend_);
}

void Connection::Interruption::Interrupt(Connection& connection, uint32_t number, uint64_t turn) {
  const auto now = std::chrono::steady_clock::now();
  if (since_ == std::chrono::steady_clock::time_point()) {
    since_ = now;
  } else if (now - since_ >= kGrace) {
    return connection.End("it did not stop in time");
  }
  if (turn == 0) return;
  std::array<uint8_t, sizeof(Op) + sizeof(number) + sizeof(turn)> bytes{};
  Writer request(bytes);
  request.Number(Op::kCancel);
  request.Number(number);
  request.Number(turn);
  (void)connection.cancels_.Send(request.written(), {}, false);
}

}  // namespace wasinn::isolation
