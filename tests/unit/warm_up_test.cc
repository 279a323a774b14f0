// Computes that a host makes of a named model before any guest has it.
#include <wasinn/wasinn.hpp>

#include "support/files.h"
#include "support/gate.h"
#include "support/this_build.h"
#include "unit/isolated_program.h"

namespace wasinn::testing {
namespace {

class WarmUp : public ::testing::Test {
 protected:
  // A host with the model "m", whose section has `settings`. Each of its computes is recorded.
  HostPtr Host(const std::string& directives, const std::string& settings, const std::string& top = "") {
    const std::string file = folder_.Write("m.gguf", EchoModel(directives) + "records " + records_ + "\n");
    return EchoHost(log_, top + "[models.m]\npath = '" + file + "'\n" + settings);
  }
  // A folder of these versions of "m".
  wasinn_status* AddVersions(const HostPtr& host, const std::vector<std::string>& models, uint32_t version,
                             bool preload) const {
    const std::string path = folder_ / "m";
    for (size_t i = 0; i < models.size(); ++i) {
      folder_.Write("m/" + std::to_string(i + 1) + "/model.gguf", EchoModel(models[i]));
    }
    const wasinn_model_options options{
        .struct_size = sizeof(options), .path = path.c_str(), .version = version, .preload = preload};
    return wasinn_host_add_model(host.get(), "m", &options);
  }
  // The records of the computes so far.
  std::vector<std::string> Records() const {
    std::vector<std::string> lines;
    std::ifstream file(records_);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  // The errno that a guest gets.
  static uint32_t Load(const HostPtr& host) { return LoadBy(Program(host.get())); }
  static uint32_t LoadBy(Program&& program) { return LoadBy(program); }
  static uint32_t LoadBy(Program& program) {
    uint32_t graph = 0;
    return program.LoadByName("m", graph);
  }

  const TestFolder folder_;
  const std::string records_ = folder_ / "records";
  Log log_;
};

TEST_F(WarmUp, IsMadeOnceBeforeTheFirstGuest) {
  const HostPtr host = Host("in x f32 2\n", "warm_up = 3\n");
  EXPECT_THAT(Records(), IsEmpty());
  for (int i = 0; i < 2; ++i) {
    Program program(host.get());
    const uint32_t context = program.NewContext("m");
    EXPECT_EQ(program.Stats().computes, 0u) << "they are the host's";
    EXPECT_EQ(program.Infer(context, {1, 2}), std::vector<float>({1, 2}));
  }
  EXPECT_THAT(Records(), ElementsAre("x[2] zeros", "x[2] zeros", "x[2] zeros", "x[2] values", "x[2] values"));
}

TEST_F(WarmUp, IsNotMadeUnlessItIsWanted) {
  const HostPtr host = Host("in x f32 2\n", "warm_up_shapes = {x = [2]}\n");
  EXPECT_EQ(Load(host), kSuccess);
  EXPECT_THAT(Records(), IsEmpty());
}

TEST_F(WarmUp, ShapesAreTheSignaturesOrAsConfigured) {
  const std::string inputs = "in a f32 2,-1\nin b i64 scalar\nin c u8 -1,-1\nin d f16 any\nin e f32 3 optional\n";
  const HostPtr host = Host(inputs, "warm_up = 1\nwarm_up_shapes = {c = [1, 224], 3 = [4, 0]}\n");
  EXPECT_EQ(Load(host), kSuccess) << ::testing::PrintToString(log_.lines());
  EXPECT_THAT(Records(), ElementsAre("a[2,1] b[] c[1,224] d[4,0] zeros"));
}

TEST_F(WarmUp, AnOptionalInputIsSetIfItsShapeIsConfigured) {
  const HostPtr host = Host("in x bool 2\nin y ? 3 optional\n", "warm_up = 1\nwarm_up_shapes = {y = [3]}\n");
  EXPECT_EQ(Load(host), kSuccess) << ::testing::PrintToString(log_.lines());
  EXPECT_THAT(Records(), ElementsAre("x[2] y[3] zeros"));
}

TEST_F(WarmUp, AModelWhoseWarmUpFailsIsNotServed) {
  struct Case {
    std::string directives, settings, message;
    uint32_t code;
  };
  const Case cases[] = {
      {"in x f32 2\nfail 1\n", "", "compute fails as the model says", kInvalidArgument},
      {"in x f32 any\n", "", "input 'x' may have any rank: warm_up_shapes must give its shape", kInvalidArgument},
      {"in x f32 -1\n", "warm_up_shapes = {y = [1]}\n", "warm_up_shapes: the model has no input 'y', only 'x'",
       kInvalidArgument},
      {"in x f32 2\n", "warm_up_shapes = {x = [3]}\n", "input 'x' takes f32 [2], given f32 [3]", kInvalidArgument},
      {"in x f32 any\n", "warm_up_shapes = {x = [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}\n",
       "warm_up_shapes: input 'x' has 33 dimensions, more than", kInvalidArgument},
      {"in x f32 -1\n", "warm_up_shapes = {x = [4000000000]}\n", "limits.max_tensor_bytes", kTooLarge},
      {"in x f32 -1,-1,-1\n", "warm_up_shapes = {x = [4294967295, 4294967295, 4294967295]}\n", "overflows", kTooLarge},
      {"in x u8 -1 opaque\n", "", "input 'x' takes text, and zeros are not text", kUnsupportedOperation},
      {"in x f32 -1 unservable\n", "", "which cannot be passed as a tensor of numbers", kUnsupportedOperation},
  };
  for (const auto& [directives, settings, message, code] : cases) {
    const HostPtr host = Host(directives, "warm_up = 2\n" + settings);
    EXPECT_EQ(Load(host), code) << directives;
    EXPECT_THAT(log_.Last(), HasSubstr("model 'm:1': its warm-up failed: ")) << directives;
    EXPECT_THAT(log_.Last(), HasSubstr(message)) << directives;
  }
  EXPECT_THAT(Records(), ElementsAre("x[2] zeros")) << "the first that fails is the last";
}

TEST_F(WarmUp, OfAPipelineComputesEachStep) {
  const HostPtr host = Host("in x u8 4\n",
                            "[models.p]\nstep = [{model_name = 'm', input_map = {x = 'i'}}, {model_name = 'm'}]\n"
                            "warm_up = 2\npreload = true\n");
  EXPECT_THAT(Records(), ElementsAre("x[4] zeros", "x[4] zeros", "x[4] zeros", "x[4] zeros"));
}

TEST_F(WarmUp, AComputeHasTheHostsDeadline) {
  const HostPtr host = Host("in x f32 2\ndelay 600000\n", "warm_up = 2\n", "limits.compute_timeout_ms = 50\n");
  EXPECT_EQ(Load(host), kRuntimeError);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("its warm-up failed: the compute was stopped after 50 ms")));
  EXPECT_THAT(Records(), ElementsAre("x[2] zeros"));
}

TEST_F(WarmUp, AGuestThatWaitsForTheLoadWaitsForItToo) {
  Gate gate;
  const HostPtr host = Host("in x f32 2\n" + gate.Compute(), "warm_up = 1\n");
  Program first(host.get()), second(NewGuest(host.get(), &wasinn_limits::load_timeout_ms, 50u));
  auto loading = std::async(std::launch::async, [&] { return LoadBy(first); });
  gate.Await();
  EXPECT_EQ(LoadBy(second), kRuntimeError);
  EXPECT_THAT(log_.lines(), Contains(HasSubstr("model 'm:1' was still being loaded for another guest after 50 ms")));
  gate.Open();
  EXPECT_EQ(loading.get(), kSuccess);
  EXPECT_EQ(LoadBy(second), kSuccess);
  EXPECT_THAT(Records(), ElementsAre("x[2] zeros"));
}

// No caller waits for the rest of it, and it is no failure of the model.
TEST_F(WarmUp, EndsWithTheGuestThatBeganIt) {
  Gate gate;
  const HostPtr host = Host("in x f32 2\n" + gate.Compute(), "warm_up = 1\n");
  Program first(host.get()), second(host.get());
  auto loading = std::async(std::launch::async, [&] { return LoadBy(first); });
  gate.Await();
  wasinn_guest_close(first.guest.get());
  EXPECT_EQ(loading.get(), kRuntimeError);
  gate.Open();
  EXPECT_EQ(LoadBy(second), kSuccess);
}

// By a guest's own configuration, for that guest: what it pays for is its own.
TEST_F(WarmUp, AModelThatAGuestHasCompiledForItselfHasNone) {
  const HostPtr host = Host("in x f32 2\n", "warm_up = 1\n");
  Program program(host.get());
  uint32_t graph = 0;
  EXPECT_EQ(program.LoadWithConfig("m", R"({"shade": "dark"})", graph), kSuccess);
  EXPECT_THAT(Records(), IsEmpty());
}

wasinn_code AddWithWarmUp(const HostPtr& host, const wasinn_model_options& options, std::string& message,
                          std::string_view directives = "in x f32 1\ndies compute\n") {
  const StatusPtr status = AddEchoModel(host.get(), "m", directives, options);
  message = wasinn_status_message(status.get());
  return wasinn_status_code(status.get());
}

// If it is isolated, in its worker.
TEST_F(WarmUp, ByTheApi) {
  const HostPtr host = EchoHost(log_, "worker = \"" + WorkerFile() + "\"\n");
  wasinn_model_options options{.struct_size = sizeof(options)};
  options.isolate = options.preload = true;
  std::string message;
  EXPECT_EQ(AddWithWarmUp(host, options, message), WASINN_OK) << message;
  options.warm_up = 1;
  EXPECT_EQ(AddWithWarmUp(host, options, message), WASINN_ERROR_LOST);
  EXPECT_THAT(message, HasSubstr("model 'm:1': its warm-up failed: the model's worker is gone"));
  options.warm_up = 1001;
  EXPECT_EQ(AddWithWarmUp(host, options, message), WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(message, "model 'm': warm_up is 1001: it may be 1000 at most");
  // A program with headers of before it and `isolate`.
  options.struct_size = offsetof(wasinn_model_options, isolate);
  EXPECT_EQ(AddWithWarmUp(host, options, message), WASINN_OK) << message;
}

TEST_F(WarmUp, AModelWhosePreloadFailsReplacesNoOther) {
  const HostPtr host = EchoHost(log_, "");
  wasinn_model_options options{.struct_size = sizeof(options)};
  options.preload = true;
  std::string message;
  options.warm_up = 1;
  EXPECT_EQ(AddWithWarmUp(host, options, message, "in x f32 2\nfail 1\n"), WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(Load(host), kNotFound) << "it is not there";
  EXPECT_EQ(AddWithWarmUp(host, options, message, "in x f32 2\n"), WASINN_OK) << message;
  EXPECT_EQ(AddWithWarmUp(host, options, message, "in x f32 2\nfail 1\n"), WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(Load(host), kSuccess) << "what was there before is there still";
}

// All versions of a folder are registered, or none.
TEST_F(WarmUp, AVersionWhosePreloadFailsLeavesNoOther) {
  const HostPtr host = EchoHost(log_, "");
  const StatusPtr status(AddVersions(host, {"in x f32 2\n", "fail_load 5\n"}, 0, true));
  EXPECT_EQ(wasinn_status_code(status.get()), WASINN_ERROR_RUNTIME) << wasinn_status_message(status.get());
  EXPECT_EQ(Load(host), kNotFound);
}

TEST_F(WarmUp, AVersionThatItsFolderLacksIsAnError) {
  const HostPtr host = EchoHost(log_, "");
  const StatusPtr status(AddVersions(host, {"in x f32 2\n", "in x f32 2\n"}, 3, false));
  EXPECT_EQ(wasinn_status_code(status.get()), WASINN_ERROR_NOT_FOUND);
  EXPECT_EQ(wasinn_status_message(status.get()),
            "model 'm': folder '" + (folder_ / "m") + "' has no version 3, only 1, 2");
}

TEST_F(WarmUp, ByTheApiOfCpp) {
  Config config;
  ASSERT_TRUE(config.Set("backend_dirs", "['" + EchoFolder() + "']").ok());
  Result<wasinn::Host> other = wasinn::Host::Create(config);
  ASSERT_TRUE(other) << other.status().message();
  ModelOptions model;
  model.path = folder_.Write("m.gguf", EchoModel("in x f32 2\nrecords " + records_ + "\n"));
  model.preload = true;
  model.warm_up = 2;
  const Status status = other->AddModel("m", model);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(Records(), ElementsAre("x[2] zeros", "x[2] zeros"));
}

}  // namespace
}  // namespace wasinn::testing
