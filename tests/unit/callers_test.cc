// Programs that were compiled against other versions of the headers: their structs are as large as they say.
#include <wasinn/wit.h>

#include "support/echo.h"

namespace wasinn::testing {
namespace {

// A caller's struct that ends after `size` bytes of today's, with other things of the caller's behind it.
template <typename T>
class OlderStruct {
 public:
  explicit OlderStruct(size_t size) : size_(size) {
    std::memset(&place_, kCanary, sizeof place_);
    place_.given.struct_size = static_cast<uint32_t>(size);
  }
  T* get() { return &place_.given; }
  void ExpectTheRestUntouched() const {
    EXPECT_EQ(place_.given.struct_size, size_);
    const auto* bytes = reinterpret_cast<const uint8_t*>(&place_);
    EXPECT_TRUE(std::all_of(bytes + std::max(size_, sizeof(uint32_t)), bytes + sizeof place_,
                            [](uint8_t byte) { return byte == kCanary; }));
  }

 private:
  static constexpr uint8_t kCanary = 0xa5;
  struct {
    T given;
    uint8_t behind[64];
  } place_;
  const size_t size_;
};

// Calls `fill` for an older struct, for one without a size and for a newer one.
template <typename T>
void CheckFilled(size_t older_size, const std::function<wasinn_status*(T*)>& fill,
                 const std::function<void(const T&)>& check_older) {
  OlderStruct<T> older(older_size);
  const StatusPtr filled(fill(older.get()));
  EXPECT_EQ(filled, nullptr) << wasinn_status_message(filled.get());
  older.ExpectTheRestUntouched();
  check_older(*older.get());

  OlderStruct<T> without(0);
  const StatusPtr refused(fill(without.get()));
  EXPECT_EQ(wasinn_status_code(refused.get()), WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(wasinn_status_message(refused.get())).find("struct_size 0"), std::string::npos);
  without.ExpectTheRestUntouched();

  struct Newer {
    T known;
    uint64_t more;
  } newer = {{}, 7};
  newer.known.struct_size = sizeof newer;
  const StatusPtr more(fill(&newer.known));
  EXPECT_EQ(more, nullptr);
  EXPECT_EQ(newer.known.struct_size, sizeof newer) << "the library does not know how large it is";
  EXPECT_EQ(newer.more, 7u);
}

class Callers : public ::testing::Test {
 protected:
  Log log_;
  const HostPtr host_ = EchoHost(log_, "limits.max_tensors = 7\nlimits.max_errors = 5\nengine.pool_instances = 3\n");
  const GuestPtr guest_ = NewGuest(host_.get());

  wasinn_code CodeOf(wasinn_status* status) { return wasinn_status_code(StatusPtr(status).get()); }
};

TEST_F(Callers, StructsThatTheLibraryFills) {
  CheckFilled<wasinn_limits>(
      offsetof(wasinn_limits, max_model_bytes),
      [&](wasinn_limits* out) { return wasinn_host_limits(host_.get(), out); },
      [](const wasinn_limits& limits) { EXPECT_EQ(limits.max_graphs, 64u); });
  CheckFilled<wasinn_policy>(
      offsetof(wasinn_policy, models), [&](wasinn_policy* out) { return wasinn_host_policy(host_.get(), out); },
      [](const wasinn_policy& policy) { EXPECT_EQ(policy.load, WASINN_LOAD_IN_PROCESS); });
  CheckFilled<wasinn_engine_options>(
      offsetof(wasinn_engine_options, pool_memory_bytes),
      [&](wasinn_engine_options* out) { return wasinn_host_engine_options(host_.get(), out); },
      [](const wasinn_engine_options& options) { EXPECT_EQ(options.pool_instances, 3u); });
  CheckFilled<wasinn_statistics>(
      offsetof(wasinn_statistics, copies_in),
      [&](wasinn_statistics* out) { return wasinn_guest_statistics(guest_.get(), out); },
      [](const wasinn_statistics& stats) { EXPECT_EQ(stats.graphs, 0u); });
  CheckFilled<wasinn_wit_limits>(
      offsetof(wasinn_wit_limits, max_handles),
      [&](wasinn_wit_limits* out) { return wasinn_wit_guest_limits(guest_.get(), out); },
      [](const wasinn_wit_limits& limits) { EXPECT_GT(limits.max_call_bytes, 1u << 30); });
}

TEST_F(Callers, AStructWithoutASizeIsRefused) {
  const std::string text = EchoModel("in x f32 2\n");
  const wasinn_bytes bytes{reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  wasinn_model_options model{};
  model.builders = &bytes;
  model.n_builders = 1;
  EXPECT_EQ(CodeOf(wasinn_host_add_model(host_.get(), "m", &model)), WASINN_ERROR_INVALID_ARGUMENT);

  wasinn_guest* guest = nullptr;
  wasinn_guest_options options{};
  EXPECT_EQ(CodeOf(wasinn_guest_new(host_.get(), &options, &guest)), WASINN_ERROR_INVALID_ARGUMENT);
  options.struct_size = sizeof options;
  const wasinn_limits limits{};
  options.limits = &limits;
  EXPECT_EQ(CodeOf(wasinn_guest_new(host_.get(), &options, &guest)), WASINN_ERROR_INVALID_ARGUMENT);
  options.limits = nullptr;
  const wasinn_policy policy{};
  options.policy = &policy;
  EXPECT_EQ(CodeOf(wasinn_guest_new(host_.get(), &options, &guest)), WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(guest, nullptr);
}

TEST_F(Callers, AMemoryWithoutASizeIsNoMemory) {
  std::vector<uint8_t> bytes(64);
  const wasinn_memory memory{.struct_size = 0, .flags = 0, .base = bytes.data(), .size = bytes.size()};
  const uint64_t args[] = {0, 1, 8};
  EXPECT_EQ(FunctionNamed("load_by_name").call(guest_.get(), &memory, args, sizeof(uint64_t)), kMissingMemory);
}

// 0 in their place would be no deadline, and no tensor at all.
TEST_F(Callers, LimitsThatAnOlderCallerDoesNotKnowAreTheHosts) {
  OlderStruct<wasinn_limits> older(offsetof(wasinn_limits, load_timeout_ms));
  older.get()->max_graphs = 1;
  older.get()->max_contexts = 2;
  const wasinn_guest_options options{
      .struct_size = sizeof options, .name = nullptr, .limits = older.get(), .policy = nullptr};
  const GuestPtr guest = NewGuest(host_.get(), &options);
  wasinn_wit_limits limits{.struct_size = sizeof limits, .max_call_bytes = 0, .max_handles = 0};
  EXPECT_EQ(wasinn_wit_guest_limits(guest.get(), &limits), nullptr);
  EXPECT_EQ(limits.max_handles, 1u + 2u + 7u + 5u);
}

}  // namespace
}  // namespace wasinn::testing
