// Guests that wait for a server wait without a thread.
#include <fmt/format.h>
#include <sys/resource.h>

#include "backends/remote_http_server.h"
#include "backends/remote_server.h"
#include "backends/scripted_server.h"
#include "support/own_process.h"
#include "support/this_build.h"
#include "unit/begun_calls.h"

namespace wasinn::testing {
namespace {

// Over HTTP each call has a connection, whose both ends are here.
void AllowDescriptors(rlim_t wanted) {
  rlimit limit = {};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = std::min(std::max(limit.rlim_cur, wanted), limit.rlim_max);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
}

template <typename Server>
class RemoteMany : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { AllowDescriptors(4096); }

  void Open(const Server& server, const std::string& settings = "") {
    host_ = EchoHost(log_, "call_threads = 2\nbackends.remote.max_connections = 2000\n" + settings,
                     InThisBuild("lib/wasinn"));
    const StatusPtr status = AddModel(host_, server.address());
    ASSERT_EQ(status, nullptr) << wasinn_status_message(status.get());
  }

  Log log_;
  HostPtr host_;
};

using Servers = ::testing::Types<InferenceServer, HttpInferenceServer>;
TYPED_TEST_SUITE(RemoteMany, Servers);

// The server answers none before it has all of them.
TYPED_TEST(RemoteMany, AThousandWaitOnTwoThreads) {
  constexpr size_t kMany = 1000;
  const TypeParam server(kMany);
  this->Open(server);
  std::vector<std::unique_ptr<BegunProgram>> programs;
  std::vector<uint32_t> contexts;
  std::vector<std::unique_ptr<Begun>> calls;
  for (size_t i = 0; i < kMany; ++i) {
    programs.push_back(std::make_unique<BegunProgram>(this->host_.get()));
    contexts.push_back(programs.back()->NewContext("m"));
    calls.push_back(programs.back()->Compute(contexts.back()));
  }
  for (size_t i = 0; i + 1 < kMany; ++i) calls[i]->Begin();
  while (server.holding() + 1 < kMany) std::this_thread::yield();
  EXPECT_LT(CountThreads(), 500) << "of which gRPC has some for each processor";
  calls.back()->Begin();
  for (size_t i = 0; i < kMany; ++i) {
    ASSERT_EQ(calls[i]->Await(), kSuccess);
    EXPECT_EQ(programs[i]->Output(contexts[i]), 7);
  }
}

TYPED_TEST(RemoteMany, AStoppedCallIsCancelledAtTheServer) {
  const TypeParam server(SIZE_MAX);
  this->Open(server);
  BegunProgram program(this->host_.get()), other(this->host_.get());
  const auto begun = program.Compute(program.NewContext("m")), stays = other.Compute(other.NewContext("m"));
  begun->Begin();
  stays->Begin();
  while (server.holding() < 2) std::this_thread::yield();
  wasinn_guest_close(program.guest.get());
  EXPECT_EQ(begun->Await(), kRuntimeError);
  while (server.holding() > 1) std::this_thread::yield();
  EXPECT_FALSE(stays->is_done());
  wasinn_guest_close(other.guest.get());  // which wakes it
  EXPECT_TRUE(stays->is_done());
}

TYPED_TEST(RemoteMany, ADeadlineEndsThem) {
  const TypeParam server(SIZE_MAX);
  this->Open(server, "limits.compute_timeout_ms = 100\n");
  BegunProgram program(this->host_.get());
  const uint32_t context = program.NewContext("m");
  for (int i = 0; i < 2; ++i) {
    const auto begun = program.Compute(context);
    begun->Begin();
    EXPECT_EQ(begun->Await(), kRuntimeError);
  }
  EXPECT_TRUE(this->log_.Contains("compute: timeout: "));
}

// An ended call is freed while the transport's threads still leave it.
TYPED_TEST(RemoteMany, HostsEndWhileTheirCallsEnd) {
  const TypeParam server(0);
  for (int round = 0; round < 50; ++round) {
    this->Open(server);
    std::vector<std::unique_ptr<BegunProgram>> programs;
    std::vector<std::unique_ptr<Begun>> calls;
    for (int i = 0; i < 4; ++i) {
      programs.push_back(std::make_unique<BegunProgram>(this->host_.get()));
      calls.push_back(programs.back()->Compute(programs.back()->NewContext("m")));
    }
    for (const auto& call : calls) call->Begin();
    if (round % 2 == 0) {
      for (const auto& call : calls) EXPECT_EQ(call->Await(), kSuccess);
    }
    programs.clear();
    this->host_.reset();
  }
}

// ---- Guests that wait for a text

std::string Answer(std::string_view json) {
  return fmt::format("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{}", json.size(), json);
}

// Answers no prompt before it has `most` of them.
class Texts {
 public:
  explicit Texts(size_t most)
      : most_(most), server_([this](ScriptedConnection& connection) {
          for (std::string asked = connection.Read(); !asked.empty(); asked = connection.Read()) {
            const bool is_list = asked.starts_with("GET ");
            if (!is_list) AwaitAll();
            if (!connection.Write(Answer(is_list ? R"({"data":[{"id":"m"}]})" : R"({"choices":[{"text":"so"}]})")))
              return;
          }
        }) {}

  std::string address() const { return "http://" + server_.endpoint() + "/v1/m"; }

 private:
  void AwaitAll() {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return asked_ >= most_; });
  }

  const size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t asked_ = 0;
  ScriptedServer server_;  // goes first
};

struct Reader {
  explicit Reader(wasinn_host* host) : program(host) {
    uint32_t graph = 0;
    EXPECT_EQ(program.LoadByName("m", graph), kSuccess);
    EXPECT_EQ(program.InitContext(graph, context), kSuccess);
    EXPECT_EQ(program.SetInput<char>(context, 0, {5}, kU8, {'H', 'e', 'l', 'l', 'o'}), kSuccess);
    compute = program.Compute(context);
  }
  std::string Text() { return program.Text("get_output", {context, 0}); }

  BegunProgram program;
  uint32_t context = 0;
  std::unique_ptr<Begun> compute;
};

TEST(RemoteManyTexts, ManyWaitOnTwoThreads) {
  constexpr size_t kMany = 32;
  const Texts server(kMany);
  const LoggedHost host("call_threads = 2\n", InThisBuild("lib/wasinn"));
  const StatusPtr status = AddModel(host, server.address());
  ASSERT_EQ(status, nullptr) << wasinn_status_message(status.get());
  std::vector<std::unique_ptr<Reader>> readers;
  for (size_t i = 0; i < kMany; ++i) readers.push_back(std::make_unique<Reader>(host.get()));
  for (const auto& reader : readers) reader->compute->Begin();
  for (const auto& reader : readers) {
    ASSERT_EQ(reader->compute->Await(), kSuccess);
    EXPECT_EQ(reader->Text(), "so");
  }
}

}  // namespace
}  // namespace wasinn::testing
