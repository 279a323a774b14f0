// The parsers of flags, without the command.
#include "cli/table.h"
#include "settings/model_flags.h"
#include "settings/outbound_hosts.h"
#include "settings/quantities.h"
#include "settings/text.h"
#include "support/test.h"

namespace wasinn::cli {
namespace {

using Paths = std::vector<std::string>;

TEST(ModelFlagTest, NameAndPath) {
  const auto model = settings::ParseModelFlag("digits=models/digits.onnx");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->name, "digits");
  EXPECT_EQ(model->paths, Paths{"models/digits.onnx"});
  EXPECT_EQ(model->encoding, "");
  EXPECT_EQ(model->target, WASINN_TARGET_CPU);
  EXPECT_EQ(model->version, 0u);
}

TEST(ModelFlagTest, KeysInAnyOrder) {
  const auto model = settings::ParseModelFlag("d=x.onnx,version=3,target=GPU,encoding=onnx");
  ASSERT_TRUE(model);
  EXPECT_EQ(model->paths, Paths{"x.onnx"});
  EXPECT_EQ(model->encoding, "onnx");
  EXPECT_EQ(model->target, WASINN_TARGET_GPU);
  EXPECT_EQ(model->version, 3u);
}

TEST(ModelFlagTest, PathsWithCommasAndEqualsSigns) {
  EXPECT_EQ(settings::ParseModelFlag("d=a,b.onnx")->paths, Paths{"a,b.onnx"});
  EXPECT_EQ(settings::ParseModelFlag("d=a,b.onnx,target=cpu")->paths, Paths{"a,b.onnx"});
  EXPECT_EQ(settings::ParseModelFlag("d=lr=0.1.onnx")->paths, Paths{"lr=0.1.onnx"});
}

// Whether there is a format of that name, the host knows (models_test.py).
TEST(ModelFlagTest, Refuses) {
  for (const char* text : {"", "d", "=x", "d=", "d=,target=cpu", "d=x,colour=red", "d=x,version=0", "d=x,version=-1",
                           "d=x,version=99999999999", "d=x,target=", "d=x,encoding="}) {
    EXPECT_FALSE(settings::ParseModelFlag(text)) << text;
  }
}

TEST(WasmtimeFlagTest, Spellings) {
  for (const char* text : {"nn-graph=onnx::a/mobilenet", "nn-graph=onnx:a/mobilenet", "nn,nn-graph=ONNX::a/mobilenet/",
                           "cli,nn=y,nn-graph=onnx::./a/mobilenet"}) {
    const auto models = settings::ParseWasmtimeFlag(text);
    ASSERT_TRUE(models) << text;
    ASSERT_EQ(models->size(), 1u) << text;
    EXPECT_EQ((*models)[0].name, "mobilenet") << text;
    EXPECT_STRCASEEQ((*models)[0].encoding.c_str(), "onnx") << text;  // case does not matter to a host
  }
  EXPECT_TRUE(settings::ParseWasmtimeFlag("nn")->empty());
}

TEST(WasmtimeFlagTest, SeveralAndAbsolutePaths) {
  const auto models = settings::ParseWasmtimeFlag("nn-graph=onnx::/m/a,nn-graph=openvino:/m/b");
  ASSERT_TRUE(models);
  ASSERT_EQ(models->size(), 2u);
  EXPECT_EQ((*models)[0].paths, Paths{"/m/a"});
  EXPECT_EQ((*models)[1].paths, Paths{"/m/b"});
  EXPECT_EQ((*models)[1].encoding, "openvino");
}

TEST(WasmtimeFlagTest, Refuses) {
  for (const char* text : {"", "http", "nn-graph", "nn-graph=onnx", "nn-graph=onnx::", "nn-graph=::dir",
                           "nn-graph=onnx:::dir", "nn,nn-graph=onnx"}) {
    EXPECT_FALSE(settings::ParseWasmtimeFlag(text)) << text;
  }
}

TEST(WasmEdgeFlagTest, Spellings) {
  const auto one = settings::ParseWasmEdgeFlag("default:ONNX:AUTO:model.onnx");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->name, "default");
  EXPECT_STRCASEEQ(one->encoding.c_str(), "onnx");
  EXPECT_EQ(one->target, WASINN_TARGET_AUTO);
  EXPECT_EQ(one->paths, Paths{"model.onnx"});
  const auto two = settings::ParseWasmEdgeFlag("m:openvino:cpu:model.xml:model.bin");
  ASSERT_TRUE(two);
  EXPECT_EQ(two->paths, (Paths{"model.xml", "model.bin"}));
}

