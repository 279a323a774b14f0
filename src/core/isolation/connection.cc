#include "core/isolation/connection.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "base/scope_exit.h"
#include "core/isolation/segment.h"

namespace wasinn::isolation {
namespace {

constexpr uint32_t kMaxLogLines = 64;
// Some frameworks take seconds, and more on a busy machine.
constexpr std::chrono::milliseconds kPatienceToOpen{60000};

}  // namespace

// ---- A call

Connection::Call::Call(Connection& connection, Op op)
    : connection_(connection),
      held_(connection.TakeChannel()),
      request_(channel_ != nullptr ? channel_->request : nowhere_) {
  request_.Number(op);
}

void Connection::Call::Again(Op op) {
  request_.Clear();
  request_.Number(op);
  most_ = kUsualAnswer;
  answer_ = {};
  payload_ = {};
  sent_ = answered_ = false;
}

core::Status Connection::Sent(Socket::Sent sent) {
  if (sent == Socket::Sent::kDone) return {};
  if (sent == Socket::Sent::kClosed) return Lost();
  return core::Status(WASINN_ERROR_UNAVAILABLE, "the system lets no more descriptors pass to workers", backend_);
}

core::Status Connection::Call::Send(std::span<const int> descriptors) {
  Socket& socket = channel_->socket;
  // A worker takes a question before it answers. Else messages would pile up, and descriptors with them.
  if (!socket.IsTaken()) return Nonsense();
  if (request_.used() <= kMaxBytes) return connection_.Sent(socket.Send(request_.written(), descriptors));
  ASSIGN_OR_RETURN(Segment segment, Segment::MakeCopy(request_.written()));
  std::vector<uint8_t> bytes;
  Writer request(bytes);
  request.Number(Op::kLong);
  request.Number(static_cast<uint64_t>(request_.used()));
  std::vector<int> all = {segment.descriptor()};
  all.insert(all.end(), descriptors.begin(), descriptors.end());
  return connection_.Sent(socket.Send(request.written(), all));
}

core::Status Connection::Call::Wait(Length length) {
  Channel& channel = *channel_;
  for (;;) {
    const Socket::Received received = channel.socket.Receive(channel.answer);
    if (received.outcome == Socket::Outcome::kClosed) return connection_.Lost();
    if (received.outcome == Socket::Outcome::kMessage) {
      const bool whole = received.bytes <= channel.answer.size();
      return whole && ReadAnswer({channel.answer.data(), received.bytes}) ? core::Status() : Nonsense();
    }
    if (length == Length::kAsLongAsItTakes) continue;
    connection_.End("it did not answer");
    return connection_.Lost();
  }
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): of a Status that is let go unread

core::Status Connection::Call::Run(Length length, std::span<const int> descriptors) {
  if (connection_.gone()) return connection_.Lost();
  if (channel_ == nullptr) return std::move(held_.error());
  RETURN_IF_ERROR(Send(descriptors));
  sent_ = true;
  RETURN_IF_ERROR(Wait(length));
  answered_ = true;
  core::Status status;
  if (answer_.code != WASINN_OK) {
    status = core::Status(CodeOf(answer_.code), std::string(answer_.message), connection_.backend_);
  }
  if (answer_.payload == payload_.left()) return status;
  core::Status fetched = Fetch();
  return fetched.ok() ? std::move(status) : std::move(fetched);
}

// Reads an answer too long for a message. It is read from a copy, which the worker cannot change.
core::Status Connection::Call::Fetch() {
  if (payload_.left() > 0) return Nonsense();
  const uint64_t bytes = answer_.payload;
  if (bytes > most_) {
    return core::Status(WASINN_ERROR_TOO_LARGE, fmt::format("{} bytes of a message, more than {}", bytes, most_),
                        connection_.backend_);
  }
  ASSIGN_OR_RETURN(Segment segment, Segment::Make(bytes));
  const Answer first = answer_;
  request_.Clear();
  request_.Number(Op::kFetch);
  const int descriptor = segment.descriptor();
  RETURN_IF_ERROR(Send({&descriptor, 1}));
  RETURN_IF_ERROR(Wait(Length::kQuick));
  if (answer_.code != WASINN_OK) return Nonsense();
  answer_ = first;
  answer_.message = {};
  std::vector<uint8_t>& copy = channel_->long_answer;
  copy.assign(segment.data(), segment.data() + bytes);
  payload_ = Reader(copy);
  return {};
}

bool Connection::Call::ReadAnswer(std::span<const uint8_t> message) {
  Reader& reader = payload_;
  reader = Reader(message);
  answer_.code = reader.Number<uint32_t>();
  answer_.graph_reserved = reader.Number<uint64_t>();
  answer_.slot_reserved = reader.Number<uint64_t>();
  const auto lines = reader.Number<uint32_t>();
  if (lines > kMaxLogLines) return false;
  for (uint32_t i = 0; i < lines; ++i) {
    const auto level = reader.Number<uint32_t>();
    const char* line = reader.Text().data();
    if (!reader.ok()) return false;
    connection_.log_(level, line);
  }
  if (answer_.code != WASINN_OK) answer_.message = reader.Text();
  answer_.payload = reader.Number<uint64_t>();
  return reader.ok();
}

core::Status Connection::Call::Nonsense() {
  connection_.End("its answer made no sense");
  return connection_.Lost();
}

// ---- Channels

core::Result<Connection::HeldChannel> Connection::TakeChannel() {
  {
    const std::lock_guard lock(mutex_);
    if (!channels_.empty()) {
      std::unique_ptr<Channel> channel = std::move(channels_.back());
      channels_.pop_back();
      callers_.push_back(channel->caller = core::OnBehalf::guest());
      return HeldChannel(channel.release(), {this});
    }
    if (n_channels_ == kMaxChannels) {
      return std::unexpected(core::Status(WASINN_ERROR_UNAVAILABLE,
                                          fmt::format("{} calls to its worker are under way already", kMaxChannels),
                                          backend_));
    }
    ++n_channels_;
  }
  bool is_made = false;
  const base::ScopeExit uncount([&] {
    if (is_made) return;
    const std::lock_guard lock(mutex_);
    --n_channels_;
  });
  auto channel = std::make_unique<Channel>();
  ASSIGN_OR_RETURN(Socket socket, AddChannel());
  channel->socket = std::move(socket);
  channel->socket.SetSpin(spin_);
  is_made = true;
  const std::lock_guard lock(mutex_);
  callers_.push_back(channel->caller = core::OnBehalf::guest());
  return HeldChannel(channel.release(), {this});
}

// A channel whose answer is still on its way stays in use: Run ends with that answer or with the worker.
void Connection::GiveChannel(std::unique_ptr<Channel> channel) {
  channel->long_answer = {};
  if (channel->request.size() > kMaxBytes) channel->request = {};
  const std::lock_guard lock(mutex_);
  callers_.erase(std::ranges::find(callers_, channel->caller));
  channels_.push_back(std::move(channel));
}

core::Status Connection::Control(Writer& request, std::span<const int> descriptors, Reader& payload) {
  if (!forked() && !control_.socket.IsTaken()) End("it did not listen");
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): as above
  return Exchange(request, descriptors, payload);
}

