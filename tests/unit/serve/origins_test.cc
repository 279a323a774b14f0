// Origins in a flag, and hosts that no attacker can have.
#include "serve/http/origins.h"
#include "support/test.h"

namespace wasinn::serve {
namespace {

TEST(Origins, AreWrittenAsBrowsersWriteThem) {
  for (const auto& [text, origin] : {std::pair{"http://a.example", "http://a.example"},
                                     {"HTTPS://A.Example:443", "https://a.example"},
                                     {"http://a.example:80", "http://a.example"},
                                     {"http://a.example:443", "http://a.example:443"},
                                     {"http://[::1]:8000", "http://[::1]:8000"},
                                     {"chrome-extension://abc", "chrome-extension://abc"},
                                     {"*", "*"}}) {
    EXPECT_EQ(ParseOrigin(text), origin);
  }
  for (const char* text : {"", "a", "a.example:80", "http://", "http:///", "http://a/", "http://a/b", "http://a?b",
                           "http://a#b", "http://b@a", "http://a b", "null", "**", "http://[::1"}) {
    EXPECT_THROW(ParseOrigin(text), Failure) << text;
  }
}

bool IsOwn(const char* host, std::set<std::string, std::less<>> allowed = {}) {
  Header header;
  header.set(http::field::host, host);
  return Origins(std::move(allowed)).IsOwnHost(header);
}

TEST(Origins, AnAddressIsNoAttackersName) {
  for (const char* host :
       {"127.0.0.1", "127.0.0.1:8000", "[::1]:8000", "10.0.0.1", "localhost", "LOCALHOST:1", "a.localhost"}) {
    EXPECT_TRUE(IsOwn(host)) << host;
  }
  for (const char* host :
       {"", "evil.example", "localhost.evil.example", "evillocalhost", "127.0.0.1.evil.example",
        "127.0.0.1@evil.example", "evil.example@127.0.0.1", "127.0.0.1/", "127.0.0.1:x", "0x7f.1", "[::1", "a b"}) {
    EXPECT_FALSE(IsOwn(host)) << host;
  }
  EXPECT_TRUE(Origins({}).IsOwnHost({}));  // no browser leaves it out
}

TEST(Origins, ANameIsOwnWhereItsOriginIsAllowed) {
  EXPECT_TRUE(IsOwn("a.example:8000", {"http://a.example:8000"}));
  EXPECT_TRUE(IsOwn("a.example", {"https://a.example"}));
  EXPECT_FALSE(IsOwn("a.example", {"https://a.example:8443"}));
  EXPECT_FALSE(IsOwn("b.example", {"https://a.example"}));
  EXPECT_TRUE(IsOwn("b.example", {"*"}));
}

}  // namespace
}  // namespace wasinn::serve