TEST(WasmEdgeFlagTest, Refuses) {
  for (const char* text : {"", "m", "m:onnx:cpu", "m:onnx:cpu:", ":onnx:cpu:x", "m::cpu:x", "m:onnx:moon:x"}) {
    EXPECT_FALSE(settings::ParseWasmEdgeFlag(text)) << text;
  }
}

// Text of a registry, a module or a model, on a terminal.
TEST(TextTest, PrintableEscapesControlCharacters) {
  EXPECT_EQ(settings::Printable("a\nb\x1b[31m\x7f"), "a\nb\\x1b[31m\\x7f");
  EXPECT_EQ(settings::Printable("\x1b[2J\r\t"), "\\x1b[2J\\x0d\\x09");
  EXPECT_EQ(settings::Printable("\x9b[2J \xe2\x80\n\n"), "\\x9b[2J \\xe2\\x80\n\n")
      << "a terminal of 8 bits obeys 0x9b";
  EXPECT_EQ(settings::PrintableName("a\nb"), "a\\x0ab");
  EXPECT_EQ(settings::Printable("\xc2\x9b\xc2\xa0\xc3\xbc"), "\\xc2\\x9b\xc2\xa0\xc3\xbc");
  EXPECT_EQ(settings::Printable("a\u202eb\u2066c\u061c\u200f\u2028"),
            "a\\xe2\\x80\\xaeb\\xe2\\x81\\xa6c\\xd8\\x9c\\xe2\\x80\\x8f\\xe2\\x80\\xa8");
  for (const char* text : {"\u201cquoted\u201d", "\u2026", "\u2065\u206a", "\u0619"}) {
    EXPECT_EQ(settings::Printable(text), text);
  }
}

TEST(QuantitiesTest, Sizes) {
  EXPECT_EQ(settings::ParseSize("0"), 0u);
  EXPECT_EQ(settings::ParseSize("65536"), 65536u);
  EXPECT_EQ(settings::ParseSize("64M"), 64u << 20);
  EXPECT_EQ(settings::ParseSize("64mb"), 64u << 20);
  EXPECT_EQ(settings::ParseSize("64MiB"), 64u << 20);
  EXPECT_EQ(settings::ParseSize("1.5G"), uint64_t{3} << 29);
  EXPECT_EQ(settings::ParseSize("2T"), uint64_t{2} << 40);
  EXPECT_EQ(settings::ParseSize("0.1"), 1u);
  for (const char* text :
       {"", "M", "-1", "+1", "1e3", "1 M", "1X", "1Mi B", "0x10", "inf", "nan", "1..2", ".", "9999999T"}) {
    EXPECT_FALSE(settings::ParseSize(text)) << text;
  }
}

