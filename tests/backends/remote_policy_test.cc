// The servers of calls, and their repetition.
#include "backends/thrown.h"
#include "remote/config.h"
#include "remote/servers.h"

namespace wasinn::remote {
namespace {

std::string Refused(const std::string& text) {
  return test::Refused(WASINN_ERROR_INVALID_ENCODING, [&] { ParseAddress(text); });
}

TEST(RemoteAddressTest, ReadsGrpcAddresses) {
  const Address one = ParseAddress("grpc://host:8001/model");
  EXPECT_FALSE(one.is_secure);
  EXPECT_THAT(one.endpoints, ElementsAre("host:8001"));
  EXPECT_EQ(one.model, "model");
  EXPECT_EQ(one.version, "");
  const Address several = ParseAddress("GRPCS://a.b:1,[::1]:65535,10.0.0.1:3/team/model:2:7");
  EXPECT_TRUE(several.is_secure);
  EXPECT_THAT(several.endpoints, ElementsAre("a.b:1", "[::1]:65535", "10.0.0.1:3"));
  EXPECT_EQ(several.model, "team/model:2");
  EXPECT_EQ(several.version, "7");
}

TEST(RemoteAddressTest, ReadsAddressesOfLanguageModels) {
  const Address one = ParseAddress("https://a:1,b:2/v1/org/na%20me:tag");
  EXPECT_TRUE(one.is_secure);
  EXPECT_THAT(one.endpoints, ElementsAre("a:1", "b:2"));
  EXPECT_EQ(one.base, "/v1");
  EXPECT_EQ(one.model, "org/na me:tag");
  EXPECT_EQ(one.path, "/v1/models/org/na%20me:tag");
  const Address behind = ParseAddress("http://a:1/openai/v1/m/v1/n");
  EXPECT_EQ(behind.base, "/openai/v1");
  EXPECT_EQ(behind.model, "m/v1/n");
  EXPECT_EQ(ParseAddress("http://a:1/v2/models/v1/m").base, "");
  EXPECT_THAT(Refused("http://a:1/v1/"), HasSubstr("it names no model"));
  EXPECT_THAT(Refused("http://a:1/v1/m/"), HasSubstr("it names no model"));
  EXPECT_THAT(Refused("http://a:1/v1/m%2"), HasSubstr("'%' is not before two digits"));
  EXPECT_THAT(Refused("http://a:1/v1/m%00"), HasSubstr("'%' is not before two digits"));
  EXPECT_THAT(Refused("http://a:1/v1/%ff"), HasSubstr("is not UTF-8"));
  EXPECT_THAT(Refused("http://a:1/v1/a\r\nb"), HasSubstr("write it as %0D"));
  EXPECT_THAT(Refused("http://a:1/v3/m"), HasSubstr("/v2/models/ or /v1/"));
}

TEST(RemoteAddressTest, ReadsHttpAddresses) {
  const Address one = ParseAddress("http://host:8000/v2/models/a%20b/versions/2");
  EXPECT_EQ(one.transport, Transport::kHttp);
  EXPECT_FALSE(one.is_secure);
  EXPECT_EQ(one.path, "/v2/models/a%20b/versions/2");
  EXPECT_EQ(one.model, "a%20b");
  EXPECT_EQ(one.version, "2");
  EXPECT_TRUE(ParseAddress("https://a:1,b:2/v2/models/m").is_secure);
  EXPECT_THAT(Refused("http://a:1/m"), HasSubstr("does not begin with /v2/models/"));
  EXPECT_THAT(Refused("http://a:1/v2/models/"), HasSubstr("it names no model"));
  EXPECT_THAT(Refused("http://a:1/v2/models/m/versions/"), HasSubstr("the version is empty"));
  EXPECT_THAT(Refused("http://a:1/v2/models/m?x"), HasSubstr("an address has no query"));
  EXPECT_THAT(Refused("http://a:1/v2/models/m\r\nx: y"),
              HasSubstr("has a byte, which a URL cannot have: write it as %0D"));
  EXPECT_THAT(Refused("http://a:1/v2/models/m n"),
              HasSubstr("the path has ' ', which a URL cannot have: write it as %20"));
  EXPECT_THAT(Refused("http://a:1/v2/models/ä"), HasSubstr("has a byte, which a URL cannot have: write it as %C3"));
}

TEST(RemoteAddressTest, ErrorsNameTheInvalidPart) {
  EXPECT_THAT(Refused("grpc://host/model"), HasSubstr("a server has no port"));
  EXPECT_THAT(Refused("grpc://host:/model"), HasSubstr("a server has no port"));
  EXPECT_THAT(Refused("grpc://host:x/model"), HasSubstr("a server has no port"));
  EXPECT_THAT(Refused("grpc://host:0/model"), HasSubstr("port 0 is not from 1 to 65535"));
  EXPECT_THAT(Refused("grpc://host:99999/model"), HasSubstr("port 99999 is not from 1 to 65535"));
  EXPECT_THAT(Refused("grpc://a:1,,b:2/model"), HasSubstr("a server has no port"));
  EXPECT_THAT(Refused("grpc://:1/model"), HasSubstr("a server's name is not a host"));
  EXPECT_THAT(Refused("grpc://unix:/tmp/s:1/m"), HasSubstr("a server has no port"));
  EXPECT_THAT(Refused("http://a:1,http://b:1/v1/m"), HasSubstr("write the scheme once: http://HOST:PORT,HOST:PORT/…"));
  EXPECT_THAT(Refused("grpc://a:1"), HasSubstr("it names no model"));
  EXPECT_THAT(Refused("grpc://a:1/"), HasSubstr("it names no model"));
  EXPECT_THAT(Refused("grpc://a:1/m:"), HasSubstr("the version is empty"));
  EXPECT_THAT(Refused("ftp://a:1/m"), HasSubstr("'ftp' is not a known scheme"));
  EXPECT_THAT(Refused("a:1/m"), HasSubstr("it has no scheme"));
  std::string many = "grpc://a:1";
  for (int i = 0; i < 64; ++i) many += ",a:1";
  EXPECT_THAT(Refused(many + "/m"), HasSubstr("more than 64 servers"));
}

TEST(RemoteAddressTest, NoPasswordIsShown) {
  for (const char* text : {"http://user:secret@a:1/v2/models/m", "grpc://user:secret@a:1/m", "http://secret@a:1/v1/m",
                           "https://user:se/secret@a:1/v1/m", "http://a:1,user:secret@b:x/v2/models/m"}) {
    const std::string refused = Refused(text);
    EXPECT_THAT(refused, HasSubstr("put user and password into `headers`")) << text;
    EXPECT_THAT(refused, Not(HasSubstr("secret")));
  }
  EXPECT_THAT(Refused("ftp://user:secret@a:1/m"), Not(HasSubstr("secret")));
  EXPECT_EQ(ParseAddress("http://a:1/v1/m@2").model, "m@2") << "which is no password";
}

TEST(RemoteBalancerTest, TheServerWithTheFewestCallsIsNext) {
  Balancer balancer(3);
  const size_t first = balancer.Take({}), second = balancer.Take({}), third = balancer.Take({});
  EXPECT_THAT(std::vector({first, second, third}), ::testing::UnorderedElementsAre(0, 1, 2));
  balancer.GiveBack(second);
  EXPECT_EQ(balancer.Take({}), second);
  balancer.GiveBack(third);
  balancer.GiveBack(third == 0 ? 1 : 0);
  EXPECT_NE(balancer.Take({}), 3 - third - (third == 0 ? 1 : 0)) << "which has a call";
}

TEST(RemoteBalancerTest, EqualServersTakeTurns) {
  Balancer balancer(3);
  std::vector<int> calls(3);
  for (int i = 0; i < 30; ++i) {
    const size_t server = balancer.Take({});
    ++calls[server];
    balancer.GiveBack(server);
  }
  EXPECT_THAT(calls, ElementsAre(10, 10, 10));
}

TEST(RemoteBalancerTest, AHangingServerGetsFewerCalls) {
  Balancer balancer(2);
  const size_t hangs = balancer.Take({});
  for (int i = 0; i < 10; ++i) {
    const size_t server = balancer.Take({});
    EXPECT_NE(server, hangs);
    balancer.GiveBack(server);
  }
}

TEST(RemoteBalancerTest, UnhealthyServersComeLast) {
  Balancer balancer(3);
  EXPECT_TRUE(balancer.SetHealthy(1, false));
  EXPECT_FALSE(balancer.SetHealthy(1, false)) << "it was so before";
  for (int i = 0; i < 9; ++i) EXPECT_NE(balancer.Take({}), 1U) << "however many calls the others have";
  EXPECT_TRUE(balancer.SetHealthy(0, false));
  EXPECT_TRUE(balancer.HasHealthy());
  EXPECT_TRUE(balancer.SetHealthy(2, false));
  EXPECT_FALSE(balancer.HasHealthy());
  EXPECT_EQ(balancer.Take({}), 1U) << "where all are ill, the one with the fewest calls";
  EXPECT_TRUE(balancer.SetHealthy(2, true));
  EXPECT_EQ(balancer.Take({}), 2U);
}

TEST(RemoteBalancerTest, TriedServersComeAfterAllOthers) {
  Balancer balancer(3);
  balancer.SetHealthy(2, false);
  EXPECT_EQ(balancer.Take({true, true, false}), 2U) << "ill, but not tried";
  EXPECT_NE(balancer.Take({true, true, true}), 2U);
}

TEST(RemoteRetriesTest, AnAnswerEndsTheCall) {
  Retries retries(3, true, 5);
  EXPECT_FALSE(retries.After(Ending::kAnswered));
}

TEST(RemoteRetriesTest, AnUnsentCallGoesToEachServerOnce) {
  for (const bool is_idempotent : {false, true}) {
    Retries retries(3, is_idempotent, 2);
    EXPECT_TRUE(retries.After(Ending::kNeverSent));
    EXPECT_TRUE(retries.After(Ending::kNeverSent));
    EXPECT_FALSE(retries.After(Ending::kNeverSent));
  }
  Retries one(1, false, 2);
  EXPECT_FALSE(one.After(Ending::kNeverSent));
}

TEST(RemoteRetriesTest, ACallThatMayHaveRunIsRepeatedOnlyIfIdempotent) {
  for (const Ending ending : {Ending::kLost, Ending::kGivenUp}) {
    Retries once(3, false, 2);
    EXPECT_FALSE(once.After(ending));
    Retries again(1, true, 2);
    EXPECT_TRUE(again.After(ending));
    EXPECT_TRUE(again.has_more());
    EXPECT_TRUE(again.After(ending));
    EXPECT_FALSE(again.has_more());
    EXPECT_FALSE(again.After(ending));
  }
}

TEST(RemoteRetriesTest, EachKindHasItsOwnCount) {
  Retries retries(2, true, 1);
  EXPECT_TRUE(retries.After(Ending::kLost));
  EXPECT_TRUE(retries.After(Ending::kNeverSent));
  EXPECT_FALSE(retries.After(Ending::kLost));
}

std::string ConfigRefused(const char* backend, const char* model, bool is_secure) {
  return test::Refused(WASINN_ERROR_INVALID_ARGUMENT,
                       [&] { (void)ModelConfig::Parse(backend, model, Transport::kHttp, is_secure); });
}

TEST(RemoteConfigTest, TlsKeysNeedAnAddressWithTls) {
  EXPECT_THAT(ConfigRefused("{}", R"({"server_name": "a"})", false),
              HasSubstr("key 'server_name' is for connections with TLS"));
  EXPECT_THAT(ConfigRefused("{}", R"({"ca": "/etc/passwd"})", false),
              HasSubstr("key 'ca' is for connections with TLS"));
  EXPECT_EQ(ConfigRefused("{}", R"({"server_name": "a"})", true), "");
  EXPECT_EQ(ConfigRefused(R"({"server_name": "a"})", "{}", false), "") << "which is for other models, too";
}

TEST(RemoteConfigTest, LoadsHaveATimeout) {
  EXPECT_EQ(ModelConfig::Parse("{}", "{}", Transport::kGrpc, false).load_timeout, std::chrono::seconds(30));
  EXPECT_EQ(ModelConfig::Parse("{}", R"({"load_timeout_ms": 5})", Transport::kGrpc, false).load_timeout,
            std::chrono::milliseconds(5));
  EXPECT_THAT(ConfigRefused("{}", R"({"load_timeout_ms": 0})", false), HasSubstr("load_timeout_ms"));
}

}  // namespace
}  // namespace wasinn::remote
