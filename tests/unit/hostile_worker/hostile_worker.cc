// Serves a host as wasinn-worker does, but for one lie. Its framework is none: each model has an input and an output of
// three floats, and computes nothing. The lie is the end of the name by which it was started: "hostile_worker-offset".
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/isolation/protocol.h"
#include "core/isolation/segment.h"
#include "worker/zygote.h"

namespace wasinn {
namespace {

using isolation::Op;
using isolation::Reader;
using isolation::Socket;
using isolation::Writer;
using wasinn::base::Descriptor;

std::string lie;
bool Lies(std::string_view what) { return lie == what; }

void Begin(Writer& answer, uint32_t code = WASINN_OK) {
  answer.Number(code);
  answer.Number(uint64_t{0});
  answer.Number(Lies("reserves") ? uint64_t{1} << 62 : uint64_t{0});
  answer.Number(Lies("logs") ? UINT32_MAX : 0u);
  if (code != WASINN_OK) answer.Text("\xff\xfe is not UTF-8");
}

void End(Writer& answer, const Writer& payload) {
  answer.Number(Lies("payload") ? uint64_t{1} << 60 : uint64_t{payload.used()});
  if (payload.used() < isolation::kMaxBytes / 2) answer.Bytes(payload.written().data(), payload.used());
}

// Writes an answer that was too long for a message.
void Fetch(std::vector<wasinn::base::Descriptor>& descriptors, std::span<const uint8_t> payload) {
  if (const auto segment = isolation::Segment::Map(descriptors[0], payload.size(), true)) {
    std::ranges::copy(payload, segment->data());
  }
}

// Outputs of the lie "errors".
constexpr uint32_t kErrors = 1000;

// Each has one, as long as an answer has room for.
void ComputeErrors(Writer& payload) {
  payload.Number(uint64_t{0});
  payload.Number(kErrors);
  for (uint32_t i = 0; i < kErrors; ++i) {
    payload.Number(1u);
    payload.Text(std::string(2000, '?'));
  }
}

void WriteIo(Writer& payload) {
  payload.Number(Lies("dtype") ? 99u : uint32_t{WASINN_DTYPE_F32});
  payload.Number(Lies("flags") ? UINT32_MAX : WASINN_IO_OPTIONAL | WASINN_IO_BINDABLE | 1u << 20);
  payload.Number(Lies("rank") ? 33 : 1);
  payload.Number(int64_t{3});
  if (Lies("name")) {
    payload.Number(UINT32_MAX);
  } else {
    payload.Text("x");
  }
  payload.Text("");
}

void Load(Writer& payload) {
  payload.Number(UINT32_MAX);
  payload.Number(UINT32_MAX);
  payload.Number(static_cast<uint8_t>(Lies("late") || Lies("crowd")));
  payload.Number(0u);
  if (Lies("crowd")) {
    payload.Number(0u);
  } else {
    const uint32_t count = Lies("errors") ? kErrors : 1;
    payload.Number(Lies("ios") ? UINT32_MAX : count);
    for (uint32_t i = 0; i < count; ++i) WriteIo(payload);
  }
  payload.Text("{}");
}

// As many outputs as there is room for, of which each is an error.
void ComputeCrowd(Writer& payload) {
  constexpr uint32_t kCount = 30'000;
  payload.Number(uint64_t{0});
  payload.Number(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    for (const uint32_t number : {uint32_t{WASINN_DTYPE_F32}, 0u, 0u}) payload.Number(number);
    for (int text = 0; text < 2; ++text) payload.Text("");
  }
  payload.Number(kCount);
  for (uint32_t i = 0; i < kCount; ++i) {
    payload.Number(1u);
    payload.Text("");
  }
}

void Compute(Writer& payload) {
  if (Lies("crowd")) return ComputeCrowd(payload);
  if (Lies("errors")) return ComputeErrors(payload);
  payload.Number(Lies("needs") ? UINT64_MAX : 64);
  payload.Number(Lies("outputs") ? 7u : 1u);
  payload.Number(Lies("code") ? 99u : Lies("lost") ? uint32_t{WASINN_ERROR_LOST} : 0u);
  if (Lies("code") || Lies("lost")) return payload.Text("?");
  payload.Number(Lies("offset") ? uint64_t{1} << 40 : uint64_t{0});
  const std::vector<int64_t> dims = {Lies("dims") ? INT64_MAX : Lies("negative") ? -3 : 3};
  isolation::WriteDesc(payload, WASINN_DTYPE_F32, dims, Lies("bytes") ? uint64_t{1} << 40 : 12);
}

void SendDescriptors(Socket& channel, const Writer& answer) {
  std::vector<int> all;
  for (int i = 0; i < 8; ++i) all.push_back(::open("/dev/null", O_RDONLY));
  channel.Send(answer.written(), all);
}

void ServeChannel(Socket& channel) {
  std::vector<uint8_t> message(isolation::kMaxBytes), answers, payloads, last;
  std::vector<wasinn::base::Descriptor> descriptors(Socket::kMaxDescriptors);
  for (;;) {
    if (Lies("unasked")) {  // and takes no question
      Writer answer(answers), payload(payloads);
      Load(payload);
      Begin(answer);
      End(answer, payload);
      if (channel.Send(answer.written()) != Socket::Sent::kDone) return;
      continue;
    }
    size_t taken = 0;
    const Socket::Received received = channel.Receive(message, descriptors, taken);
    if (received.outcome != Socket::Outcome::kMessage) return;
    Reader request({message.data(), received.bytes});
    const Op op = request.Number<Op>();
    if (op == Op::kCancel) continue;
    Writer answer(answers), payload(payloads);
    const bool computes = op == Op::kCompute || op == Op::kShow;
    if (op == Op::kFetch) Fetch(descriptors, last);
    if (op == Op::kLoad) Load(payload);
    if (computes) Compute(payload);
    last.assign(payload.written().begin(), payload.written().end());
    if (Lies("hangs") && computes) ::pause();
    if (Lies("closes") && computes) return;
    if (Lies("lingers") && (op == Op::kFreeSlot || op == Op::kUnload)) ::pause();
    Begin(answer, Lies("words") && op == Op::kLoad ? 200 : 0);
    End(answer, payload);
    if (Lies("cut") && computes) {
      answers.resize(answer.used());
      channel.Send(std::span(answers).first(5));
    } else if (Lies("descriptors")) {
      SendDescriptors(channel, answer);
    } else {
      channel.Send(answer.written());
      if (Lies("twice")) channel.Send(answer.written());
    }
  }
}

void ServeControl(Socket& channel) {
  std::vector<uint8_t> message(isolation::kMaxBytes), bytes;
  std::vector<wasinn::base::Descriptor> descriptors(1);
  for (;;) {
    size_t taken = 0;
    const Socket::Received received = channel.Receive(message, descriptors, taken);
    if (received.outcome != Socket::Outcome::kMessage) ::_exit(0);
    if (Reader({message.data(), received.bytes}).Number<Op>() == Op::kPrepare) continue;
    Writer answer(bytes);
    answer.Number(0u);
    answer.Text("");
    if (taken > 0) {
      std::thread([channel = Socket(std::move(descriptors[0]))]() mutable { ServeChannel(channel); }).detach();
    } else {
      isolation::Framework{.name = "lies", .version = "1", .library = "", .devices = "cpu"}.Write(answer);
    }
    channel.Send(answer.written());
  }
}

}  // namespace
}  // namespace wasinn

int main(int argc, char** argv) {
  using wasinn::base::Descriptor;
  using wasinn::isolation::Socket;
  if (argc == 2) {  // started again, as by a zygote with a second thread
    wasinn::lie = std::getenv("LIE");
    Socket first((wasinn::base::Descriptor(wasinn::isolation::kFirstDescriptor)));
    wasinn::ServeControl(first);
  }
  const std::string name = argv[0];
  wasinn::lie = name.substr(name.rfind('-') + 1);
  ::setenv("LIE", wasinn::lie.c_str(), 1);
  wasinn::base::Descriptor host(static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0)));
  if (::fork() != 0) ::_exit(0);
  wasinn::worker::FrameworkOf framework;
  const auto open = [](wasinn::worker::FrameworkOf&) { return wasinn::core::Status(); };
  wasinn::worker::Zygote parent(framework, open, Socket(wasinn::base::Descriptor(wasinn::isolation::kFirstDescriptor)),
                                std::move(host));
  Socket channel = parent.Run();
  wasinn::ServeControl(channel);
}