TEST(QuantitiesTest, Durations) {
  EXPECT_EQ(settings::ParseDuration("0"), 0u);
  EXPECT_EQ(settings::ParseDuration("500ms"), 500u);
  EXPECT_EQ(settings::ParseDuration("10s"), 10'000u);
  EXPECT_EQ(settings::ParseDuration("10"), 10'000u);
  EXPECT_EQ(settings::ParseDuration("1.5"), 1500u);
  EXPECT_EQ(settings::ParseDuration("2m"), 120'000u);
  EXPECT_EQ(settings::ParseDuration("1h"), 3'600'000u);
  EXPECT_EQ(settings::ParseDuration("0.1ms"), 1u);
  for (const char* text : {"", "ms", "-1s", "10 s", "10d", "5000000s", "1e3"})
    EXPECT_FALSE(settings::ParseDuration(text)) << text;
}

TEST(TextTest, LastComponent) {
  EXPECT_EQ(settings::LastComponent("a/b"), "b");
  EXPECT_EQ(settings::LastComponent("a/b/"), "b");
  EXPECT_EQ(settings::LastComponent("a/b/."), "b");
  EXPECT_EQ(settings::LastComponent("/b"), "b");
  EXPECT_NE(settings::LastComponent("."), ".");
}

bool Allows(const char* origin, const char* scheme, const char* authority) {
  const auto hosts = settings::OutboundHosts::Parse(std::vector<std::string>{origin});
  return hosts && hosts->Allow(scheme, authority);
}

TEST(OutboundHostsTest, AllowsWhatIsListed) {
  EXPECT_TRUE(Allows("https://Example.COM", "HTTPS", "example.com:443"));
  EXPECT_TRUE(Allows("http://a.example:80", "http", "a.example"));
  EXPECT_TRUE(Allows("http://10.0.0.5:8080", "http", "10.0.0.5:8080"));
  EXPECT_TRUE(Allows("http://[::1]:8080", "http", "[::1]:8080"));
  EXPECT_TRUE(Allows("http://[::1]", "http", "[::1]:80"));
  EXPECT_TRUE(Allows("https://*.example.com", "https", "a.b.example.com"));
  EXPECT_TRUE(Allows("https://*.example.com:8443", "https", "a.example.com:8443"));
}

TEST(OutboundHostsTest, AllowsNothingElse) {
  EXPECT_FALSE(Allows("http://a.example", "https", "a.example"));
  EXPECT_FALSE(Allows("http://a.example", "http", "a.example:8080"));
  EXPECT_FALSE(Allows("http://a.example", "http", "a.example."));
  EXPECT_FALSE(Allows("http://a.example", "ftp", "a.example"));
  for (const char* authority :
       {"example.com", "*.example.com", ".example.com", "a..example.com", "aexample.com", "a.example.com:444",
        "a.example.com@evil.example", "evil.example/a.example.com", "evil.example#a.example.com",
        "evil.example\\.example.com", "[::1].example.com", "a%2eexample.com", "a.example.com:", ""}) {
    EXPECT_FALSE(Allows("https://*.example.com", "https", authority)) << authority;
  }
  for (const char* authority :
       {"127.1", "0127.0.0.1", "2130706433", "0x7f.0.0.1", "127.0.0.1.", "[::ffff:127.0.0.1]"}) {
    EXPECT_FALSE(Allows("http://127.0.0.1", "http", authority)) << authority;
  }
}

TEST(OutboundHostsTest, Refuses) {
  for (const char* origin : {"*",
                             "",
                             "http",
                             "https",
                             "http://a:0080",
                             "http://",
                             "a.example",
                             "http://a/",
                             "http://a?b",
                             "http://a@b",
                             "http://[::1",
                             "http://[::1]x",
                             "http://[fe80::1%25eth0]",
                             "http://[]",
                             "http://a:0",
                             "http://a:65536",
                             "http://a:",
                             "http://a:+1",
                             "http://1.2.3",
                             "http://*.*.a",
                             "http://*.1.2.3.4",
                             "http://a.*",
                             "http:// a",
                             "http://\xc3\xa4"}) {
    EXPECT_FALSE(settings::OutboundHosts::Parse(std::vector<std::string>{origin})) << origin;
  }
}

TEST(TableTest, Columns) {
  Table table({"A", "LONG", "C"});
  table.Add({"x", "y", ""});
  table.Add({"größe", "", "z"});
  EXPECT_EQ(table.ToString(), "A      LONG  C\nx      y\ngröße        z\n");
}

}  // namespace
}  // namespace wasinn::cli
