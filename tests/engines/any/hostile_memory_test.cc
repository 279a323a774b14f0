// Every function of the table, with every kind of argument, on every kind of memory: whatever an engine's guest gives,
// it gets one of the documented errnos, nothing outside of its memory is touched, and it can infer afterwards.
#include "engines/any/plain_test.h"

namespace wasinn::testing {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30, kWasmPage = 64 << 10;
constexpr int kCallsOfAGuest = 16;  // fewer than its quotas of graphs and contexts

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kRandomCalls = 100;
#else
constexpr int kRandomCalls = 300;
#endif

// A guest that is replaced from time to time, with all that attacks on it have left; before that it infers honestly.
class Victims {
 public:
  Victims(std::function<std::unique_ptr<PlainGuest>()> make, const std::string& expected)
      : make_(std::move(make)), expected_(expected), guest_(make_()) {}
  ~Victims() { Check(); }
  Victims(const Victims&) = delete;
  Victims& operator=(const Victims&) = delete;

  const PlainGuest& operator*() const { return *guest_; }
  const PlainGuest* operator->() const { return guest_.get(); }
  // After each call.
  void Called() {
    if (++calls_ % kCallsOfAGuest != 0) return;
    Check();
    guest_ = make_();
  }

 private:
  void Check() const { EXPECT_EQ(guest_->Infer() == expected_, true) << "an inference after the attacks"; }

  std::function<std::unique_ptr<PlainGuest>()> make_;
  const std::string& expected_;
  std::unique_ptr<PlainGuest> guest_;
  int calls_ = 0;
};

class HostileMemory : public PlainTest {
 protected:
  Victims NewVictims() {
    return Victims([this] { return NewGuest(); }, expected_);
  }

  // An attacker's values for an address, a length, a number or a handle.
  static std::vector<uint32_t> Values(const PlainGuest& guest, uint64_t size) {
    std::vector<uint32_t> values = {0,
                                    1,
                                    2,
                                    3,
                                    4,
                                    8,
                                    0x3fffffff,
                                    0x40000000,
                                    0x7fffffff,
                                    0x80000000,
                                    0xfffffffe,
                                    0xffffffff,
                                    0xfffffffcu,
                                    0xffffffecu,
                                    0xffff0000u,
                                    guest.graph(),
                                    guest.context(),
                                    place::kName,
                                    place::kTensor,
                                    place::kBuilders,
                                    place::kData,
                                    place::kOut};
    for (const uint32_t before : {0, 1, 3, 4, 5, 7, 8, 12, 19, 20, 21, 768}) {
      values.push_back(static_cast<uint32_t>(size - before));
    }
    values.push_back(static_cast<uint32_t>(size + 1));
    return values;
  }

  void Check(const wasinn_function& function, const wasinn_memory& memory, const Args& args, Victims& victims) {
    const uint32_t error = victims->Call(function, memory, args);
    if (!IsDocumented(error)) {
      ADD_FAILURE() << function.module << "." << function.name << "(" << args[0] << ", " << args[1] << ", " << args[2]
                    << ", " << args[3] << ", " << args[4] << ", " << args[5] << ") on " << memory.size
                    << " bytes answers " << error;
    }
    victims.Called();
  }

  // Each argument by each value, then several at once.
  void AttackArguments(const wasinn_function& function, const wasinn_memory& memory) {
    Victims victims = NewVictims();
    const size_t count = std::strlen(function.params);
    const size_t values = Values(*victims, memory.size).size();
    const auto with = [&](const std::vector<std::pair<size_t, size_t>>& replaced) {
      victims->Fill(memory, true);
      Args args = victims->Honest(function);  // of the guest of the moment
      for (const auto& [at, value] : replaced) args[at] = Values(*victims, memory.size)[value];
      Check(function, memory, args, victims);
    };
    victims->Fill(memory);
    for (size_t at = 0; at < count; ++at) {
      for (size_t value = 0; value < values; ++value) with({{at, value}});
    }
    std::mt19937 random(1);
    for (int i = 0; i < kRandomCalls; ++i) {
      if (i % 100 == 0) victims->Fill(memory);  // outputs may have been written anywhere
      std::vector<std::pair<size_t, size_t>> replaced;
      for (size_t at = 0; at < count; ++at) {
        if (random() % 2 == 0) replaced.emplace_back(at, random() % values);
      }
      with(replaced);
    }
  }

