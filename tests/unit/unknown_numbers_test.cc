// Numbers that no enum of wasinn.h has, in structs that a caller fills: from a newer header, a binding's mistake or a field
// that was never set. And lists without an entry, which allow nothing.
#include <wasinn/wasinn.hpp>

#include "core/host/guest.h"
#include "core/host/policy.h"
#include "support/echo.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

// As C writes it, where an enum may have any number.
template <typename T>
void SetNumber(T& field, int number) {
  static_assert(sizeof field == sizeof number);
  std::memcpy(&field, &number, sizeof number);
}

class UnknownNumbers : public ::testing::Test {
 protected:
  wasinn_policy PolicyOfHost() const {
    wasinn_policy policy{.struct_size = sizeof(policy)};
    (void)StatusPtr(wasinn_host_policy(host_.get(), &policy));
    return policy;
  }

  // The status of a new guest with the host's policy after `change`.
  Status NewGuestWith(const std::function<void(wasinn_policy&)>& change) const {
    wasinn_policy policy = PolicyOfHost();
    change(policy);
    const wasinn_guest_options options{
        .struct_size = sizeof(options), .name = nullptr, .limits = nullptr, .policy = &policy};
    wasinn_guest* guest = nullptr;
    Status status(wasinn_guest_new(host_.get(), &options, &guest));
    EXPECT_EQ(status.ok(), guest != nullptr);
    wasinn_guest_free(guest);
    return status;
  }

  void ExpectRefused(const char* field, int number, const std::function<void(wasinn_policy&)>& change) const {
    const Status status = NewGuestWith(change);
    EXPECT_EQ(status.code(), WASINN_ERROR_INVALID_ARGUMENT) << field << " " << number;
    EXPECT_THAT(status.message(), HasSubstr(field)) << number;
  }

  Log log_;
  const HostPtr host_ = EchoHost(log_);
};

constexpr int kUnknown[] = {3, 4, 7, 255, 65536, -1, INT32_MIN};

TEST_F(UnknownNumbers, ArePolicysThatNoGuestGets) {
  for (const int number : kUnknown) {
    ExpectRefused("policy.load", number, [&](wasinn_policy& policy) { SetNumber(policy.load, number); });
    if (number == WASINN_DIALECT_WITX_0_1) continue;
    ExpectRefused("policy.dialect", number, [&](wasinn_policy& policy) { SetNumber(policy.dialect, number); });
  }
  for (const uint32_t targets : {0x10u, 0x80000000u, UINT32_MAX, 0x7ffffff0u ^ 0x10u}) {
    ExpectRefused("policy.targets", static_cast<int>(targets),
                  [&](wasinn_policy& policy) { policy.targets = targets; });
  }
  ExpectRefused("policy.weight", 1001, [&](wasinn_policy& policy) { policy.weight = 1001; });
}

TEST_F(UnknownNumbers, KnownOnesAreTaken) {
  for (const int load : {0, 1, 2})
    EXPECT_TRUE(NewGuestWith([&](wasinn_policy& policy) { SetNumber(policy.load, load); }).ok());
  const uint32_t all_but_one = static_cast<uint32_t>(WASINN_TARGET_ALL) & ~(1u << WASINN_TARGET_GPU);
  for (const uint32_t targets : {0u, 1u, 0xfu, all_but_one, static_cast<uint32_t>(WASINN_TARGET_ALL)})
    EXPECT_TRUE(NewGuestWith([&](wasinn_policy& policy) { policy.targets = targets; }).ok()) << targets;
}

TEST_F(UnknownNumbers, AreNeverAWayToLoadInTheHostsProcess) {
  core::Policy policy;
  SetNumber(policy.load, 3);
  EXPECT_EQ(policy.CheckLoad(WASINN_TARGET_CPU).code(), WASINN_ERROR_SECURITY);
  EXPECT_FALSE(policy.loads_in_process());
}

TEST_F(UnknownNumbers, AreTargetsThatNoModelHas) {
  const std::string text = EchoModel("in x f32 2\n");
  const wasinn_bytes bytes{reinterpret_cast<const uint8_t*>(text.data()), text.size()};
  for (const int number : {4, 7, 255, 65536, -1, INT32_MIN}) {
    wasinn_model_options model{};
    model.struct_size = sizeof model;
    model.builders = &bytes;
    model.n_builders = 1;
    SetNumber(model.target, number);
    const Status status(wasinn_host_add_model(host_.get(), "m", &model));
    EXPECT_EQ(status.code(), WASINN_ERROR_INVALID_ARGUMENT) << number;
    EXPECT_THAT(status.message(), HasSubstr("target")) << number;
  }
}

