#include "engines/any/plain_test.h"

#include <fstream>
#include <iterator>

#include "support/this_build.h"

namespace wasinn::testing {
namespace {

// Lest a guest that has 4 GiB loads a model of 4 GiB.
constexpr char kLimits[] = "limits.max_model_bytes = 1048576\nlimits.max_tensor_bytes = 16777216\n";

PlainModel ModelOf(const std::string& backend) {
  if (backend == "echo") return {EchoModel("in image f32 1,3,8,8\npieces 100\n"), 5, true, "ggml"};
  std::ifstream file(InSources("tests/models/tiny/mean.onnx"), std::ios::binary);
  return {{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}, 1, false, "onnx"};
}

HostPtr OnnxHost(Log& log) {
  const ConfigPtr config(wasinn_config_new());
  StatusPtr status(wasinn_config_load_toml(config.get(), kLimits));
  wasinn_host* host = nullptr;
  if (status == nullptr) status.reset(wasinn_host_new(config.get(), &Log::Write, &log, &host));
  EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
  return HostPtr(host);
}

}  // namespace

PlainTest::PlainTest() : model_(ModelOf(GetParam())), host_(is_echo() ? EchoHost(log_, kLimits) : OnnxHost(log_)) {
  const wasinn_bytes bytes{reinterpret_cast<const uint8_t*>(model_.bytes.data()), model_.bytes.size()};
  wasinn_model_options options{};
  options.struct_size = sizeof options;
  options.bytes = &bytes;
  options.n_bytes = 1;
  const StatusPtr status(wasinn_host_add_model(host_.get(), "model", &options));
  EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
  expected_ = NewGuest()->Infer();
  EXPECT_EQ(expected_.size(), is_echo() ? place::kDataSize : 3 * sizeof(float));
}

std::vector<const char*> PlainBackends() {
  if (ENGINES_HAVE_ONNX) return {"echo", "onnx"};
  return {"echo"};
}

std::string BackendName(const ::testing::TestParamInfo<const char*>& info) { return info.param; }

}  // namespace wasinn::testing
