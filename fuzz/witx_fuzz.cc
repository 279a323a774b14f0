// Sequences of wasi_ephemeral_nn calls with any arguments over any memory, on the echo backend. Whatever a guest did,
// its quotas hold, the log stays clean, and an honest inference works in the same host afterwards.
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "fuzz/choices.h"
#include "fuzz/expect.h"
#include "fuzz/fake_guest.h"
#include "fuzz/in_process_host.h"

namespace wasinn::fuzz {
namespace {

// A word that makes the echo backend sleep.
constexpr std::string_view kDelay = "delay", kDeaf = "deaf";

// Lets the input choose what a guest does.
class Attack {
 public:
  explicit Attack(Choices& choices) : choices_(choices), program_(guest_.get(), size_t{1} << (6 + choices.Index(7))) {}

  void Run() {
    for (int step = 0; step < 200 && !choices_.done(); ++step) {
      Step();
      ExpectQuotas(guest_.get());
    }
  }

 private:
  void Step() {
    switch (choices_.Index(12)) {
      case 0:
        return Poke();
      case 1:
        return PutModel();
      case 2:
        return PutTensor();
      case 3:
        return UseByName();
      case 4:
        wasinn_guest_close(guest_.get());
        return;
      default:
        return Call(static_cast<Function>(choices_.Index(kFunctionCount)));
    }
  }

  // A number that is likely to mean something: an address or a handle that was used before, an edge, or any.
  uint32_t Number() {
    const uint32_t small = choices_.Number();
    switch (choices_.Index(8)) {
      case 0:
        return choices_.Number<uint32_t>();
      case 1:
        return program_.size() - small;
      case 2:
        return 0u - small;
      case 3:
        return program_.size() == 0 ? 0 : small * 8 % program_.size();
      case 4:
        return 0x7fffffffu + small;
      case 5:
        return small;
      default:
        return seen_[small % kSeen];
    }
  }
  void Remember(uint32_t number) { seen_[next_seen_++ % kSeen] = number; }

  void Poke() {
    const uint32_t address = Number();
    const auto bytes = choices_.Bytes(choices_.Index(64));
    program_.Write(address, bytes.data(), bytes.size());
  }

  void PutModel() {
    const std::string_view model = ModelText(choices_.Number());
    const uint32_t text = Number(), builder = Number();
    const uint32_t list[] = {text, static_cast<uint32_t>(model.size())};
    program_.Write(text, model.data(), model.size());
    program_.Write(builder, list, sizeof(list));
    Remember(builder);
  }

  void PutTensor() {
    const uint32_t dims = Number(), data = Number(), descriptor = Number(), rank = choices_.Index(5);
    uint32_t shape[4];
    for (uint32_t i = 0; i < rank; ++i) shape[i] = choices_.Index(4) == 0 ? Number() : choices_.Number() % 4;
    program_.Write(dims, shape, rank * sizeof(uint32_t));
    const uint32_t tensor[] = {dims, choices_.Index(8) == 0 ? Number() : rank, choices_.Index(7), data,
                               choices_.Index(4) == 0 ? Number() : choices_.Number()};
    program_.Write(descriptor, tensor, sizeof(tensor));
    Remember(descriptor);
  }

  // The shortest way to a working context, so that the later functions are reached.
  void UseByName() {
    program_.Write(0, "m", 1);
    const uint64_t load[] = {0, 1, 4};
    if (program_.Call(kLoadByName, load) != 0) return;
    Remember(program_.Read(4));
    const uint64_t init[] = {program_.Read(4), 8};
    if (program_.Call(kInitContext, init) == 0) Remember(program_.Read(8));
  }

  void Call(Function function) {
    uint64_t args[8] = {};
    for (size_t i = 0; i < FakeGuest::ParameterCount(function); ++i) args[i] = Number();
    if (function == kLoad) {
      if (choices_.Index(4) != 0) args[1] = 1 + choices_.Index(3);
      if (choices_.Index(4) != 0) args[2] = 5;
      if (choices_.Index(4) != 0) args[3] = 0;
      TakeOutDelays();
    }
    const uint32_t error = program_.Call(function, args);
    if (error != 0) return;
    if (function == kLoad) Remember(program_.Read(static_cast<uint32_t>(args[4])));
    if (function == kLoadByName) Remember(program_.Read(static_cast<uint32_t>(args[2])));
    if (function == kInitContext) Remember(program_.Read(static_cast<uint32_t>(args[1])));
  }

  void TakeOutDelays() {
    std::vector<uint8_t>& memory = program_.memory();
    const std::string_view text(reinterpret_cast<const char*>(memory.data()), memory.size());
    for (const std::string_view word : {kDelay, kDeaf}) {
      for (size_t at; (at = text.find(word)) != text.npos;) memory[at] = 'D';
    }
  }

  static constexpr size_t kSeen = 8;
  Choices& choices_;
  HostedGuest guest_;
  FakeGuest program_;
  uint32_t seen_[kSeen] = {};
  size_t next_seen_ = 0;
};

void InferHonestly() {
  const HostedGuest guest(kHonestTimeoutMs);
  FakeGuest program(guest.get(), 256);
  const float values[] = {1.5f, -2};
  const uint32_t shape[] = {2}, tensor[] = {16, 1, 1, 24, sizeof(values)};
  program.Write(0, "m", 1);
  program.Write(16, shape, sizeof(shape));
  program.Write(24, values, sizeof(values));
  program.Write(40, tensor, sizeof(tensor));
  const uint64_t load[] = {0, 1, 4};
  FUZZ_EXPECT(program.Call(kLoadByName, load) == 0);
  const uint64_t init[] = {program.Read(4), 8};
  FUZZ_EXPECT(program.Call(kInitContext, init) == 0);
  const uint64_t input[] = {program.Read(8), 0, 40}, compute[] = {program.Read(8)};
  const uint64_t output[] = {program.Read(8), 0, 100, 8, 120};
  FUZZ_EXPECT(program.Call(kSetInput, input) == 0);
  FUZZ_EXPECT(program.Call(kCompute, compute) == 0);
  FUZZ_EXPECT(program.Call(kGetOutput, output) == 0);
  const auto expected = std::as_bytes(std::span(values));
  FUZZ_EXPECT(std::memcmp(program.memory().data() + 100, expected.data(), expected.size()) == 0);
}

}  // namespace
}  // namespace wasinn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  wasinn::fuzz::Choices choices({data, size});
  wasinn::fuzz::Attack(choices).Run();
  wasinn::fuzz::InferHonestly();
  return 0;
}
