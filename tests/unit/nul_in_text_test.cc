// wasinn.hpp: a std::string with a NUL inside is refused wherever it would become a C string, which ends there.
#include <wasinn/wasinn.hpp>

#include "support/test.h"

namespace wasinn {
namespace {

const std::string kCut("a\0b", 3);

void ExpectRefused(const Status& status, const std::string& what) {
  EXPECT_EQ(status.code(), WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status.message(), what + " has a NUL inside, after 'a'");
}

Host NewHost() {
  Result<Host> host = Host::Create();
  EXPECT_TRUE(host.ok()) << host.status().message();
  return *std::move(host);
}

TEST(NulInText, ConfigRefusesIt) {
  Config config;
  ExpectRefused(config.LoadFile(kCut), "the path");
  ExpectRefused(config.LoadToml(kCut), "the TOML text");
  ExpectRefused(config.Set(kCut, "1"), "the key");
  ExpectRefused(config.Set("limits.max_graphs", kCut), "the value");
}

TEST(NulInText, HostRefusesIt) {
  Host host = NewHost();
  ExpectRefused(host.AddModel(kCut, ModelOptions()), "the model's name");
  ExpectRefused(host.RemoveModel(kCut), "the model's name");
  ExpectRefused(host.UnloadModel(kCut), "the model's name");
  ExpectRefused(host.Inspect(kCut).status(), "the model's name");
  ExpectRefused(host.AddModels(kCut), "the folder");
  ExpectRefused(host.CheckEncoding(kCut), "the encoding");
}

TEST(NulInText, GuestRefusesIt) {
  const Host host = NewHost();
  GuestOptions options;
  options.name = kCut;
  ExpectRefused(Guest::Create(host, options).status(), "the guest's name");
  options.name.clear();
  Policy& policy = options.policy.emplace();
  policy.tenant = kCut;
  ExpectRefused(Guest::Create(host, options).status(), "policy.tenant");
  policy.tenant.clear();
  policy.models = {"m", kCut};
  ExpectRefused(Guest::Create(host, options).status(), "policy.models");
  policy.models.reset();
  policy.encodings = {kCut};
  ExpectRefused(Guest::Create(host, options).status(), "policy.encodings");
}

TEST(NulInText, EachTextOfAModelIsLookedAt) {
  Host host = NewHost();
  const auto expect_refused = [&](const char* what, auto change) {
    ModelOptions options;
    options.steps.emplace_back();
    change(options);
    ExpectRefused(host.AddModel("m", options), what);
  };
  expect_refused("the path", [](ModelOptions& m) { m.path = kCut; });
  expect_refused("the encoding", [](ModelOptions& m) { m.encoding = kCut; });
  expect_refused("the config", [](ModelOptions& m) { m.config = kCut; });
  expect_refused("a step's model name", [](ModelOptions& m) { m.steps[0].model_name = kCut; });
  expect_refused("a name in input_map", [](ModelOptions& m) { m.steps[0].input_map[kCut] = "x"; });
  expect_refused("a name in input_map", [](ModelOptions& m) { m.steps[0].input_map["x"] = kCut; });
  expect_refused("a name in output_map", [](ModelOptions& m) { m.steps[0].output_map["x"] = kCut; });
  expect_refused("an input's name", [](ModelOptions& m) { m.inputs = {"x", kCut}; });
  expect_refused("an output's name", [](ModelOptions& m) { m.outputs = {kCut}; });
}

}  // namespace
}  // namespace wasinn
