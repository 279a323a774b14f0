// The effect of one call's end on the server's health, and on other calls.
#include "backends/remote_http_client.h"
#include "remote/servers.h"

namespace wasinn::remote {
namespace {

using testing::ConfigOf;
using testing::Ok;
using testing::ScriptedConnection;
using testing::ScriptedServer;
using testing::TextOf;

constexpr char kBusy[] = "HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy";

class RemoteCalls : public ::testing::Test {
 protected:
  // Never answers "/hold"; answers all others so.
  ScriptedServer::Script Says(const std::string& answer) {
    return [this, answer](ScriptedConnection& one) {
      for (std::string asked = one.Read(); !asked.empty(); asked = one.Read()) {
        if (asked.starts_with("GET /hold ")) {
          ++held_;
          return one.AwaitEnd();
        }
        if (answer.empty() || !one.Write(answer)) return;
      }
    };
  }

  std::unique_ptr<Servers> Of(const std::vector<const ScriptedServer*>& all, bool is_idempotent) {
    Address address;
    address.transport = Transport::kHttp;
    address.model = "m";
    for (const ScriptedServer* one : all) address.endpoints.push_back(one->endpoint());
    ModelConfig config;
    config.connection = ConfigOf(8);
    config.is_idempotent = is_idempotent;
    config.retries = 2;
    return std::make_unique<Servers>(address, config, connections_, log_);
  }

  // Whether it gets calls as the others do.
  static bool IsWell(Servers& servers, size_t server) { return !servers.balancer().SetHealthy(server, true); }

  std::shared_ptr<Call> New(Servers& servers, const std::string& path) {
    return std::make_shared<Call>(servers, Request{.path = path, .has_body = false}, std::nullopt,
                                  servers.config().is_idempotent);
  }
  // One that is under way.
  std::shared_ptr<Call> Hold(Servers& servers) {
    const int before = held_;
    auto call = New(servers, "/hold");
    call->Begin([this](const Answered&) { ++ended_; });
    while (held_ == before) std::this_thread::yield();
    return call;
  }

  std::atomic<int> held_ = 0, ended_ = 0;
  const wasinn_host_services services_{};
  const backend::Log log_{services_};
  Connections connections_;
};

TEST_F(RemoteCalls, AnErrorForOneGuestDoesNotAffectOthers) {
  const ScriptedServer busy(Says(kBusy)), well(Says(Ok("well")));
  const auto servers = Of({&busy, &well}, /*is_idempotent=*/true);
  const auto first = Hold(*servers), second = Hold(*servers);  // one each
  const Answered answered = New(*servers, "/")->Wait();
  EXPECT_EQ(TextOf(answered.reply.message), "well") << "of the other one";
  EXPECT_EQ(answered.server, 1U);
  EXPECT_TRUE(IsWell(*servers, 0));
  EXPECT_EQ(ended_, 0);
  EXPECT_EQ(held_, 2) << "none was given up and made again";
  first->Cancel();
  second->Cancel();
  while (ended_ < 2) std::this_thread::yield();
}

TEST_F(RemoteCalls, ACallThatMayHaveRunIsNotRepeated) {
  const ScriptedServer busy(Says(kBusy)), well(Says(Ok("well")));
  const auto servers = Of({&busy, &well}, /*is_idempotent=*/false);
  const Answered answered = New(*servers, "/")->Wait();
  EXPECT_EQ(answered.reply.status.error_code(), grpc::UNAVAILABLE);
  EXPECT_EQ(answered.reply.status.error_message(), "HTTP 503 Service Unavailable: busy");
  EXPECT_TRUE(IsWell(*servers, 0));
}

TEST_F(RemoteCalls, ALostConnectionMakesAServerUnhealthy) {
  const ScriptedServer gone(Says("")), well(Says(Ok("well")));
  const auto servers = Of({&gone, &well}, /*is_idempotent=*/true);
  EXPECT_EQ(TextOf(New(*servers, "/")->Wait().reply.message), "well");
  EXPECT_FALSE(IsWell(*servers, 0));
}

}  // namespace
}  // namespace wasinn::remote