TEST_F(UnknownNumbers, AreCodesOfARuntimeError) {
  for (const int number : {0, 17, 31}) {
    const auto code = static_cast<wasinn_code>(number);
    EXPECT_EQ(Status(wasinn_status_new(code, "it failed")).code(), WASINN_ERROR_RUNTIME) << number;
  }
  EXPECT_EQ(Status(wasinn_status_new(WASINN_ERROR_LOST, "it failed")).code(), WASINN_ERROR_LOST);
}

TEST_F(UnknownNumbers, AreNotInSettings) {
  for (const char* value : {"3", "7", "-1", "isolate", ""}) {
    for (const char* key : {"policy.load", "policy.dialect"}) {
      Config config;
      const Status set = config.Set(key, value);
      const Status status = set.ok() ? Host::Create(config).status().ok()
                                           ? Status()
                                           : Status(wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT, key))
                                     : Status(wasinn_status_new(set.code(), set.message()));
      EXPECT_EQ(status.code(), WASINN_ERROR_INVALID_ARGUMENT) << key << " = " << value;
      EXPECT_THAT(status.message(), HasSubstr(key)) << value;
    }
  }
}

// ---- Lists

class EmptyLists : public UnknownNumbers {
 protected:
  void SetUp() override { AddEchoModel(host_.get(), "m", "in x f32 2\n"); }
};

TEST_F(EmptyLists, AreNoListIfTheyHaveACountOnly) {
  ExpectRefused("policy.models", 0, [](wasinn_policy& policy) { policy.n_models = 1; });
  ExpectRefused("policy.encodings", 0, [](wasinn_policy& policy) { policy.n_encodings = 1; });
  static const char* const kNothing[] = {nullptr};
  ExpectRefused("policy.models", 0, [](wasinn_policy& policy) {
    policy.models = kNothing;
    policy.n_models = 1;
  });
}

TEST(CppPolicy, AnEmptyListAllowsNothingAndNoListEverything) {
  Log log;
  Result<Host> host = [&] {
    Config config;
    EXPECT_TRUE(config.LoadToml("backend_dirs = ['" + EchoFolder() + "']\npolicy.load = 'in-process'\n").ok());
    return Host::Create(config);
  }();
  ASSERT_TRUE(host.ok());
  AddEchoModel(host->get(), "m", "in x f32 2\n");
  const std::optional<std::vector<std::string>> kinds[] = {
      std::nullopt, std::vector<std::string>{}, std::vector<std::string>{"m"}, std::vector<std::string>{"other"}};
  const bool allowed[] = {true, false, true, false};
  for (size_t i = 0; i < std::size(kinds); ++i) {
    Policy policy = host->policy();
    EXPECT_FALSE(policy.models.has_value());
    policy.models = kinds[i];
    GuestOptions options;
    options.policy = policy;
    Result<Guest> guest = Guest::Create(*host, options);
    ASSERT_TRUE(guest.ok()) << guest.status().message();
    const core::Guest::Call presence(*guest->get());
    EXPECT_EQ(guest->get()->LoadByName("m").has_value(), allowed[i]) << i;
  }
}

TEST(CppPolicy, ComesFromTheHostAsItsSettingsHaveIt) {
  Config config;
  EXPECT_TRUE(config.LoadToml("[policy]\nmodels = []\nencodings = ['onnx']\ntenant = 't'\nweight = 3\n").ok());
  const Result<Host> host = Host::Create(config);
  ASSERT_TRUE(host.ok());
  const Policy policy = host->policy();
  EXPECT_EQ(policy.load, WASINN_LOAD_ISOLATED);
  EXPECT_EQ(policy.models, std::vector<std::string>());
  EXPECT_EQ(policy.encodings, std::vector<std::string>{"onnx"});
  EXPECT_EQ(policy.tenant, "t");
  EXPECT_EQ(policy.weight, 3u);
  EXPECT_EQ(policy.targets, static_cast<uint32_t>(WASINN_TARGET_ALL));
}

}  // namespace
}  // namespace wasinn::testing
