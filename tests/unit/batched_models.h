// A model whose inferences are computed together, and guests of it.
#pragma once

#include "support/echo.h"
#include "support/files.h"
#include "support/test.h"
#include "unit/bytes_guest.h"
#include "unit/turned_host.h"

namespace wasinn::testing {

using Bytes = std::vector<uint8_t>;
inline constexpr uint8_t kPoison = 13, kEndless = 17;

// Batches of so many rows, for which guests wait longer than any test takes.
inline std::string Batches(int rows) {
  return "max_batch_size = " + std::to_string(rows) + "\nmax_queue_delay_microseconds = 4000000000\n";
}

// A guest with a context of the model "m", whose input is rows of bytes.
struct BatchedProgram : BytesGuest {
  explicit BatchedProgram(wasinn_host* host, uint32_t compute_timeout_ms = 30000, uint64_t max_tensor_bytes = 1 << 30)
      : BytesGuest(NewGuest(host,
                            [&](wasinn_limits& limits) {
                              limits.compute_timeout_ms = compute_timeout_ms;
                              limits.max_tensor_bytes = max_tensor_bytes;
                            })),
        context(NewContext("m")) {}
  uint32_t Set(const std::vector<uint32_t>& dims, const Bytes& bytes) { return SetInput(context, 0, dims, kU8, bytes); }
  uint32_t Compute() { return BytesGuest::Compute(context); }
  Bytes Output() { return BytesGuest::Output(context); }

  const uint32_t context;
};

class BatchedModels : public ::testing::Test {
 protected:
  // The settings of a model whose batches are recorded.
  std::string Model(const std::string& name, const std::string& directives) const {
    const std::string path =
        folder_.Write(name + ".gguf", EchoModel(directives) + "poison " + std::to_string(kPoison) + "\nendless " +
                                          std::to_string(kEndless) + "\nrecords " + records_ + "\n");
    return "[models." + name + "]\npath = '" + path + "'\n";
  }
  static std::string BatchingOf(const std::string& name, const std::string& batching) {
    return "[models." + name + ".batching]\ninstance_count = 1\n" + batching;
  }
  // A host with the model "m".
  HostPtr Host(const std::string& batching, const std::string& directives = "in x u8 -1,2\n",
               const std::string& settings = "") {
    return EchoHost(log_, settings + Model("m", directives) + BatchingOf("m", batching));
  }
  // The same, but time stands still.
  HostPtr Turned(const std::string& batching, const std::string& directives = "in x u8 -1,2\n") {
    return TurnedHost(hands_, log_, Model("m", directives) + BatchingOf("m", batching));
  }
  std::vector<std::string> Records() const {
    std::vector<std::string> lines;
    std::ifstream file(records_);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  void AwaitRecords(size_t count) const {
    while (Records().size() < count) std::this_thread::yield();
  }
  static std::future<uint32_t> Begin(BatchedProgram& program) {
    return std::async(std::launch::async, [&program] { return program.Compute(); });
  }
  // Each on a thread of its own; their errors.
  static std::vector<uint32_t> ComputeAll(const std::vector<std::unique_ptr<BatchedProgram>>& programs) {
    std::vector<std::future<uint32_t>> computes;
    for (const auto& program : programs) computes.push_back(Begin(*program));
    std::vector<uint32_t> errors;
    for (auto& compute : computes) errors.push_back(compute.get());
    return errors;
  }
  // As many as `firsts`, each with a row that begins with one of them.
  static std::vector<std::unique_ptr<BatchedProgram>> Programs(const HostPtr& host, const Bytes& firsts,
                                                               uint32_t compute_timeout_ms = 30000) {
    std::vector<std::unique_ptr<BatchedProgram>> programs;
    for (const uint8_t first : firsts) {
      programs.push_back(std::make_unique<BatchedProgram>(host.get(), compute_timeout_ms));
      EXPECT_EQ(programs.back()->Set({1, 2}, {first, 99}), kSuccess);
    }
    return programs;
  }

  const TestFolder folder_;
  const std::string records_ = folder_ / "records";
  Log log_;
  core::Clock::Hands hands_;
};

}  // namespace wasinn::testing