core::Status Connection::Exchange(Writer& request, std::span<const int> descriptors, Reader& payload) {
  if (gone()) return Lost();
  if (request.used() > kMaxBytes) return core::Status(WASINN_ERROR_TOO_LARGE, "the settings are too long", backend_);
  RETURN_IF_ERROR(Sent(control_.socket.Send(request.written(), descriptors)));
  const Socket::Received received = control_.socket.Receive(control_.answer);
  if (received.outcome == Socket::Outcome::kClosed) return Lost();
  if (received.outcome == Socket::Outcome::kTooLate || received.bytes > control_.answer.size()) {
    End("it did not answer");
    return Lost();
  }
  payload = Reader({control_.answer.data(), received.bytes});
  const auto code = payload.Number<uint32_t>();
  const std::string_view message = payload.Text();
  if (!payload.ok()) End("its answer made no sense");
  if (lost()) return Lost();
  return code == WASINN_OK ? core::Status() : core::Status(CodeOf(code), std::string(message), backend_);
}

void Connection::Notify(Op op, std::initializer_list<uint32_t> numbers) noexcept try {
  if (lost()) return;
  Call call(*this, op);
  for (const uint32_t number : numbers) call.request().Number(number);
  (void)call.Run(Call::Length::kQuick);
  if (call.asked() || gone() || NotifyByFirst(op, numbers).ok()) return;
  End("it took no message about freed objects");
} catch (const std::exception&) {
  End("there was no memory for a message about freed objects");
}

