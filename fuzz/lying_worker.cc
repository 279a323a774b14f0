#include "fuzz/lying_worker.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "fuzz/expect.h"

namespace wasinn::fuzz {

using base::Descriptor;
using isolation::kMaxBytes;
using isolation::Op;
using isolation::Reader;
using isolation::Segment;
using isolation::Socket;
using isolation::Writer;

namespace {

constexpr uint64_t kHonestBytes = sizeof(kHonestOutput);

base::Descriptor ListenAt(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  FUZZ_EXPECT(path.size() < sizeof(address.sun_path));
  std::ranges::copy(path, address.sun_path);
  base::Descriptor fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  FUZZ_EXPECT(fd.is_open());
  FUZZ_EXPECT(::bind(fd.number(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
  FUZZ_EXPECT(::listen(fd.number(), 1) == 0);
  return fd;
}

}  // namespace

LyingWorker::LyingWorker(const std::filesystem::path& folder)
    : listening_(ListenAt(folder / "channels")),
      message_(kMaxBytes),
      descriptors_(Socket::kMaxDescriptors),
      thread_([this] { Serve(); }) {}

void LyingWorker::Use(std::span<const uint8_t> lies) {
  const std::lock_guard lock(mutex_);
  input_.assign(lies.begin(), lies.end());
  lies_ = Choices(input_);
  areas_.clear();
}

template <typename T>
T LyingWorker::Or(T truth) {
  if (!Lies()) return truth;
  switch (lies_.Index(6)) {
    case 0:
      return lies_.Number<T>();
    case 1:
      return std::numeric_limits<T>::max();
    case 2:
      return static_cast<T>(lies_.Number());
    case 3:
      return static_cast<T>(T{1} << lies_.Index(8 * sizeof(T) - 1));
    case 4:
      return static_cast<T>(static_cast<uint64_t>(truth) + 1);
    default:
      return static_cast<T>(static_cast<uint64_t>(truth) - 1);
  }
}

// ---- Channels

void LyingWorker::Serve() {
  for (;;) {
    std::vector<pollfd> all = {
        {.fd = forwarder_ ? forwarder_.number() : listening_.number(), .events = POLLIN, .revents = 0}};
    for (const Channel& channel : channels_)
      all.push_back({.fd = channel.socket.number(), .events = POLLIN, .revents = 0});
    if (::poll(all.data(), all.size(), -1) < 0) continue;
    auto channel = channels_.begin();
    for (size_t i = 1; i < all.size(); ++i) {
      channel = all[i].revents == 0 || ServeOne(*channel) ? std::next(channel) : channels_.erase(channel);
    }
    if (all[0].revents == 0) continue;
    if (!forwarder_) {
      forwarder_ = Socket(base::Descriptor(::accept(listening_.number(), nullptr, nullptr)));
      continue;
    }
    size_t taken = 0;
    const Socket::Received received = forwarder_.Receive(message_, descriptors_, taken);
    if (received.outcome != Socket::Outcome::kMessage) {
      forwarder_ = Socket();  // its host is gone
    } else if (taken == 1) {
      channels_.push_back({.socket = Socket(std::move(descriptors_[0])), .is_first = true});
    }
  }
}

bool LyingWorker::ServeOne(Channel& channel) {
  Request request;
  size_t taken = 0;
  const Socket::Received received = channel.socket.Receive(message_, descriptors_, taken);
  if (received.outcome != Socket::Outcome::kMessage) return false;
  request.reader = Reader({message_.data(), received.bytes});
  request.descriptors = std::span(descriptors_).first(taken);
  request.op = request.reader.Number<Op>();
  const std::lock_guard lock(mutex_);
  const bool stays = channel.is_first ? AnswerFirst(channel, request) : AnswerOther(channel, request);
  for (base::Descriptor& descriptor : request.descriptors) descriptor = base::Descriptor();
  return stays;
}

bool LyingWorker::AnswerFirst(Channel& channel, Request& request) {
  Writer answer(answer_);
  answer.Number(Or(uint32_t{WASINN_OK}));
  WriteText(answer, "");
  if (request.op == Op::kStart) {
    for (const char* text : {"lies", "1", "", "cpu"}) WriteText(answer, text);
  }
  if (!request.descriptors.empty() && !Lies()) {
    channels_.push_back({.socket = Socket(std::move(request.descriptors[0]))});
  }
  return Send(channel, answer.written());
}

bool LyingWorker::AnswerOther(Channel& channel, Request& request) {
  if (request.op == Op::kCancel) return true;
  KeepArea(request);
  Writer answer(answer_);
  WriteHead(answer);
  if (request.op == Op::kFetch) {
    if (!request.descriptors.empty()) {
      auto segment = Segment::Map(request.descriptors[0], payload_.size(), true);
      if (segment && segment->size() > 0) std::ranges::copy(payload_, segment->data());
    }
    answer.Number(uint64_t{0});
    return Send(channel, answer.written());
  }
  Writer payload(payload_);
  WritePayload(request.op, payload);
  payload_.resize(payload.used());
  answer.Number(Or(uint64_t{payload.used()}));
  if (!Lies()) answer.Bytes(payload_.data(), payload_.size());  // otherwise it has to be fetched
  if (Lies()) Scribble();
  const bool stays = Send(channel, answer.written());
  if (Lies()) Scribble();
  return stays;
}

bool LyingWorker::Send(Channel& channel, std::span<const uint8_t> answer) {
  const auto send = [&channel](std::span<const uint8_t> bytes, std::span<const int> descriptors = {}) {
    return channel.socket.Send(bytes, descriptors, false) == Socket::Sent::kDone;
  };
  switch (Lies() ? lies_.Index(7) : 7) {
    case 0:
      return send(answer.first(lies_.Number() % answer.size()));
    case 1: {
      std::vector<uint8_t> longer(answer.begin(), answer.end());
      longer.resize(longer.size() + lies_.Number());
      return send(longer);
    }
    case 2: {
      const std::vector<int> same(1 + lies_.Index(Socket::kMaxDescriptors), listening_.number());
      return send(answer, same);
    }
    case 3:
      return send(answer) && send(answer);
    case 4:
      return false;
    case 5:
      return send(lies_.Bytes(lies_.Number()));
    case 6:
      return send(std::vector<uint8_t>(kMaxBytes + 1));
    default:
      return send(answer);
  }
}

// ---- Shared memory

void LyingWorker::KeepArea(Request& request) {
  const bool is_area =
      request.op == Op::kUseInputArea || request.op == Op::kUseOutputArea || request.op == Op::kUsePieceArea;
  if ((!is_area && request.op != Op::kShare) || request.descriptors.empty()) return;
  (void)request.reader.Number<uint32_t>();
  if (!is_area) (void)request.reader.Number<uint32_t>();
  auto segment = Segment::Map(request.descriptors[0], request.reader.Number<uint64_t>(), true);
  FUZZ_EXPECT(segment);
  areas_.insert_or_assign(request.op, std::move(*segment));
}

void LyingWorker::Scribble() {
  if (areas_.empty()) return;
  const Segment& area = std::next(areas_.begin(), lies_.Index(areas_.size()))->second;
  const std::span<const uint8_t> bytes = lies_.Bytes(lies_.Number());
  const size_t at = lies_.Number<uint16_t>() % (area.size() + 1);
  for (size_t i = 0; i < bytes.size() && at + i < area.size(); ++i) area.data()[at + i] = bytes[i];
}

// ---- Answers

void LyingWorker::WriteText(Writer& writer, std::string_view truth) {
  if (!Lies()) return writer.Text(truth);
  if (Lies()) return writer.Number(lies_.Number<uint32_t>());
  writer.Text(lies_.Text(lies_.Number()));
}

void LyingWorker::WriteHead(Writer& answer) {
  const auto code = Or(uint32_t{WASINN_OK});
  answer.Number(code);
  answer.Number(Or(uint64_t{0}));
  answer.Number(Or(uint64_t{0}));
  const auto lines = Or(0u);
  answer.Number(lines);
  for (uint32_t i = 0; i < std::min(lines, 80u); ++i) {
    answer.Number(Or(uint32_t{WASINN_LOG_WARNING}));
    WriteText(answer, "a line");
  }
  if (code != WASINN_OK) WriteText(answer, "it failed");
}

void LyingWorker::WritePayload(Op op, Writer& payload) {
  switch (op) {
    case Op::kLoad:
      return WriteModel(payload);
    case Op::kCompute:
    case Op::kStep:
    case Op::kShow:
      return WriteOutputs(payload);
    case Op::kPiece:
      payload.Number(Or(isolation::RoundUp(kHonestBytes)));
      return WriteOutput(payload);
    default:
      return;
  }
}

void LyingWorker::WriteModel(Writer& payload) {
  payload.Number(Or(UINT32_MAX));
  payload.Number(Or(0u));
  late_ = Or(uint8_t{0}) != 0;
  payload.Number(static_cast<uint8_t>(late_));
  WriteIos(payload, Or(1u));
  outputs_ = Or(late_ ? 0u : 1u);
  WriteIos(payload, outputs_);
  WriteText(payload, "{}");
}

void LyingWorker::WriteIos(Writer& payload, uint32_t count) {
  constexpr uint32_t kMax = 16;  // of those that there are
  payload.Number(count);
  for (uint32_t i = 0; i < std::min(count, kMax); ++i) {
    payload.Number(Or(uint32_t{WASINN_DTYPE_F32}));
    payload.Number(Or(0u));
    const auto rank = Or(int32_t{1});
    payload.Number(rank);
    for (int32_t dim = 0; dim < std::min(rank, 40); ++dim) payload.Number(Or(kHonestSize));
    WriteText(payload, "x");
    WriteText(payload, "");
  }
}

void LyingWorker::WriteOutputs(Writer& payload) {
  payload.Number(Or(isolation::RoundUp(kHonestBytes)));
  uint32_t count = outputs_;
  if (late_) {
    count = Or(1u);
    WriteIos(payload, count);
  }
  payload.Number(Or(count));
  for (uint32_t i = 0; i < std::min(count, 16u); ++i) WriteOutput(payload);
  const auto area = areas_.find(Op::kUseOutputArea);
  if (area == areas_.end() || area->second.size() < kHonestBytes) return;
  std::memcpy(area->second.data(), kHonestOutput, kHonestBytes);
}

void LyingWorker::WriteOutput(Writer& payload) {
  const auto code = Or(uint32_t{WASINN_OK});
  payload.Number(code);
  if (code != WASINN_OK) return WriteText(payload, "there is none");
  payload.Number(Or(uint64_t{0}));
  payload.Number(Or(uint32_t{WASINN_DTYPE_F32}));
  const auto rank = Or(1u);
  payload.Number(rank);
  for (uint32_t dim = 0; dim < std::min(rank, 40u); ++dim) payload.Number(Or(kHonestSize));
  payload.Number(Or(kHonestBytes));
}

}  // namespace wasinn::fuzz
