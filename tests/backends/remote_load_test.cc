// Servers that never describe their models: a load waits no longer than its limits allow.
#include "backends/remote_server.h"
#include "backends/scripted_server.h"
#include "support/echo.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

class SilentGrpc {
 public:
  std::string address() const { return server_.address(); }
  bool was_asked() const { return server_.holding() > 0; }

 private:
  InferenceServer server_{SIZE_MAX, /*describes=*/false};
};

class SilentHttp {
 public:
  explicit SilentHttp(std::string path = "/v2/models/m") : path_(std::move(path)) {}
  std::string address() const { return "http://" + server_.endpoint() + path_; }
  std::string endpoint() const { return server_.endpoint(); }
  bool was_asked() const { return times_asked_ > 0; }
  int times_asked() const { return times_asked_; }

 private:
  const std::string path_;
  std::atomic<int> times_asked_ = 0;
  ScriptedServer server_{[this](ScriptedConnection& one) {
    one.Read();
    ++times_asked_;
    one.AwaitEnd();
  }};
};

class SilentOpenAi : public SilentHttp {
 public:
  SilentOpenAi() : SilentHttp("/v1/m") {}
};

template <typename Server>
class RemoteLoad : public ::testing::Test {
 protected:
  void Open(const std::string& address, uint32_t load_timeout_ms) {
    host_ = EchoHost(log_, "backends.remote.load_timeout_ms = " + std::to_string(load_timeout_ms) + "\n",
                     InThisBuild("lib/wasinn"));
    const StatusPtr status = AddModel(host_, address);
    ASSERT_EQ(status, nullptr) << wasinn_status_message(status.get());
  }
  static uint32_t Load(const GuestPtr& guest) {
    FakeGuest calls(guest.get());
    uint32_t graph = 0;
    return calls.LoadByName("m", graph);
  }

  static constexpr uint32_t kDay = 24 * 60 * 60 * 1000;
  Log log_;
  HostPtr host_;
};

using SilentServers = ::testing::Types<SilentGrpc, SilentHttp, SilentOpenAi>;
TYPED_TEST_SUITE(RemoteLoad, SilentServers);

TYPED_TEST(RemoteLoad, EndsAtItsOwnDeadline) {
  const TypeParam server;
  this->Open(server.address(), 100);
  EXPECT_EQ(this->Load(NewGuest(this->host_.get(), &wasinn_limits::load_timeout_ms, this->kDay)), kRuntimeError);
  EXPECT_TRUE(this->log_.Contains("did not describe the model's inputs and outputs within 100 ms (load_timeout_ms)"))
      << this->log_.lines().back();
}

TYPED_TEST(RemoteLoad, EndsAtTheCallersDeadline) {
  const TypeParam server;
  this->Open(server.address(), this->kDay);
  EXPECT_EQ(this->Load(NewGuest(this->host_.get(), &wasinn_limits::load_timeout_ms, 100U)), kRuntimeError);
  EXPECT_TRUE(this->log_.Contains("the load was stopped after 100 ms")) << this->log_.lines().back();
}

TYPED_TEST(RemoteLoad, EndsWithItsCaller) {
  const TypeParam server;
  this->Open(server.address(), this->kDay);
  const GuestPtr guest = NewGuest(this->host_.get(), &wasinn_limits::load_timeout_ms, this->kDay);
  auto loading = std::async(std::launch::async, [&] { return this->Load(guest); });
  while (!server.was_asked()) std::this_thread::yield();
  wasinn_guest_close(guest.get());
  EXPECT_EQ(loading.get(), kRuntimeError);
}

// It is no TIMEOUT, which would be of the guest that waits: each other one that waits would then ask as long.
TEST(RemoteLoadOfAGateway, ReportsThatTheServerIsMissing) {
  const ScriptedServer server([](ScriptedConnection& one) {
    while (!one.Read().empty() && one.Write("HTTP/1.1 504 Gateway Timeout\r\ncontent-length: 0\r\n\r\n")) {
    }
  });
  const LoggedHost host("", InThisBuild("lib/wasinn"));
  const StatusPtr status = AddModel(host, "http://" + server.endpoint() + "/v2/models/m", {.preload = true});
  EXPECT_EQ(wasinn_status_code(status.get()), WASINN_ERROR_UNAVAILABLE) << wasinn_status_message(status.get());
}

// The first of several takes its share of the time. All others answer.
TEST(RemoteLoadOfSeveral, AsksTheNextServer) {
  constexpr std::string_view kMetadata =
      R"({"name":"m","inputs":[{"name":"x","datatype":"FP32","shape":[1]}],"outputs":[{"name":"x","datatype":"FP32","shape":[1]}]})";
  const SilentHttp silent;
  const ScriptedServer::Script describes = [&](ScriptedConnection& one) {
    for (std::string asked = one.Read(); !asked.empty(); asked = one.Read()) {
      const std::string answer = asked.starts_with("GET /v2 ") ? "{}" : std::string(kMetadata);
      if (!one.Write("HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(answer.size()) + "\r\n\r\n" + answer))
        return;
    }
  };
  std::deque<ScriptedServer> others;
  std::string address = "http://" + silent.endpoint();
  for (int i = 0; i < 19; ++i) address += "," + others.emplace_back(describes).endpoint();
  address += "/v2/models/m";
  const LoggedHost host("backends.remote.load_timeout_ms = 4000\n", InThisBuild("lib/wasinn"));
  const StatusPtr status = AddModel(host, address, {.preload = true});
  EXPECT_EQ(status, nullptr) << wasinn_status_message(status.get());
  EXPECT_TRUE(silent.was_asked());
  while (silent.times_asked() < 2) std::this_thread::yield();  // whether it is well again
}

// 0.0.0.0 leads to this machine, although its name does not show that.
TEST(RemoteLoadOfSecrets, WarnsIfTheyAreSentWithoutTls) {
  const SilentHttp near;
  for (const auto& [address, is_logged] : {std::pair(std::string("http://0.0.0.0:9/v2/models/m"), true),
                                           {std::string("https://0.0.0.0:9/v2/models/m"), false},
                                           {near.address(), false}}) {
    Log log;
    const HostPtr host = EchoHost(log, "backends.remote.load_timeout_ms = 50\n", InThisBuild("lib/wasinn"));
    constexpr char kSecret[] = R"({"headers": {"authorization": "Bearer secret"}})";
    EXPECT_NE(AddModel(host, address, {.config = kSecret, .preload = true}), nullptr);
    EXPECT_EQ(log.Contains("header 'authorization' goes to 0.0.0.0:9 without TLS"), is_logged) << address;
    EXPECT_FALSE(log.Contains("secret"));
  }
}

}  // namespace
}  // namespace wasinn::testing
