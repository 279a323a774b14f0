// Messages quote names and values of guests and their models, which may be as long as they like.
#include "core/runtime/log.h"
#include "core/status.h"
#include "core/text.h"
#include "support/echo.h"
#include "wit_guest.h"

namespace wasinn::testing {
namespace {

using core::Cut;

constexpr size_t kMax = core::kMaxMessageBytes;

TEST(Cut, KeepsWhatIsShort) {
  EXPECT_EQ(Cut(""), "");
  EXPECT_EQ(Cut(std::string(kMax, 'a')), std::string(kMax, 'a'));
}

TEST(Cut, MarksThatItWasCut) {
  const std::string cut = Cut(std::string(kMax + 1, 'a'));
  EXPECT_EQ(cut.size(), kMax);
  EXPECT_THAT(cut, EndsWith("a… (cut)"));
  EXPECT_LT(Cut(std::string(size_t{8} << 20, 'a')).capacity(), 2 * kMax) << "in memory of its own";
}

TEST(Cut, NeverThroughACharacter) {
  for (const std::string character : {"é", "…", "😀"}) {
    for (size_t shift = 0; shift < 4; ++shift) {
      std::string text(shift, 'a');
      while (text.size() < 2 * kMax) text += character;
      const std::string cut = Cut(text);
      EXPECT_LE(cut.size(), kMax);
      EXPECT_GT(cut.size(), kMax - 4);
      const std::string kept = cut.substr(0, cut.size() - std::string_view("… (cut)").size());
      EXPECT_THAT(text, StartsWith(kept));
      EXPECT_EQ((kept.size() - shift) % character.size(), 0u) << "a character in half";
    }
  }
  EXPECT_EQ(Cut(std::string(2 * kMax, '\x80')).size(), kMax - 3) << "no UTF-8 at all";
}

TEST(Paths, AreNamesOfFilesForGuests) {
  using core::WithoutPaths;
  EXPECT_EQ(WithoutPaths("cannot open /usr/lib/libx.so.1: no such file"), "cannot open libx.so.1: no such file");
  EXPECT_EQ(WithoutPaths("'/usr/my models/m.onnx' and \"/tmp/a b\""), "'m.onnx' and \"a b\"");
  EXPECT_EQ(WithoutPaths("PATH=/usr/bin:/usr/lib/, (/usr/x/y)."), "PATH=bin:lib, (y).");
  EXPECT_EQ(WithoutPaths("see /usr/lib/x. Or /tmp"), "see x. Or tmp");
  EXPECT_EQ(WithoutPaths("/usr/lib/../../tmp/x"), "x");
}

TEST(Paths, AreNamesOfFilesIfTheyAreRelativeAndInQuotes) {
  const std::filesystem::path before = std::filesystem::current_path();
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "relative_paths";
  std::filesystem::create_directories(folder / "models");
  std::filesystem::current_path(folder);
  const std::string reported = core::WithoutPaths(
      "'models/m/model.gguf', `./models/m`, '../relative_paths/a b' and './', but 'models', 'conv/models/x', models/m "
      "and 'http://models/m'");
  std::filesystem::current_path(before);
  EXPECT_EQ(reported, "'model.gguf', `m`, 'a b' and '.', but 'models', 'conv/models/x', models/m and '…'");
}

TEST(Paths, AreNoNamesOfTensorsNorAddresses) {
  for (const char* text : {"no output '/conv1/Conv_output_0', only '/no_such_root/a'", "f32/i64 and a / b", "1/2", "",
                           "/", "http://localhost/usr/lib", "models/usr/x", "~/usr/lib", "../usr/lib"}) {
    EXPECT_EQ(core::WithoutPaths(text), text);
  }
}

TEST(Addresses, InQuotesAreNotForGuests) {
  using core::WithoutPaths;
  EXPECT_EQ(WithoutPaths("'grpc://10.0.0.5:8001,b:1/m': it names no model"), "'…': it names no model");
  EXPECT_EQ(WithoutPaths("\"oci://registry/m:1\" and 'http://a/v1/b c'"), "\"…\" and '…'");
  for (const char* text : {"expected grpc://HOST:PORT[,HOST:PORT]/MODEL or http://", "'://a/b'", "'a b://c/d'"}) {
    EXPECT_EQ(WithoutPaths(text), text);
  }
}

TEST(Paths, OfTheHostAreForItsLogOnly) {
  const LoggedHost host("log.level = 'debug'\nbackends.echo.missing = true\n");
  EchoProgram program(host.get());
  const std::string path = ::testing::TempDir() + "paths_of_the_host/none.gguf";
  wasinn_model_options model{};
  model.struct_size = sizeof model;
  model.path = path.c_str();
  model.encoding = "ggml";
  uint32_t graph = 0;
  if (const StatusPtr status(wasinn_host_add_model(host.get(), "m", &model)); status == nullptr) {
    EXPECT_NE(program.LoadByName("m", graph), kSuccess);
    EXPECT_THAT(program.LastError(), Not(HasSubstr(::testing::TempDir())));
  }
  EXPECT_NE(program.LoadBytes(EchoModel(""), kGgmlEncoding, graph), kSuccess);
  EXPECT_THAT(program.LastError(), AllOf(HasSubstr("scripts/deps.sh echo"), Not(HasSubstr("libecho.so\n")),
                                         Not(HasSubstr("/usr")), Not(HasSubstr("looked for"))));
  EXPECT_TRUE(host.log.Contains("echo: looked for: /usr/lib/libecho.so"));
}

TEST(Messages, OfAModelsNamesAreCutForGuestAndLog) {
  const LoggedHost host;
  const std::string name(100'000, 'n');
  const std::string model = "in " + name + " f32 1\n";
  AddEchoModel(host.get(), "m", model);
  EchoProgram program(host.get(), 1 << 20);
  const uint32_t context = program.NewContext("m");
  EXPECT_EQ(program.Compute(context), kInvalidArgument);
  EXPECT_LT(program.LastError().size(), kMax + 100);
  ASSERT_EQ(host.log.lines().size(), 1u);
  EXPECT_LT(host.log.lines()[0].size(), kMax + 200);
  EXPECT_THAT(host.log.lines()[0], EndsWith("n… (cut)"));

  WitGuest component(program.guest.get());
  const Outcome outcome = component.ComputeSet(context);
  EXPECT_EQ(outcome.error, kWitInvalidArgument);
  EXPECT_LE(outcome.message.size(), kMax);
}

TEST(Messages, OfBackendsAreCut) {
  const LoggedHost host;
  EchoProgram program(host.get(), 1 << 20);
  uint32_t graph = 0;
  EXPECT_EQ(program.LoadBytes(EchoModel("says " + std::string(100'000, 'w') + "\nfail_load 5\n"), 5, graph),
            kRuntimeError);
  ASSERT_EQ(host.log.lines().size(), 2u) << "what the backend logged, and the error";
  for (const std::string& line : host.log.lines()) {
    EXPECT_LT(line.size(), kMax + 1024);
    EXPECT_THAT(line, EndsWith("w… (cut)"));
  }
}

// Frameworks warn of what a guest's model has, at each load or compute.
TEST(Messages, OfBackendsAreLimitedInNumber) {
  const LoggedHost host("[limits]\nmax_log_messages = 0\n");
  const GuestPtr guest = NewGuest(host.get());
  uint32_t graph = 0;
  for (int i = 0; i < 300; ++i) {
    FakeGuest program(guest.get(), 4096);
    EXPECT_EQ(program.LoadBytes(EchoModel("says warned\nfail_load 5\n"), 5, graph), kRuntimeError);
  }
  const auto lines = host.log.lines();
  const auto warned = std::ranges::count(lines, "echo: warned");
  EXPECT_GE(warned, 100);
  EXPECT_LT(warned, 200) << "one a second, and these take none";
  EXPECT_EQ(std::ranges::count_if(lines, [](const std::string& line) { return line.find("guest") != line.npos; }), 0);
}

TEST(Messages, ErrorsThatAComponentMakesAreCharged) {
  const LoggedHost host("[limits]\nmax_tensor_bytes = 100000\n");
  const GuestPtr guest = NewGuest(host.get());
  const std::string text(60'000, 't');
  uint32_t first = 0, second = 0;
  EXPECT_EQ(wasinn_wit()->error_new(guest.get(), 0, text.data(), text.size(), &first), nullptr);
  EXPECT_EQ(StatsOf(guest).tensor_bytes, text.size());
  const StatusPtr refused(wasinn_wit()->error_new(guest.get(), 0, text.data(), text.size(), &second));
  ASSERT_NE(refused, nullptr);
  EXPECT_EQ(wasinn_status_code(refused.get()), WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(wasinn_wit()->error_drop(guest.get(), first), nullptr);
  EXPECT_EQ(StatsOf(guest).tensor_bytes, 0u);
}

TEST(Configurations, ThatAreNestedDeeplyAreRefused) {
  const LoggedHost host;
  AddEchoModel(host.get(), "m", "in x f32 1\n");
  EchoProgram program(host.get(), 8 << 20);
  const auto load = [&](const std::string& config) {
    uint32_t graph = 0;
    return program.LoadWithConfig("m", config, graph);
  };
  const auto nested = [](size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  EXPECT_EQ(load(R"({"shade":)" + nested(100) + "}"), kSuccess);
  for (const std::string key : {"x", "shade", "mood", "device", "outputs", "threads", "precision"}) {
    EXPECT_EQ(load("{\"" + key + "\":" + nested(130'000) + "}"), kInvalidArgument) << key;
    EXPECT_THAT(host.log.lines().back(), EndsWith("is not a JSON object, or is nested deeper than 128"));
  }
  std::string objects;
  for (int i = 0; i < 40'000; ++i) objects += "{\"\":";
  objects += "1" + std::string(40'000, '}');
  EXPECT_EQ(load(R"({"shade":)" + objects + "}"), kInvalidArgument);
}

}  // namespace
}  // namespace wasinn::testing
