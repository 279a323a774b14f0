// Models with weights of gigabytes, which the host names: sparse files, all zero.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/echo.h"
#include "support/files.h"
#include "support/own_process.h"
#include "support/this_build.h"

namespace wasinn::test {

inline constexpr int64_t kGibi = int64_t{1} << 30;

inline void WriteSparse(const std::filesystem::path& path, int64_t bytes) {
  std::ofstream(path, std::ios::binary).close();
  std::filesystem::resize_file(path, static_cast<uintmax_t>(bytes));
}

// Loads a model by name and computes y = x * w once. Expects less than twice `bytes` of memory that is not the file's.
inline void ExpectInMemoryOnce(const std::string& framework, const std::string& path, uint32_t rows, size_t columns,
                               int64_t bytes) {
  testing::Log log;
  const testing::HostPtr host = testing::EchoHost(log, "[models.large]\npath = '" + path + "'\n",
                                                  std::filesystem::path(testing::BackendFile(framework)).parent_path());
  const testing::GuestPtr guest = testing::NewGuest(host.get());
  testing::FakeGuest calls(guest.get(), 16 << 20);
  const uint64_t before = testing::MemoryField("RssAnon:");
  const uint32_t context = calls.NewContext("large");
  ASSERT_EQ(calls.SetInput(context, 0, {1, rows}, testing::kF32, std::vector<float>(rows, 1)), testing::kSuccess)
      << log.Last();
  ASSERT_EQ(calls.Compute(context), testing::kSuccess) << log.Last();
  EXPECT_EQ(calls.Output<float>(context), std::vector<float>(columns, 0));
  const uint64_t grown = testing::MemoryField("RssAnon:") - before;
  EXPECT_LT(grown, static_cast<uint64_t>(bytes) * 5 / 4);
  ::testing::Test::RecordProperty("grown_mib", static_cast<int>(grown >> 20));
}

}  // namespace wasinn::test