  // Good arguments, but what they point to is not: each word of the records by each value, then several at once.
  void AttackRecords(const wasinn_function& function, const wasinn_memory& memory) {
    Victims victims = NewVictims();
    const size_t values = Values(*victims, memory.size).size();
    const auto put = [&](uint32_t address, size_t value) {
      const uint32_t word = Values(*victims, memory.size)[value];
      std::memcpy(memory.base + address, &word, sizeof word);
    };
    const auto call = [&] { Check(function, memory, victims->Honest(function), victims); };
    victims->Fill(memory);
    for (uint32_t at = place::kDims; at < place::kOut; at += 4) {
      for (size_t value = 0; value < values; ++value) {
        victims->Fill(memory, true);
        put(at, value);
        call();
      }
    }
    std::mt19937 random(2);
    for (int i = 0; i < kRandomCalls; ++i) {
      victims->Fill(memory, i % 100 != 0);
      for (size_t n = 1 + random() % 3; n > 0; --n) {
        put(place::kRecords + random() % (place::kOut - place::kRecords), random() % values);  // unaligned, too
      }
      call();
    }
  }
};

// The attacks below would prove little if they failed for want of an honest call to vary.
TEST_F(HostileMemory, HonestCallsAreHonest) {
  const PlainMemory memory(kWasmPage);
  for (const wasinn_function& function : AllFunctions()) {
    const auto guest = NewGuest();
    guest->Fill(memory.View());
    EXPECT_EQ(guest->Call(function, memory.View(), guest->Honest(function)), guest->Expected(function))
        << function.module << "." << function.name;
  }
}

TEST_F(HostileMemory, TheTableKeepsItsPromise) {
  for (const wasinn_function& function : AllFunctions()) {
    const std::string params = function.params;
    EXPECT_LE(params.size(), size_t{WASINN_MAX_PARAMS}) << function.name;
    EXPECT_EQ(params.find_first_not_of('i'), std::string::npos) << function.name;
    EXPECT_STREQ(function.results, "i") << function.name;
  }
}

TEST_F(HostileMemory, MemoryOfAnySize) {
  // Odd ones give odd addresses; 32-bit addresses end in the middle of the last, and with the one before.
  for (const uint64_t size : {kWasmPage, 3 * kWasmPage - 7, 4 * kGiB, 4 * kGiB + kWasmPage}) {
    const PlainMemory memory(size);
    for (const wasinn_function& function : AllFunctions()) {
      AttackArguments(function, memory.View());
      AttackRecords(function, memory.View());
      EXPECT_TRUE(memory.SlackIsIntact()) << function.name << " on " << size << " bytes";
    }
  }
}

// The flag changes nothing for a guest that has no other thread.
TEST_F(HostileMemory, MemoryThatIsSharedInName) {
  const PlainMemory memory(2 * kWasmPage);
  for (const wasinn_function& function : AllFunctions()) {
    AttackArguments(function, memory.View(WASINN_MEMORY_SHARED));
    AttackRecords(function, memory.View(WASINN_MEMORY_SHARED));
  }
}

TEST_F(HostileMemory, MemoryOfAFewBytes) {
  for (const uint64_t size : {0, 1, 4, 20, 69, 303, 308}) {
    const PlainMemory memory(size);
    for (const wasinn_function& function : AllFunctions()) {
      AttackArguments(function, memory.View());
      EXPECT_TRUE(memory.SlackIsIntact()) << function.name << " on " << size << " bytes";
    }
  }
}

// A size means nothing then.
TEST_F(HostileMemory, NoMemory) {
  for (const uint64_t size : {uint64_t{0}, kWasmPage, UINT64_MAX}) {
    const wasinn_memory none = {sizeof(wasinn_memory), 0, nullptr, size};
    for (const wasinn_function& function : AllFunctions()) {
      Victims victims = NewVictims();
      for (const uint32_t value : Values(*victims, size)) {
        Args args = victims->Honest(function);
        EXPECT_EQ(victims->Call(function, none, args), kMissingMemory) << function.name;
        args.fill(value);
        EXPECT_EQ(victims->Call(function, none, args), kMissingMemory) << function.name;
      }
    }
  }
}

TEST_F(HostileMemory, NoGuest) {
  const PlainMemory memory(kWasmPage);
  const auto guest = NewGuest();
  guest->Fill(memory.View());
  const wasinn_memory none = {};
  for (const wasinn_function& function : AllFunctions()) {
    for (const wasinn_memory& view : {memory.View(), none}) {
      EXPECT_EQ(function.call(nullptr, &view, guest->Honest(function).data(), sizeof(uint64_t)), kRuntimeError)
          << function.name;
    }
  }
}

}  // namespace
}  // namespace wasinn::testing
