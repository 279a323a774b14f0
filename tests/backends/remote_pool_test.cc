// Connections that calls have one after the other: nothing of one call is the next one's.
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <exception>

#include "backends/remote_http_client.h"
#include "remote/http_stream.h"

namespace wasinn::remote {
namespace {

using testing::Always;
using testing::Client;
using testing::ConfigOf;
using testing::Ends;
using testing::In;
using testing::kMax;
using testing::Ok;
using testing::ScriptedConnection;
using testing::ScriptedServer;
using testing::TextOf;

class RemotePool : public ::testing::Test {
 protected:
  // The first connection answers so, or with "" not at all; all others with "well".
  ScriptedServer::Script FirstAnswers(const std::string& first) {
    return [this, first](ScriptedConnection& one) {
      const bool is_first = !has_first_.exchange(true);
      while (!one.Read().empty()) {
        ++asked_;
        if (is_first && first.empty()) return one.AwaitEnd();
        if (!one.Write(is_first ? first : Ok("well"))) return;
      }
    };
  }

  const Request request_{.path = "/v2", .has_body = false};
  const Request check_{.path = "/v2", .has_body = false, .is_check = true};
  std::atomic<bool> has_first_ = false;
  std::atomic<int> asked_ = 0;
  HttpLoop loop_;
};

TEST_F(RemotePool, AWaitingCallGetsNoCancelledConnection) {
  const ScriptedServer server(FirstAnswers(""));
  const Client client(loop_, server.endpoint(), 1);
  Ends first_end, second_end;
  const auto first = client.New(request_), second = client.New(request_);
  first->Start(first_end.Next());
  while (asked_ == 0) std::this_thread::yield();
  second->Start(second_end.Next());
  first->Cancel();
  EXPECT_EQ(first_end.Await(1).front().status.error_code(), grpc::CANCELLED);
  const std::vector<Reply> replies = second_end.Await(1);
  EXPECT_EQ(TextOf(replies.front().message), "well") << replies.front().status.error_message();
}

TEST_F(RemotePool, AWaitingCallGetsNoAnswerOfAnother) {
  for (const std::string& more : {Ok("forged"), std::string("x")}) {
    const ScriptedServer server(Always(Ok("well") + more));
    const Client client(loop_, server.endpoint(), 1);
    Ends ends;
    for (int i = 0; i < 4; ++i) client.New(request_)->Start(ends.Next());
    for (const Reply& reply : ends.Await(4)) EXPECT_EQ(TextOf(reply.message), "well") << reply.status.error_message();
    EXPECT_EQ(server.connections(), 4U);
  }
}

TEST_F(RemotePool, AWaitingCallGetsNoRestOfATooLargeAnswer) {
  std::string body;
  while (body.size() <= kMax) body += Ok("forged");
  for (const std::string& answer : {Ok(body), "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nx\r\n\r\n" + Ok("forged")}) {
    has_first_ = false;
    const ScriptedServer server(FirstAnswers(answer));
    const Client client(loop_, server.endpoint(), 1);
    Ends first_end, others;
    client.New(request_)->Start(first_end.Next());
    for (int i = 0; i < 3; ++i) client.New(request_)->Start(others.Next());
    EXPECT_FALSE(first_end.Await(1).front().status.ok());
    for (const Reply& reply : others.Await(3)) EXPECT_EQ(TextOf(reply.message), "well") << reply.status.error_message();
  }
}

TEST_F(RemotePool, ACheckWaitsForNoCall) {
  const ScriptedServer server(FirstAnswers(""));
  const Client client(loop_, server.endpoint(), 1);
  Ends call_end, check_end, waiting_end;
  const auto call = client.New(request_), waiting = client.New(request_, In(std::chrono::milliseconds(50)));
  call->Start(call_end.Next());
  while (asked_ == 0) std::this_thread::yield();
  waiting->Start(waiting_end.Next());
  for (int i = 0; i < 2; ++i) {
    client.New(check_)->Start(check_end.Next());
    EXPECT_EQ(TextOf(check_end.Await(1).front().message), "well");
  }
  // No call has the connection that the check had.
  EXPECT_EQ(waiting_end.Await(1).front().status.error_code(), grpc::DEADLINE_EXCEEDED);
  EXPECT_EQ(asked_, 3);
  while (server.open() > 1) std::this_thread::yield();
  call->Cancel();
  call_end.Await(1);
}

TEST_F(RemotePool, HandlingAnAnswerDoesNotDelayOthers) {
  const ScriptedServer server(Always(Ok("well")));
  const Client client(loop_, server.endpoint());
  std::promise<void> is_inside, other_ended, has_ended;
  client.New(request_)->Start([&](const Reply&) {
    is_inside.set_value();
    other_ended.get_future().wait();
    has_ended.set_value();
  });
  is_inside.get_future().wait();
  Ends ends;
  client.New(request_)->Start(ends.Next());
  EXPECT_TRUE(ends.Await(1).front().status.ok());
  other_ended.set_value();
  has_ended.get_future().wait();
}

TEST_F(RemotePool, AnAnswerIsChargedBeforeItIsRead) {
  const ScriptedServer server(Always(Ok(std::string(90'000, 'x'))));
  const Client client(loop_, server.endpoint());
  uint64_t most = UINT64_MAX, charged = 0;
  const Request request{.path = "/v2", .has_body = false, .charge = [&](uint64_t bytes) {
                          if (bytes > most) return false;
                          charged = bytes;
                          return true;
                        }};
  EXPECT_TRUE(client.New(request)->Wait().status.ok());
  EXPECT_GE(charged, 90'000U);
  EXPECT_LE(charged, kMax) << "no more than an answer may have";
  most = 70'000;
  const Reply reply = client.New(request)->Wait();
  EXPECT_EQ(reply.status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("no memory for the answer"));
}

TEST_F(RemotePool, AConnectMayEndAtItsDeadline) {
  const ScriptedServer server([](ScriptedConnection& one) { one.AwaitEnd(); });
  boost::asio::io_context context;
  constexpr std::chrono::milliseconds kLongest(50);
  const auto link = std::make_shared<HttpLink>(context.get_executor(),
                                               std::make_unique<HttpStream>(context.get_executor(), /*tls=*/nullptr));
  const auto over = std::chrono::steady_clock::now() + 2 * kLongest;
  const HostAndPort address(server.endpoint());
  std::optional<std::string> why;
  boost::asio::co_spawn(context, link->Connect(address, "a", kLongest),
                        [&](const std::exception_ptr&, std::string error) { why = std::move(error); });
  context.poll_one();  // which begins to connect
  while (server.connections() == 0 || std::chrono::steady_clock::now() < over) std::this_thread::yield();
  context.run();
  EXPECT_TRUE(why.has_value());
}

// A call may go to another server. Checks come again and again, and would have it wait for all of them.
TEST_F(RemotePool, AFailedConnectDoesNotWaitForACheck) {
  const ScriptedServer server([](ScriptedConnection& one) { one.AwaitEnd(); });  // it never speaks TLS
  ConnectionConfig config = ConfigOf(1);
  config.is_secure = true;
  config.connect_timeout = std::chrono::milliseconds(50);
  const std::shared_ptr<Connection> connection = MakeHttpConnection(loop_, server.endpoint(), config);
  const Headers none;
  Ends checks, calls;
  for (int i = 0; i < 3; ++i) connection->NewExchange(check_, none, std::nullopt)->Start(checks.Next());
  connection->NewExchange(request_, none, std::nullopt)->Start(calls.Next());
  EXPECT_THAT(calls.Await(1).front().status.error_message(), HasSubstr("failed to connect within 50 ms"));
  checks.Await(3);
}

}  // namespace
}  // namespace wasinn::remote