core::Status Connection::NotifyByFirst(Op op, std::initializer_list<uint32_t> numbers) {
  Reader payload;
  const std::lock_guard lock(adding_);
  Writer request(control_.request);
  request.Number(op);
  for (const uint32_t number : numbers) request.Number(number);
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): as above
  return Control(request, {}, payload);
}

core::Result<Socket> Connection::AddChannel() {
  ASSIGN_OR_RETURN(auto pair, Socket::MakePair());
  RETURN_IF_ERROR(pair.first.SetPatience(kPatience));
  const int end = pair.second.number();
  Reader payload;
  const std::lock_guard lock(adding_);
  Writer request(control_.request);
  request.Number(Op::kAddChannel);
  // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): as above
  RETURN_IF_ERROR(Control(request, {&end, 1}, payload));
  return std::move(pair.first);
}

// ---- The worker

core::Result<std::shared_ptr<Connection>> Connection::Start(std::shared_ptr<Zygote> parent,
                                                            std::shared_ptr<Counters> place, const Setting& setting,
                                                            Log log, core::Clock clock) {
  std::shared_ptr<Connection> made(new Connection(std::move(parent), setting, std::move(log), clock));
  made->place_ = std::move(place);
  RETURN_IF_ERROR(made->Open(setting));
  made->is_open_ = true;
  if (made->place_ != nullptr) made->place_->started.fetch_add(1, std::memory_order_relaxed);
  return made;
}

core::Status Connection::Open(const Setting& setting) {
  started_in_.SetToThisProcess();
  channels_.reserve(kMaxChannels);  // so that giving a channel back cannot fail
  callers_.reserve(kMaxChannels);
  ASSIGN_OR_RETURN(Zygote::Worker worker, parent_->Spawn());
  worker_ = std::move(worker);
  control_.socket = std::move(worker_.channel);
  RETURN_IF_ERROR(control_.socket.SetPatience(kPatienceToOpen));
  Reader payload;
  {
    const std::lock_guard lock(adding_);
    Writer request(control_.request);
    request.Number(Op::kStart);
    setting.Write(request);
    // A spare worker may not have taken its earlier message yet.
    RETURN_IF_ERROR(Exchange(request, {}, payload));
    if (!framework_.Read(payload)) {
      End("its answer made no sense");
      return Lost();
    }
    RETURN_IF_ERROR(control_.socket.SetPatience(kPatience));
  }
  ASSIGN_OR_RETURN(cancels_, AddChannel());
  return {};
}

Connection::~Connection() {
  // Its channels are closed: it ends by itself, if it still looks at them.
  if (worker_.process.is_open() && !forked()) {
    Kill();
    (void)parent_->EndOf(worker_);  // so that it is no zombie
  }
}

void Connection::Hold(uint32_t number, std::string digests) {
  const std::lock_guard lock(holding_);
  held_.insert_or_assign(number, std::move(digests));
}

void Connection::Release(uint32_t number) {
  const std::lock_guard lock(holding_);
  held_.erase(number);
}

