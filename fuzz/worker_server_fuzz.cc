// The worker's side of the protocol between it and its host. A host is trusted: its mistakes may cost the worker's
// guest an error, but not the worker. One thing is assumed: segments are as large as the host says, because a worker in
// its sandbox cannot check. The input is what comes over a channel. Each question gets one answer, which can be read,
// and an honest inference works afterwards in the same worker.
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/isolation/protocol.h"
#include "core/isolation/segment.h"
#include "fuzz/choices.h"
#include "fuzz/expect.h"
#include "fuzz/in_process_host.h"
#include "fuzz/serving_worker.h"

namespace wasinn::fuzz {
namespace {

using base::Descriptor;
using isolation::Op;
using isolation::Reader;
using isolation::Segment;
using isolation::Writer;

constexpr uint32_t kMaxNumbers = 4;  // of graphs, slots and segments that an input uses
constexpr uint64_t kAreaBytes = 4096, kMaxAreaBytes = 1 << 16;

Segment CopyOf(std::string_view text) {
  return Must(Segment::MakeCopy({reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
}

// ---- Messages of a host

class Host {
 public:
  Host(Choices& choices, Channel& channel) : choices_(choices), channel_(channel) {}

  void Run() {
    for (int step = 0; step < 64 && !choices_.done(); ++step) {
      if (!Ask()) return;
    }
  }

 private:
  bool Odd() { return choices_.Index(16) == 15; }
  template <typename T>
  T Or(T right) {
    if (!Odd()) return right;
    switch (choices_.Index(3)) {
      case 0:
        return choices_.Number<T>();
      case 1:
        return static_cast<T>(~T{0} - choices_.Number());
      default:
        return static_cast<T>(choices_.Number());
    }
  }
  uint32_t Number() { return 1 + choices_.Index(kMaxNumbers); }
  // In turn, there and not there.
  uint32_t NextProcessor() {
    static constexpr uint32_t kAll[] = {isolation::kAnyProcessor, 0, 1, CPU_SETSIZE - 1, CPU_SETSIZE, INT32_MAX};
    return kAll[processors_++ % std::size(kAll)];
  }

  // One question and its answer. Returns false if the worker has hung up.
  bool Ask() {
    static constexpr Op kOps[] = {Op::kLoad,    Op::kNewSlot, Op::kUseInputArea, Op::kUseOutputArea, Op::kCompute,
                                  Op::kShow,    Op::kStep,    Op::kPiece,        Op::kUsePieceArea,  Op::kShare,
                                  Op::kUnshare, Op::kUnload,  Op::kFreeSlot,     Op::kFinish,        Op::kDiscard,
                                  Op::kCancel,  Op::kFetch,   Op::kCompute,      Op::kLong,          Op::kStart};
    Writer request(bytes_);
    files_.clear();
    const auto op = std::bit_cast<Op>(Or(static_cast<uint32_t>(kOps[choices_.Index(std::size(kOps))])));
    request.Number(op);
    WriteRest(op, request);
    if (Odd()) request.Bytes(&op, choices_.Index(sizeof(op)));
    size_t size = request.used();
    if (Odd()) size = 1 + choices_.Number() % size;
    if (!Send(request.written().first(size))) return false;
    if (op == Op::kCancel && size >= sizeof(op)) return true;
    Reader answer;
    if (!channel_.Hear(answer)) return false;
    (void)ReadHead(answer);
    return true;
  }

  // In a packet, or in a segment if it is too long for one.
  bool Send(std::span<const uint8_t> request) {
    std::vector<int> descriptors(files_.size());
    std::ranges::transform(files_, descriptors.begin(), &base::Descriptor::number);
    if (Odd() && !descriptors.empty()) descriptors.pop_back();
    if (!Odd()) return channel_.Send(request, descriptors);
    const Segment segment = Must(Segment::MakeCopy(request));
    descriptors.insert(descriptors.begin(), segment.descriptor());
    if (Odd()) descriptors.clear();
    std::vector<uint8_t> bytes;
    Writer around(bytes);
    around.Number(Op::kLong);
    around.Number(static_cast<uint64_t>(request.size()));
    return channel_.Send(around.written(), descriptors);
  }

  void WriteRest(Op op, Writer& request) {
    switch (op) {
      case Op::kLoad:
        return WriteLoad(request);
      case Op::kNewSlot:
        request.Number(Number());
        request.Number(Number());
        request.Number(Or(uint64_t{0}));
        return request.Text("{}");
      case Op::kShare:
        request.Number(Number());
        return WriteArea(request);
      case Op::kUseInputArea:
      case Op::kUseOutputArea:
      case Op::kUsePieceArea:
        return WriteArea(request);
      case Op::kCompute:
        request.Number(NextProcessor());
        WriteBindings(request);
        request.Number(Or(uint64_t{0}));
        request.Number(Or(uint64_t{0}));
        return WriteWanted(request);
      case Op::kStep:
        return WriteBindings(request);
      case Op::kPiece:
      case Op::kUnshare:
        request.Number(Number());
        return request.Number(Or(0u));
      case Op::kCancel:
        request.Number(Number());
        return request.Number(Or(uint64_t{1}));
      case Op::kFetch:
        return AddFile(kAreaBytes);
      default:
        return request.Number(Number());
    }
  }

  void WriteLoad(Writer& request) {
    const std::string_view model = ModelText(choices_.Number());
    request.Number(Number());
    request.Number(Or(uint32_t{WASINN_TARGET_CPU}));
    for (const char* text : {"ggml", "{}", "{}"}) request.Text(text);
    request.Number(Or(int32_t{0}));
    request.Number(Or(uint64_t{1 << 20}));
    const auto parts = Or(1u);
    request.Number(parts);
    for (uint32_t i = 0; i < std::min(parts, 4u); ++i) {
      request.Number(std::min(Or(uint64_t{model.size()}), uint64_t{model.size()}));
    }
    files_.push_back(base::Descriptor(::dup(CopyOf(model).descriptor())));
  }
  void WriteArea(Writer& request) {
    request.Number(Number());
    const uint64_t bytes = std::min(Or(kAreaBytes), kMaxAreaBytes);
    request.Number(bytes);
    AddFile(bytes);
  }
  void WriteBindings(Writer& request) {
    request.Number(Number());                                      // slot
    request.Number(uint64_t{1});                                   // turn
    request.Number(static_cast<uint8_t>(choices_.Index(8) == 7));  // reset
    const uint32_t count = choices_.Index(3);
    request.Number(Or(count));
    for (uint32_t i = 0; i < count; ++i) WriteBinding(request, i);
  }
  void WriteBinding(Writer& request, uint32_t index) {
    request.Number(Or(index));
    request.Number(Or(isolation::kArea));
    const uint64_t offset = choices_.Index(16) == 14 ? isolation::kNowhere : Or(uint64_t{0});
    request.Number(offset);
    if (offset == isolation::kNowhere) return;
    request.Number(Or(uint32_t{WASINN_DTYPE_F32}));
    const auto rank = Or(1u);
    request.Number(rank);
    for (uint32_t dim = 0; dim < std::min(rank, 40u); ++dim) request.Number(Or(int64_t{2}));
    request.Number(Or(uint64_t{2 * sizeof(float)}));
  }
  void WriteWanted(Writer& request) {
    const uint32_t count = choices_.Index(3);
    request.Number(Or(count));
    for (uint32_t i = 0; i < count; ++i) request.Number(Or(i));
  }

  // Shared memory, or something else.
  void AddFile(uint64_t bytes) {
    if (Odd()) return files_.push_back(base::Descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC)));
    const Segment segment = Must(Segment::Make(bytes));
    files_.push_back(base::Descriptor(::dup(segment.descriptor())));
  }

  Choices& choices_;
  Channel& channel_;
  std::vector<uint8_t> bytes_;
  std::vector<base::Descriptor> files_;
  size_t processors_ = 0;
};

// ---- What is right

class Questions {
 public:
  explicit Questions(Channel& channel) : channel_(channel) {}

  Writer& New(Op op) {
    request_.Clear();
    request_.Number(op);
    return request_;
  }
  // Answered without an error.
  Reader& Ask(std::span<const int> descriptors = {}) {
    answer_ = channel_.Ask(request_.written(), descriptors);
    FUZZ_EXPECT(ReadHead(answer_).code == WASINN_OK);
    return answer_;
  }

  void Load(std::string_view model) {
    Writer& request = New(Op::kLoad);
    request.Number(1u);
    request.Number(uint32_t{WASINN_TARGET_CPU});
    for (const char* text : {"ggml", "{}", "{}"}) request.Text(text);
    request.Number(int32_t{0});
    request.Number(uint64_t{0});
    request.Number(1u);
    request.Number(uint64_t{model.size()});
    const Segment bytes = CopyOf(model);
    Ask(std::array{bytes.descriptor()});
  }
  void NewSlot() {
    Writer& request = New(Op::kNewSlot);
    request.Number(1u);
    request.Number(1u);
    request.Number(uint64_t{0});
    request.Text("{}");
    Ask();
  }
  Segment UseArea(Op op) {
    Segment area = Must(Segment::Make(kAreaBytes));
    Writer& request = New(op);
    request.Number(1u);
    request.Number(kAreaBytes);
    Ask(std::array{area.descriptor()});
    return area;
  }
  // The position of the output. The input is at the beginning of its area.
  uint64_t Compute(std::span<const int64_t> dims, uint64_t bytes) {
    Writer& request = New(Op::kCompute);
    request.Number(isolation::kAnyProcessor);
    request.Number(1u);
    request.Number(uint64_t{1});
    request.Number(uint8_t{0});
    request.Number(1u);
    request.Number(0u);
    request.Number(isolation::kArea);
    request.Number(uint64_t{0});
    isolation::WriteDesc(request, WASINN_DTYPE_F32, dims, bytes);
    isolation::WriteComputeOptions(request, {});
    Reader& answer = Ask();
    (void)answer.Number<uint64_t>();
    FUZZ_EXPECT(answer.Number<uint32_t>() == 1 && answer.Number<uint32_t>() == WASINN_OK);
    return answer.Number<uint64_t>();
  }

 private:
  Channel& channel_;
  std::vector<uint8_t> bytes_;
  Writer request_{bytes_};
  Reader answer_;
};

void FreeAll(Channel& channel) {
  Questions ask(channel);
  for (const Op op : {Op::kFreeSlot, Op::kUnload}) {
    for (uint32_t number = 1; number <= kMaxNumbers; ++number) {
      ask.New(op).Number(number);
      ask.Ask();
    }
  }
}

void InferHonestly(Channel& channel) {
  const std::array<float, 2> values = {1.5f, -2};
  Questions ask(channel);
  ask.Load(ModelText(0));
  ask.NewSlot();
  const Segment input = ask.UseArea(Op::kUseInputArea), output = ask.UseArea(Op::kUseOutputArea);
  std::memcpy(input.data(), values.data(), sizeof(values));
  const uint64_t offset = ask.Compute(std::array<int64_t, 1>{values.size()}, sizeof(values));
  FUZZ_EXPECT(offset <= kAreaBytes - sizeof(values));
  FUZZ_EXPECT(std::memcmp(output.data() + offset, std::as_bytes(std::span(values)).data(), sizeof(values)) == 0);
}

}  // namespace
}  // namespace wasinn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using wasinn::fuzz::Channel;
  static auto* const worker = new wasinn::fuzz::Worker;
  wasinn::fuzz::Choices choices({data, size});
  {
    Channel channel = worker->AddChannel();
    wasinn::fuzz::Host(choices, channel).Run();
  }
  Channel channel = worker->AddChannel();
  wasinn::fuzz::FreeAll(channel);
  wasinn::fuzz::InferHonestly(channel);
  wasinn::fuzz::FreeAll(channel);
  return 0;
}
