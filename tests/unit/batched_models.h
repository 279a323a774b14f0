// A model whose inferences are computed together, and guests of it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "support/echo.h"
#include "unit/bytes_guest.h"

namespace wasinn::testing {

using Bytes = std::vector<uint8_t>;
inline constexpr uint8_t kPoison = 13, kEndless = 17;

// Longer than any test takes: what goes before does not go for want of patience.
inline constexpr const char* kForEver = "max_queue_delay_microseconds = 4000000000\n";

// A guest with a context of the model "m", whose input is rows of bytes.
struct BatchedProgram : BytesGuest {
  explicit BatchedProgram(wasinn_host* host, uint32_t compute_timeout_ms = 30000, uint64_t max_tensor_bytes = 1 << 30)
      : BytesGuest(NewGuest(host,
                            [&](wasinn_limits& limits) {
                              limits.compute_timeout_ms = compute_timeout_ms;
                              limits.max_tensor_bytes = max_tensor_bytes;
                            })),
        context(NewContext("m")) {}
  uint32_t Set(const std::vector<uint32_t>& dims, const Bytes& bytes) {
    return calls.SetInput(context, 0, dims, kU8, bytes);
  }
  uint32_t Compute() { return BytesGuest::Compute(context); }
  Bytes Output() { return BytesGuest::Output(context); }

  const uint32_t context;
};

class BatchedModels : public ::testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // A host with the model "m"; its batches are recorded.
  HostPtr Host(const std::string& batching, const std::string& directives = "in x u8 -1,2\n",
               const std::string& settings = "") {
    std::ofstream(folder_ / "m.gguf") << EchoModel(directives) << "poison " << int{kPoison} << "\nendless "
                                      << int{kEndless} << "\nrecords " << records_ << "\n";
    return EchoHost(log_, settings + "[models.m]\npath = '" + (folder_ / "m.gguf").string() +
                              "'\n[models.m.batching]\n" + "instance_count = 1\n" + batching);
  }
  std::vector<std::string> Records() const {
    std::vector<std::string> lines;
    std::ifstream file(records_);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  // Each on a thread of its own; their errors.
  static std::vector<uint32_t> ComputeAll(std::vector<std::unique_ptr<BatchedProgram>>& programs) {
    std::vector<std::future<uint32_t>> computes;
    for (const auto& program : programs) {
      computes.push_back(std::async(std::launch::async, [&program] { return program->Compute(); }));
    }
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

  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      (std::string("batching_") + ::testing::UnitTest::GetInstance()->current_test_info()->name());
  const std::string records_ = (folder_ / "records").string();
  Log log_;
};

}  // namespace wasinn::testing
