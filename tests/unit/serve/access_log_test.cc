// Lines of the access log, and a log without a reader.
#include "serve/metrics/access_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "support/files.h"

namespace wasinn::serve {
namespace {

using nlohmann::json;

AccessRecord Record() {
  AccessRecord record;
  record.time = std::chrono::system_clock::time_point(std::chrono::milliseconds(1'700'000'000'007));
  record.peer = "127.0.0.1:1";
  record.protocol = "HTTP/1.1";
  record.method = "GET";
  record.target = "/v2";
  record.status = 200;
  record.about.trace = ContinueTrace("");
  return record;
}

TEST(AccessLine, HasARequest) {
  AccessRecord record = Record();
  record.bytes_in = 1;
  record.bytes_out = 2;
  record.duration = std::chrono::microseconds(3);
  record.about.trace = {.high = 1, .low = 2, .span = 3};
  EXPECT_EQ(
      ToLine(record),
      R"({"time":"2023-11-14T22:13:20.007Z","peer":"127.0.0.1:1","protocol":"HTTP/1.1","method":"GET",)"
      R"("target":"/v2","status":200,"bytes_in":1,"bytes_out":2,"duration_us":3,"trace_id":"00000000000000010000000000000002",)"
      R"("span_id":"0000000000000003"})");
}

TEST(AccessLine, HasWhatElseIsKnown) {
  AccessRecord record = Record();
  record.status.reset();
  record.is_complete = false;
  record.n_messages = 7;
  record.about.model = "m";
  record.about.tenant = "t";
  const json line = json::parse(ToLine(record));
  EXPECT_TRUE(line["status"].is_null());
  EXPECT_EQ(line["complete"], false);
  EXPECT_EQ(line["messages"], 7);
  EXPECT_EQ(line["model"], "m");
  EXPECT_EQ(line["tenant"], "t");
}

TEST(AccessLine, IsOneWhateverClientsSend) {
  for (const std::string& hostile :
       {std::string("\"}\n{\"status\": 1"), std::string("a\0b\x01\x7f", 5), std::string("\xff\xfe"),
        std::string("\xc3"), std::string(1 << 20, '"'), std::string(1 << 20, '\n')}) {
    AccessRecord record = Record();
    for (std::string* text :
         {&record.method, &record.target, &record.user_agent, &record.about.model, &record.about.tenant}) {
      *text = hostile;
    }
    const std::string line = ToLine(record);
    EXPECT_EQ(line.find('\n'), line.npos);
    EXPECT_LT(line.size(), 16u << 10);
    const json read = json::parse(line);
    EXPECT_EQ(read["status"], 200);
    const bool is_kept = hostile.size() < 100 && hostile[0] != '\xff' && hostile[0] != '\xc3';
    EXPECT_EQ(read["target"] == hostile, is_kept);
  }
}

class AccessLogTest : public ::testing::Test {
 protected:
  std::string path(const char* name) const { return folder_ / name; }
  std::vector<json> LinesOf(const std::string& file) const {
    std::vector<json> lines;
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    return lines;
  }

 private:
  const wasinn::testing::TestFolder folder_;
};

TEST_F(AccessLogTest, HasEachOfManyThreads) {
  auto log = AccessLog::Open(path("log"));
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        for (int j = 0; j < 500; ++j) log->Add(Record());
      });
    }
  }
  log->Close();
  EXPECT_EQ(LinesOf(path("log")).size(), 2000u);
}

TEST_F(AccessLogTest, ReportsTheNumberOfDroppedLines) {
  ASSERT_EQ(::mkfifo(path("log").c_str(), 0600), 0);
  const int reader = ::open(path("log").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  auto log = AccessLog::Open(path("log"), 64u << 10);
  AccessRecord large = Record();
  large.target = std::string(1000, 'a');
  constexpr int kAll = 2000;  // as many bytes as neither the pipe nor the log has room for
  for (int i = 0; i < kAll; ++i) log->Add(large);
  std::string text;
  char buffer[65536];
  uint64_t reported = 0, dropped = 0;
  for (const auto until = std::chrono::steady_clock::now() + kPatience;
       reported + dropped < kAll && std::chrono::steady_clock::now() < until;) {
    const ssize_t n = ::read(reader, buffer, sizeof buffer);
    if (n > 0) text.append(buffer, static_cast<size_t>(n));
    for (size_t end = text.find('\n'); end != text.npos; end = text.find('\n')) {
      const json line = json::parse(text.substr(0, end));
      text.erase(0, end + 1);
      if (line.contains("dropped")) {
        dropped += line["dropped"].get<uint64_t>();
      } else {
        ++reported;
      }
    }
  }
  EXPECT_GT(reported, 0u);
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(reported + dropped, kAll);
  ::close(reader);
}

TEST_F(AccessLogTest, EndsWithoutAReader) {
  ASSERT_EQ(::mkfifo(path("log").c_str(), 0600), 0);
  const int reader = ::open(path("log").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  {
    auto log = AccessLog::Open(path("log"));
    for (int i = 0; i < 2000; ++i) log->Add(Record());
  }
  ::close(reader);
}

TEST_F(AccessLogTest, IsOpenedAgain) {
  auto log = AccessLog::Open(path("log"));
  std::filesystem::rename(path("log"), path("old"));
  log->Reopen();
  log->Add(Record());
  log->Close();
  EXPECT_EQ(LinesOf(path("log")).size(), 1u);
  EXPECT_EQ(LinesOf(path("old")).size(), 0u);
}

TEST_F(AccessLogTest, GoesOnWhereItCannotBeOpenedAgain) {
  auto log = AccessLog::Open(path("log"));
  std::filesystem::rename(path("log"), path("old"));
  std::filesystem::create_directory(path("log"));
  EXPECT_THROW(log->Reopen(), Failure);
  log->Add(Record());
  log->Close();
  EXPECT_EQ(LinesOf(path("old")).size(), 1u);
}

TEST_F(AccessLogTest, CannotBeOpened) {
  EXPECT_THROW(AccessLog::Open(path("none/log")), Failure);
  EXPECT_THROW(AccessLog::Open(path("")), Failure);
  ASSERT_EQ(::mkfifo(path("fifo").c_str(), 0600), 0);
  EXPECT_THROW(AccessLog::Open(path("fifo")), Failure);
}

}  // namespace
}  // namespace wasinn::serve
