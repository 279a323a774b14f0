#include "hostile/isolated_host.h"

#include "support/this_build.h"

namespace wasinn::testing {
namespace {

constexpr uint32_t kMaxOutput = 4096;

void Must(const Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "%s\n", status.message());
  std::abort();
}

}  // namespace

IsolatedHost::IsolatedHost(const std::string& toml) {
  Config config;
  // Workers are counted, so there are no spare ones.
  Must(config.LoadToml("spare_workers = false\nlog.max_guest_lines = 0\n" + toml));
  Must(config.Set("policy.load", "isolated"));
  Must(config.Set("policy.dialect", "wamr"));  // which has a number for each format
  Result<Host> host = Host::Create(config, [this](const wasinn_log_record& record) {
    const std::lock_guard lock(mutex_);
    log_.emplace_back(record.message);
  });
  Must(host.status());
  host_ = std::make_unique<Host>(std::move(*host));
  ModelOptions digits;
  digits.path = InSources("models/digits.onnx");
  Must(host_->AddModel("digits", digits));
}

std::vector<std::string> IsolatedHost::TakeLog() {
  const std::lock_guard lock(mutex_);
  return std::exchange(log_, {});
}

Input Two() {
  // From the digits data set: gray values of 0 to 16.
  constexpr uint8_t kTwo[64] = {
      0, 0, 0, 4,  15, 12, 0, 0, 0, 0, 3,  16, 15, 14, 0, 0, 0, 0, 8,  13, 8,  16, 0, 0, 0, 0, 1, 6, 15, 11, 0, 0,
      0, 1, 8, 13, 15, 1,  0, 0, 0, 9, 16, 16, 5,  0,  0, 0, 0, 3, 13, 16, 16, 11, 5, 0, 0, 0, 0, 3, 11, 16, 9, 0,
  };
  std::string bytes;
  for (const uint8_t gray : kTwo) {
    const float value = static_cast<float>(gray) / 16.f;
    bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  return {.dims = {1, 1, 8, 8}, .type = kF32, .bytes = std::move(bytes)};
}

size_t MemoryFor(const Brought& model) {
  size_t bytes = 4096 + kMaxOutput;
  for (const std::string& part : model.parts) bytes += part.size() + 16;
  for (const Input& input : model.inputs) bytes += input.bytes.size() + 256;
  return bytes;
}

uint32_t Bringer::Load(const Brought& model, uint32_t* graph) {
  std::vector<uint32_t> builders;
  for (const std::string& part : model.parts) {
    builders.push_back(calls_.Put(part));
    builders.push_back(static_cast<uint32_t>(part.size()));
  }
  const uint32_t out = calls_.Reserve(sizeof(uint32_t));
  const uint32_t error = calls_.Call("load", {calls_.PutAll(builders), model.parts.size(), model.encoding, 0, out});
  *graph = calls_.Read<uint32_t>(out);
  return error;
}

Attempt Bringer::Try(const Brought& model) {
  calls_.Rewind();
  uint32_t graph = 0;
  if (const uint32_t error = Load(model, &graph); error != kSuccess) return {"load", error, ""};
  Attempt attempt = Infer(model, graph);
  EXPECT_EQ(calls_.Call("unload", {graph}), kSuccess);
  return attempt;
}

Attempt Bringer::Infer(const Brought& model, uint32_t graph) {
  uint32_t context = 0;
  if (const uint32_t error = calls_.InitContext(graph, context); error != kSuccess) {
    return {"init_execution_context", error, ""};
  }
  Attempt attempt = Compute(model, context);
  EXPECT_EQ(calls_.Call("finalize_execution_context", {context}), kSuccess);
  return attempt;
}

Attempt Bringer::Compute(const Brought& model, uint32_t context) {
  for (uint32_t i = 0; i < model.inputs.size(); ++i) {
    const Input& input = model.inputs[i];
    // If it fails, compute returns a better error.
    (void)calls_.SetInput(context, i, input.dims, input.type, std::vector(input.bytes.begin(), input.bytes.end()));
  }
  if (const uint32_t error = calls_.Call("compute", {context}); error != kSuccess) return {"compute", error, ""};
  const uint32_t place = calls_.Reserve(kMaxOutput), written = calls_.Reserve(sizeof(uint32_t));
  const uint32_t error = calls_.Call("get_output", {context, 0, place, kMaxOutput, written});
  if (error != kSuccess) return {"get_output", error, ""};
  const auto* begin = reinterpret_cast<const char*>(calls_.memory().data()) + place;
  return {"get_output", kSuccess, std::string(begin, begin + calls_.Read<uint32_t>(written))};
}

wasinn_statistics Bringer::Close() {
  wasinn_guest_close(guest_.get());
  return StatsOf(guest_);
}

}  // namespace wasinn::testing
