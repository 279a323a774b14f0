// Guests that wait for a text of a server wait without a thread.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "backends/scripted_server.h"
#include "support/this_build.h"
#include "unit/begun_calls.h"

namespace wasinn::testing {
namespace {

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
    EXPECT_EQ(program.calls.LoadByName("m", graph), kSuccess);
    EXPECT_EQ(program.calls.InitContext(graph, context), kSuccess);
    EXPECT_EQ(program.calls.SetInput<char>(context, 0, {5}, kU8, {'H', 'e', 'l', 'l', 'o'}), kSuccess);
    compute = program.Compute(context);
  }
  std::string Text() {
    const uint32_t buffer = program.calls.Reserve(16), written = program.calls.Reserve(4);
    EXPECT_EQ(program.calls.Call("get_output", {context, 0, buffer, 16, written}), kSuccess);
    const auto* text = reinterpret_cast<const char*>(program.calls.memory().data() + buffer);
    return {text, program.calls.Read<uint32_t>(written)};
  }

  BegunProgram program;
  uint32_t context = 0;
  std::unique_ptr<Begun> compute;
};

TEST(RemoteManyTexts, ManyWaitOnTwoThreads) {
  constexpr size_t kMany = 32;
  const Texts server(kMany);
  Log log;
  const HostPtr host = EchoHost(log, "call_threads = 2\n", InThisBuild("lib/wasinn"));
  const std::string address = server.address();
  wasinn_model_options options{.struct_size = sizeof(wasinn_model_options)};
  options.path = address.c_str();
  const StatusPtr status(wasinn_host_add_model(host.get(), "m", &options));
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