std::string Connection::Held() {
  constexpr size_t kMaxListed = 8;
  const std::lock_guard lock(holding_);
  if (held_.empty()) return "it held no model";
  std::string text = "with it the models (b2sum -l 256)";
  size_t listed = 0;
  for (const auto& [number, digests] : held_) {
    if (++listed > kMaxListed) break;
    text += (listed == 1 ? " " : ", ") + digests;
  }
  if (held_.size() > kMaxListed) text += fmt::format(" and {} more", held_.size() - kMaxListed);
  return text;
}

void Connection::End(const char* why) {
  if (forked()) return;
  const char* none = nullptr;
  why_.compare_exchange_strong(none, why, std::memory_order_acq_rel);
  lost_.store(true, std::memory_order_release);
  Kill();
}

void Connection::Abandon() {
  is_abandoned_.store(true, std::memory_order_release);
  End("its guest was closed");
}

void Connection::Blame(uint64_t guest) {
  uint64_t none = 0;
  blamed_.compare_exchange_strong(none, guest, std::memory_order_acq_rel);
}

// The guests whose calls have not returned; or the one for whose call the host ended the worker.
std::vector<uint64_t> Connection::FindSuspects() {
  if (const uint64_t blamed = blamed_.load(std::memory_order_acquire)) return {blamed};
  const std::lock_guard lock(mutex_);
  std::vector<uint64_t> guests = callers_;
  std::erase(guests, 0);
  std::ranges::sort(guests);
  guests.erase(std::ranges::unique(guests).begin(), guests.end());
  return guests;
}

std::vector<uint64_t> Connection::Suspects() {
  (void)Lost();  // now it is known
  const std::lock_guard lock(ending_);
  return suspects_;
}

// By the descriptor: another process may have the number by now.
void Connection::Kill() {
  if (worker_.process.is_open()) ::syscall(SYS_pidfd_send_signal, worker_.process.number(), SIGKILL, nullptr, 0);
}

core::Status Connection::Lost() {
  if (forked()) {
    return core::Status(WASINN_ERROR_LOST, "the worker belongs to the OS process that this one was forked off",
                        backend_);
  }
  lost_.store(true, std::memory_order_release);
  Kill();  // a worker that has only closed its socket is useless, too
  const std::lock_guard lock(ending_);
  if (end_.empty()) {
    suspects_ = FindSuspects();
    end_ = parent_->EndOf(worker_);
    if (const char* why = why_.load(std::memory_order_acquire)) end_ = why;
    const bool counts = is_open_ && place_ != nullptr && !is_abandoned_.load(std::memory_order_acquire);
    if (counts) place_->lost.fetch_add(1, std::memory_order_relaxed);
    place_.reset();
    log_(WASINN_LOG_WARNING, fmt::format("a worker is gone: {}; it served {}; {}", end_, owner_, Held()).c_str());
  }
  return core::Status(WASINN_ERROR_LOST, fmt::format("the model's worker is gone: {}; load the model again", end_),
                      backend_);
}

void Connection::Interruption::Interrupt(Connection& connection, uint32_t number, uint64_t turn) {
  const int64_t now = std::chrono::nanoseconds(connection.clock_.now().time_since_epoch()).count();
  const int64_t since = since_.load(std::memory_order_relaxed);
  if (since == 0) {
    since_.store(now, std::memory_order_relaxed);
  } else if (now - since >= std::chrono::nanoseconds(kGrace).count()) {
    connection.Blame(guest_.load(std::memory_order_relaxed));
    return connection.End("it did not stop in time");
  }
  if (turn == 0) return;
  // As a Writer writes them, but without allocating: the watchdog's thread, which serves all guests, calls this.
  const struct {
    Op op;
    uint32_t number;
    uint64_t turn;
  } request = {Op::kCancel, number, turn};
  static_assert(sizeof(request) == sizeof(Op) + sizeof(number) + sizeof(turn));
  (void)connection.cancels_.Send({reinterpret_cast<const uint8_t*>(&request), sizeof(request)}, {}, false);
}

}  // namespace wasinn::isolation
