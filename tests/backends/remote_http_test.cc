// The client of HTTP, and untrusted servers.
#include "backends/remote_http_client.h"
#include "remote/exchange.h"

namespace wasinn::remote {
namespace {

using testing::Always;
using testing::Client;
using testing::Ends;
using testing::In;
using testing::Ok;
using testing::ScriptedConnection;
using testing::ScriptedServer;
using testing::TextOf;

class RemoteHttp : public ::testing::Test {
 protected:
  // The result of a call with one answer.
  Reply Answer(const std::string& answer) {
    const ScriptedServer server([&](ScriptedConnection& one) {
      one.Read();
      one.Write(answer);
    });
    return Client(loop_, server.endpoint()).Get();
  }

  HttpLoop loop_;
};

TEST_F(RemoteHttp, SendsAWholeRequestAndReadsAWholeAnswer) {
  std::string asked;
  const ScriptedServer server([&](ScriptedConnection& one) {
    asked = one.Read();
    one.Write(Ok("answer", "X-Sent: yes\r\n"));
  });
  const Client client(loop_, server.endpoint());
  const grpc::Slice parts[] = {grpc::Slice("bo"), grpc::Slice("dy")};
  const Request request{.path = "/v2/x", .headers = {{"content-type", "text/plain"}}, .body = {parts, 2}};
  const Reply reply = client.New(request)->Wait();
  EXPECT_TRUE(reply.status.ok()) << reply.status.error_message();
  EXPECT_EQ(TextOf(reply.message), "answer");
  EXPECT_THAT(reply.headers, ::testing::Contains(std::pair<std::string, std::string>("x-sent", "yes")));
  EXPECT_EQ(asked, "POST /v2/x HTTP/1.1\r\nhost: " + server.endpoint() +
                       "\r\nuser-agent: wasinn\r\naccept-encoding: identity\r\ncontent-length: 4\r\n"
                       "content-type: text/plain\r\nx-team: red\r\n\r\nbody");
}

TEST_F(RemoteHttp, AConnectionServesManyRequests) {
  const ScriptedServer server(Always(Ok("answer")));
  const Client client(loop_, server.endpoint());
  for (int i = 0; i < 20; ++i) EXPECT_EQ(TextOf(client.Get().message), "answer");
  EXPECT_EQ(server.connections(), 1U);
}

TEST_F(RemoteHttp, AClosedConnectionIsNotReused) {
  const ScriptedServer server([](ScriptedConnection& one) {
    one.Read();
    one.Write(Ok("answer"));  // and ends
  });
  const Client client(loop_, server.endpoint());
  int lost = 0;
  for (int i = 0; i < 20; ++i) {
    const Reply reply = client.Get();
    if (!reply.status.ok()) {  // it ended just then
      EXPECT_EQ(reply.status.error_code(), grpc::UNAVAILABLE);
      ++lost;
    }
  }
  EXPECT_LT(lost, 20);
}

TEST_F(RemoteHttp, AConnectionWithoutKeepAliveIsNotReused) {
  for (const std::string& answer : {Ok("a", "Connection: close\r\n"), Ok("a") + "more", Ok("a") + Ok("b")}) {
    const ScriptedServer server(Always(answer));
    const Client client(loop_, server.endpoint());
    for (int i = 0; i < 3; ++i) EXPECT_EQ(TextOf(client.Get().message), "a");
    EXPECT_EQ(server.connections(), 3U) << answer;
  }
}

TEST_F(RemoteHttp, NothingIsSentWithoutAConnection) {
  std::string endpoint;
  {
    endpoint = ScriptedServer([](ScriptedConnection&) {}).endpoint();
  }
  const Reply reply = Client(loop_, endpoint).Get();
  EXPECT_EQ(reply.status.error_code(), grpc::UNAVAILABLE);
  EXPECT_THAT(reply.status.error_message(), HasSubstr("failed to connect: "));
  EXPECT_FALSE(reply.was_sent);
}

TEST_F(RemoteHttp, AnEndWithoutAnAnswerMayHaveRun) {
  for (const bool is_reset : {false, true}) {
    const ScriptedServer server([&](ScriptedConnection& one) {
      one.Read();
      if (is_reset) one.Reset();
    });
    const Reply reply = Client(loop_, server.endpoint()).Get();
    EXPECT_EQ(reply.status.error_code(), grpc::UNAVAILABLE);
    EXPECT_THAT(reply.status.error_message(), HasSubstr(is_reset ? "the connection was lost" : "before it answered"));
    EXPECT_TRUE(reply.was_sent);
  }
}

TEST_F(RemoteHttp, RecognizesServersOfOtherProtocols) {
  const ScriptedServer ends([](ScriptedConnection& one) { one.Read(); });
  EXPECT_EQ(Client(loop_, ends.endpoint()).Get().status.error_message(),
            "the server ended the connection before it answered; https://?");
  const ScriptedServer grpc([](ScriptedConnection& one) {
    one.Write(std::string("\0\0\x06\4\0\0\0\0\0\0\5\0\0\x40\0", 15));  // HTTP/2's settings
    one.AwaitEnd();
  });
  const std::string said = Client(loop_, grpc.endpoint()).Get().status.error_message();
  EXPECT_THAT(said, ::testing::StartsWith("the server's answer is not HTTP: "));
  EXPECT_THAT(said, ::testing::EndsWith("; grpc://?"));
}

TEST_F(RemoteHttp, AServerThatHasAnsweredSpeaksHttp) {
  const ScriptedServer server([](ScriptedConnection& one) {
    one.Read();
    one.Write(Ok("answer"));
    one.Read();
  });
  const Client client(loop_, server.endpoint());
  EXPECT_EQ(TextOf(client.Get().message), "answer");
  EXPECT_EQ(client.Get().status.error_message(), "the server ended the connection before it answered");
}

TEST_F(RemoteHttp, ReadsAnswersInPieces) {
  EXPECT_EQ(
      TextOf(
          Answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nans\r\n3;x=y\r\nwer\r\n0\r\n\r\n").message),
      "answer");
  EXPECT_EQ(TextOf(Answer("HTTP/1.1 100 Continue\r\n\r\n" + Ok("answer")).message), "answer");
  EXPECT_EQ(TextOf(Answer("HTTP/1.0 200 OK\r\n\r\nuntil the end").message), "until the end");
  EXPECT_EQ(TextOf(Answer("HTTP/1.1 204 No Content\r\n\r\n").message), "");
}

TEST_F(RemoteHttp, RefusesInvalidAnswers) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::vector<std::string> none = {"no HTTP at all\r\n\r\n",
                                         ok + "Content-Length: x\r\n\r\n",
                                         ok + "Content-Length: -1\r\n\r\n",
                                         ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
                                         ok + "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\na",
                                         ok + "Transfer-Encoding: chunked\r\n\r\nx\r\n",
                                         ok + "no field\r\n\r\n",
                                         ok + std::string(100'000, 'x') + ": y\r\n\r\n",
                                         std::string(100'000, 'x'),
                                         std::string(100, '\xff')};
  for (const std::string& answer : none) {
    const Reply reply = Answer(answer);
    EXPECT_EQ(reply.status.error_code(), grpc::INTERNAL) << answer.substr(0, 100) << reply.status.error_message();
    EXPECT_THAT(reply.status.error_message(), HasSubstr("is not HTTP"));
  }
  const std::vector<std::string> cut = {Ok("answer").substr(0, 40), Ok("answer").substr(0, 10),
                                        ok + "Content-Length: 9999\r\n\r\nless",
                                        ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nan"};
  for (const std::string& answer : cut) {
    const Reply reply = Answer(answer);
    EXPECT_EQ(reply.status.error_code(), grpc::UNAVAILABLE) << answer;
    EXPECT_TRUE(reply.was_sent);
  }
  const Reply compressed = Answer(Ok("answer", "Content-Encoding: gzip\r\n"));
  EXPECT_THAT(compressed.status.error_message(), HasSubstr("compressed"));
}

TEST_F(RemoteHttp, RefusesEndlessAnswers) {
  for (const char* head :
       {"HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n", "HTTP/1.1 500 Oh\r\n\r\n"}) {
    const ScriptedServer server([&](ScriptedConnection& one) {
      one.Read();
      if (!one.Write(head)) return;
      while (one.Write(std::string(10'000, 'x'))) {
      }
    });
    const Reply reply = Client(loop_, server.endpoint()).Get();
    EXPECT_EQ(reply.status.error_code(), grpc::RESOURCE_EXHAUSTED) << head;
    EXPECT_THAT(reply.status.error_message(), HasSubstr("larger than max_message_bytes allows: 100000"));
  }
  for (const char* more : {"HTTP/1.1 100 Continue\r\n\r\n", "x"}) {
    const ScriptedServer server([&](ScriptedConnection& one) {
      one.Read();
      while (one.Write(more)) {
      }
    });
    EXPECT_EQ(Client(loop_, server.endpoint()).Get().status.error_code(), grpc::INTERNAL) << more;
  }
}

TEST_F(RemoteHttp, AcceptsAnAnswerBeforeTheRequestIsRead) {
  const ScriptedServer server([&](ScriptedConnection& one) {
    one.Write("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 19\r\n\r\n{\"error\": \"enough\"}");
    one.AwaitEnd();
  });
  const Client client(loop_, server.endpoint());
  const grpc::Slice body(std::string(50'000, 'x'));
  const Request request{.path = "/v2", .body = {&body, 1}};
  const Reply reply = client.New(request)->Wait();
  EXPECT_EQ(reply.status.error_code(), grpc::RESOURCE_EXHAUSTED);
  EXPECT_EQ(reply.status.error_message(), "enough");
}

TEST_F(RemoteHttp, ErrorsHaveTheServersMessage) {
  const auto error_of = [this](const std::string& head, const std::string& body) {
    const Reply reply =
        Answer("HTTP/1.1 " + head + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
    return std::pair(reply.status.error_code(), reply.status.error_message());
  };
  EXPECT_EQ(error_of("400 Bad Request", R"({"error": "no input"})"),
            std::pair(grpc::INVALID_ARGUMENT, std::string("no input")));
  EXPECT_EQ(error_of("404 Not Found", R"({"error": {"message": "no model"}})"),
            std::pair(grpc::NOT_FOUND, std::string("no model")));
  EXPECT_EQ(error_of("503 Service Unavailable", R"({"detail": "busy"})"),
            std::pair(grpc::UNAVAILABLE, std::string("busy")));
  EXPECT_EQ(error_of("502 Bad Gateway", "<html>"),
            std::pair(grpc::UNAVAILABLE, std::string("HTTP 502 Bad Gateway: <html>")));
  EXPECT_EQ(error_of("301 Moved Permanently", "").second, "HTTP 301 Moved Permanently, which is not followed");
  EXPECT_EQ(error_of("401 Unauthorized", std::string(1000, '[')).first, grpc::PERMISSION_DENIED);
  EXPECT_EQ(error_of("500 Oh", "").first, grpc::INTERNAL);
  EXPECT_EQ(error_of("999 What", "").first, grpc::INTERNAL);
}

// Guests have neither the key nor the address.
TEST(RemoteErrors, AServersRefusalOfTheHostIsUnavailable) {
  for (const grpc::StatusCode code : {grpc::PERMISSION_DENIED, grpc::UNAUTHENTICATED, grpc::NOT_FOUND}) {
    const backend::Error error = ErrorOf(grpc::Status(code, "no"));
    EXPECT_EQ(error.code(), WASINN_ERROR_UNAVAILABLE);
    EXPECT_THAT(error.what(), ::testing::EndsWith(": no"));
  }
  EXPECT_EQ(ErrorOf(grpc::Status(grpc::INVALID_ARGUMENT, "no")).code(), WASINN_ERROR_INVALID_ARGUMENT);
}

TEST_F(RemoteHttp, ADeadlineEndsASlowAnswer) {
  std::atomic<bool> was_asked = false, has_gone = false;
  const ScriptedServer server([&](ScriptedConnection& one) {
    if (one.Read().empty()) return;
    was_asked = true;
    one.Write("HTTP/1.1 200 OK\r\nContent-Length: 50000\r\n\r\nx");
    one.AwaitEnd();
    has_gone = true;
  });
  const Client client(loop_, server.endpoint());
  while (!was_asked) {
    EXPECT_EQ(client.Get(In(std::chrono::milliseconds(50))).status.error_code(), grpc::DEADLINE_EXCEEDED);
  }
  while (!has_gone) std::this_thread::yield();
  EXPECT_EQ(client.Get(In(std::chrono::milliseconds(-5))).status.error_code(), grpc::DEADLINE_EXCEEDED);
}

TEST_F(RemoteHttp, ACancelEndsACallAtAnyStage) {
  std::atomic<int> asked = 0;
  const ScriptedServer server([&](ScriptedConnection& one) {
    one.Read();
    ++asked;
    one.AwaitEnd();
  });
  const Client client(loop_, server.endpoint());
  const Request request{.path = "/v2", .has_body = false};
  Ends ends;
  const auto before = client.New(request), during = client.New(request);
  before->Cancel();
  before->Start(ends.Next());
  EXPECT_EQ(ends.Await(1).front().status.error_code(), grpc::CANCELLED);
  EXPECT_EQ(asked, 0);
  during->Start(ends.Next());
  while (asked == 0) std::this_thread::yield();
  during->Cancel();
  EXPECT_EQ(ends.Await(1).front().status.error_code(), grpc::CANCELLED);
  during->Cancel();
}

TEST_F(RemoteHttp, MoreCallsThanConnectionsWait) {
  const ScriptedServer server([](ScriptedConnection& one) {
    for (int i = 0; !one.Read().empty() && one.Write(Ok(std::to_string(i))); ++i) {
    }
  });
  const Client client(loop_, server.endpoint(), 2);
  const Request request{.path = "/v2", .has_body = false};
  Ends ends;
  for (int i = 0; i < 50; ++i) client.New(request)->Start(ends.Next());
  for (const Reply& one : ends.Await(50)) EXPECT_TRUE(one.status.ok()) << one.status.error_message();
  EXPECT_LE(server.connections(), 2U);
}

TEST_F(RemoteHttp, ADeadlineHoldsWhileWaitingForAConnection) {
  std::atomic<int> asked = 0;
  const ScriptedServer server([&](ScriptedConnection& one) {
    one.Read();
    ++asked;
    one.AwaitEnd();
  });
  const Client client(loop_, server.endpoint(), 1);
  const Request request{.path = "/v2", .has_body = false};
  Ends ends;
  const auto first = client.New(request);
  first->Start(ends.Next());
  while (asked == 0) std::this_thread::yield();
  EXPECT_EQ(client.Get(In(std::chrono::milliseconds(20))).status.error_code(), grpc::DEADLINE_EXCEEDED);
  first->Cancel();
  ends.Await(1);
  EXPECT_EQ(asked, 1);
}

TEST_F(RemoteHttp, AClientEndsWithIdleConnections) {
  const ScriptedServer server([](ScriptedConnection& one) {
    one.Read();
    one.Write(Ok("answer"));
    one.AwaitEnd();
  });
  {
    EXPECT_TRUE(Client(loop_, server.endpoint()).Get().status.ok());
  }
  while (server.open() > 0) std::this_thread::yield();
}

}  // namespace
}  // namespace wasinn::remote
