#include "serve/http/http_message.h"

#include "serve/metrics/request_metrics.h"
#include "support/test.h"

namespace wasinn::serve {
namespace {

using Words = std::vector<std::string>;

TEST(Target, ThatIsOnePathHasOneSpelling) {
  for (const auto& [sent, canonical] : {std::pair{"/", "/"},
                                        {"/?a=//..", "/?a=//.."},
                                        {"/v1/chat/completions", "/v1/chat/completions"},
                                        {"/v1/", "/v1/"},
                                        {"/%76%31/ch%61t", "/v1/chat"},
                                        {"/a%20b%c3%bc", "/a%20b%C3%BC"},
                                        {"/a%252fb", "/a%252fb"},
                                        {"/a.b/..c/...", "/a.b/..c/..."}}) {
    EXPECT_EQ(CanonicalTarget(sent), canonical) << sent;
  }
}

TEST(Target, ThatCouldBeTwoPathsIsRefused) {
  for (const char* sent : {"",         "*",      "a",      "http://a/b", "//",      "//a",    "/a//b",   "/a//",
                           "/./a",     "/.//a",  "/.",     "/a/.",       "/a/../b", "/a/..",  "/%2e/a",  "/a/%2E%2e",
                           "/.%2e/a",  "/a%2Eb", "/a%2fb", "/a%2Fb",     "/a%5cb",  "/a%5Cb", "/a\\b",   "/a%00",
                           "/a%0d%0a", "/%ff",   "/a%",    "/a%2",       "/a b",    "/a%7f",  "/v1/%2f", "/a%c0%af"}) {
    EXPECT_THROW(CanonicalTarget(sent), Failure) << sent;
  }
}

TEST(Target, HasDecodedWords) {
  EXPECT_EQ(PathWords("/a/b%20c/?d/e"), (Words{"a", "b c"}));
  EXPECT_EQ(PathWords("/"), Words{});
  Header header;
  header.target("/a/b%20c/?d");
  EXPECT_EQ(PathOf(header), "/a/b c");
}

TEST(PathTemplates, AreFewWhateverIsAskedFor) {
  for (const auto& [target, path] : {std::pair{"/v2", "/v2"},
                                     {"/v2/", "/v2"},
                                     {"/v2/models/a/infer", "/v2/models/{model}/infer"},
                                     {"/v2/models/a/versions/1/infer?b", "/v2/models/{model}/infer"},
                                     {"/v2/models/a/versions/1", "/v2/models/{model}"},
                                     {"/v2/models/stats", "/v2/models/stats"},
                                     {"/v2/repository/models/a/load", "/v2/repository/models/{model}/load"},
                                     {"/v1/models/a", "/v1/models/{model}"},
                                     {"/v1/chat/completions", "/v1/chat/completions"},
                                     {"/v2/models/a/b", "other"},
                                     {"/v2/models/a/versions/1/infer/b", "other"},
                                     {"/v1/a", "other"},
                                     {"/", "other"},
                                     {"", "other"},
                                     {"*", "other"}}) {
    EXPECT_EQ(PathTemplate(target), path) << target;
  }
}

}  // namespace
}  // namespace wasinn::serve
