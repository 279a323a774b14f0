// Models that end, stop or fill the process that computes them, in a host that serves another guest in the meantime: that one does not
// notice, the guest that brought it can go on, and nothing is left.
#include "hostile/descendants.h"
#include "hostile/isolated_host.h"
#include "hostile/killers.h"
#include "hostile/witness.h"
#include "support/own_process.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

using std::chrono::milliseconds;

// A good model of the killer's format.
Brought HonestModel(const Killer& killer) {
  Brought model = {.encoding = killer.encoding, .inputs = {Two()}};
  for (const std::string& name : killer.honest) {
    std::ifstream file(InSources("models/") + name, std::ios::binary);
    model.parts.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return model;
}

Brought KillingModel(const Killer& killer) {
  const float one = 1;
  return {.encoding = killer.encoding,
          .parts = killer.parts(),
          .inputs = {{.dims = {1}, .type = kF32, .bytes = {reinterpret_cast<const char*>(&one), sizeof(one)}}}};
}

uint32_t Number(const std::string& error) {
  if (error == "runtime_error") return kRuntimeError;
  if (error == "too_large") return kTooLarge;
  ADD_FAILURE() << error;
  return kSuccess;
}

bool IsTwo(const Attempt& attempt) {
  float scores[10] = {};
  if (attempt.error != kSuccess || attempt.output.size() != sizeof(scores)) return false;
  std::memcpy(scores, attempt.output.data(), sizeof(scores));
  return std::ranges::max_element(scores) == scores + 2 && scores[2] > 0.9f;
}

// Its guest's deadline is short: on a busy machine the model may need more than one attempt.
bool GoesOn(Bringer& guest, const Brought& honest) {
  Attempt attempt;
  do attempt = guest.Try(honest);
  while (attempt.error == kRuntimeError);
  return IsTwo(attempt);
}

// One host for all of them, so that each framework is opened once.
class HostileIsolated : public ::testing::TestWithParam<Killer> {
 protected:
  static void SetUpTestSuite() {
    AdoptDescendants();
    host_ = new IsolatedHost();
  }
  static void TearDownTestSuite() {
    delete host_;
    host_ = nullptr;
  }

  // The rights of a guest that brings such models.
  static wasinn_limits Limits() {
    wasinn_limits limits{.struct_size = sizeof(limits)};
    EXPECT_EQ(wasinn_host_limits(host_->get(), &limits), nullptr);
    limits.load_timeout_ms = kLoadDeadline;
    limits.compute_timeout_ms = GetParam().deadline_ms;
    limits.max_model_bytes = limits.max_tensor_bytes = kKillersBytes;
    return limits;
  }

  static void ExpectNothingLeft(Bringer& guest, const Brought& honest) {
    const wasinn_statistics left = guest.Close();
    EXPECT_EQ(left.graphs, 0u);
    EXPECT_EQ(left.contexts, 0u);
    EXPECT_EQ(left.model_bytes, 0u);
    EXPECT_EQ(left.tensor_bytes, 0u);
    // A worker that is slow to end, on a busy machine, is waited for when the next one starts.
    while (CountDescendants().workers > 0) {
      Bringer next(host_->get(), MemoryFor(honest));
      (void)next.Try(honest);
      next.Close();
    }
  }

  static IsolatedHost* host_;
};
IsolatedHost* HostileIsolated::host_ = nullptr;

TEST_P(HostileIsolated, NoOtherGuestNotices) {
  const Brought honest = HonestModel(GetParam()), killer = KillingModel(GetParam());
  const size_t memory = std::max(MemoryFor(honest), MemoryFor(killer));
  Witness witness(host_->get(), milliseconds(1));
  while (witness.inferences() == 0) std::this_thread::yield();
  {
    Bringer first(host_->get(), memory);  // opens the framework
    EXPECT_TRUE(IsTwo(first.Try(honest)));
    ExpectNothingLeft(first, honest);
  }
  const size_t descriptors = CountDescriptors();
  const uint64_t before = witness.inferences();
  {
    const wasinn_limits limits = Limits();
    wasinn_guest_options options{.struct_size = sizeof(options)};
    options.limits = &limits;
    Bringer guest(host_->get(), memory, &options);
    (void)host_->TakeLog();
    const Attempt attempt = guest.Try(killer);
    EXPECT_EQ(attempt.function, GetParam().function);
    EXPECT_EQ(attempt.error, Number(GetParam().error));
    EXPECT_THAT(host_->TakeLog(), ::testing::Contains(::testing::ContainsRegex(GetParam().log)));
    while (witness.inferences() <= before) std::this_thread::yield();  // it goes on
    EXPECT_TRUE(GoesOn(guest, honest));
    ExpectNothingLeft(guest, honest);
  }
  EXPECT_EQ(CountDescriptors(), descriptors);
  witness.Stop();
  EXPECT_EQ(witness.wrong(), 0u);
}

// A named model in a worker of OpenVINO's, loaded at once.
StatusPtr NameOnOpenVino(const IsolatedHost& host, const char* name, const std::string& path) {
  wasinn_model_options options{.struct_size = sizeof(options)};
  options.path = path.c_str();
  options.backend = "openvino";
  options.isolate = options.preload = true;
  return StatusPtr(wasinn_host_add_model(host.get(), name, &options));
}

class HostileIsolatedNamed : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!Has("openvino")) GTEST_SKIP() << "not built";
  }
};

// OpenVINO opens the library that reads ONNX when the first such model comes: in the sandbox.
TEST_F(HostileIsolatedNamed, OnnxOnOpenVinoInfers) {
  IsolatedHost host;
  const StatusPtr added = NameOnOpenVino(host, "digits", InSources("models/digits.onnx"));
  ASSERT_EQ(added, nullptr) << wasinn_status_message(added.get());
  Witness witness(host.get(), milliseconds(1));
  while (witness.inferences() < 10) std::this_thread::yield();
  witness.Stop();
  EXPECT_EQ(witness.wrong(), 0u);
}

// OpenVINO 2026.4 reads the memory at the address that such a model says its weights have, and dies of it.
TEST_F(HostileIsolatedNamed, WeightsAtAnAddressAreRefused) {
  IsolatedHost host;
  for (const char* name : {"location_memory", "location_memory_large", "location_memory_shape"}) {
    const StatusPtr added = NameOnOpenVino(host, name, InSources("tests/models/tiny/hostile/") + name + ".onnx");
    EXPECT_EQ(wasinn_status_code(added.get()), WASINN_ERROR_SECURITY) << wasinn_status_message(added.get());
  }
}

INSTANTIATE_TEST_SUITE_P(Each, HostileIsolated, ::testing::ValuesIn(Killers()),
                         [](const auto& killer) { return killer.param.name; });

}  // namespace
}  // namespace wasinn::testing
