// Models that are made to harm the host that loads or computes them.
#include "hostile/made_models.h"
#include "hostile/run.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

constexpr char kInvalidArgument[] = "invalid_argument", kInvalidEncoding[] = "invalid_encoding",
               kRuntimeError[] = "runtime_error", kTooLarge[] = "too_large", kUnsupported[] = "unsupported_operation";

struct Made {
  const char* name;
  std::string bytes;
  std::vector<Attack> results;  // their `what` is what follows the model's name: "", " context", " compute", " output"
};

// A model that loads. It has an input, which the guest does not set.
std::vector<Attack> Loads() {
  return {{""}, {" context"}, {" compute", kInvalidArgument, {"input 0 ('x') was not set"}}};
}
std::vector<Attack> Fails(const char* error, const std::vector<std::string>& log) {
  std::vector<std::string> words = {std::string("load: ")};
  words.insert(words.end(), log.begin(), log.end());
  return {{"", error, words}};
}
// Each in one guest, one after another; then the honest inference.
CommandResult ExpectResults(const std::vector<Made>& models, std::vector<std::string> flags = {},
                            const std::string& settings = "") {
  const TestFolder folder;
  flags.insert(flags.end(), {"--dir", folder.path().string() + "::/made"});
  GuestRun run{.guest = "load_files", .flags = flags, .settings = settings, .log_all = true};
  std::vector<Attack> attacks;
  for (const Made& model : models) {
    folder.Write(model.name, model.bytes);
    run.args.push_back(std::string("/made/") + model.name);
    for (Attack attack : model.results) {
      attack.what = model.name + attack.what;
      attacks.push_back(std::move(attack));
    }
  }
  attacks.push_back(Honest());
  CommandResult result = run.Execute();
  ExpectAttacks(result, attacks);
  return result;
}

TEST(HostileMade, AreRefusedOrHarmless) {
  const std::string nested = "nested too deeply";
  const auto number = std::numeric_limits<int64_t>::max();
  const CommandResult result = ExpectResults({
      {"20_subgraphs", DeepSubgraphs(20), Loads()},
      {"40_subgraphs", DeepSubgraphs(40), Fails(kInvalidEncoding, {nested})},
      {"10000_subgraphs", DeepSubgraphs(10000), Fails(kInvalidEncoding, {nested})},
      {"10000_groups", DeepGroups(10000), Fails(kInvalidEncoding, {"a field is cut off, or of an unknown kind"})},
      {"rank_32", InputOfRank(32), Loads()},
      {"rank_33", InputOfRank(33), Fails(kUnsupported, {"'x' has 33 dimensions: expected no more than 32"})},
      {"rank_100000", InputOfRank(100'000), Fails(kUnsupported, {"'x' has 100000 dimensions"})},
      {"dim_2^63-1", InputOfDim(number), {{""}, {" context", kTooLarge, {"output 'y' f32 [", "] is too large"}}}},
      {"dim_-5", InputOfDim(-5), Loads()},
      {"dim_-2^63", InputOfDim(std::numeric_limits<int64_t>::min()), Loads()},
      // Each output has a place of its own, and ONNX Runtime a value for each name.
      {"outputs", OutputsOfOneName(), Fails(kUnsupported, {"two outputs called 'x'"})},
      {"ort", std::string("\x18\0\0\0ORTM", 8) + std::string(1000, 'x'),
       Fails(kRuntimeError, {"ORT model verification failed"})},
      {"names", NamesWithControlCharacters(),
       Fails(kInvalidArgument, {"No\\x0aSuch\\x1b[2JOperator", "x\\x0awasinn: error: all is lost\\x0d\\x1b[2J\\x07"})},
  });
  for (const std::string& line : Lines(result.err))
    EXPECT_FALSE(line.starts_with("wasinn: error: all is lost")) << line;
}

// Tensors whose bytes are said to stand elsewhere: in files, in the host's memory. The command runs in a folder that
// has the file that some of them ask for.
TEST(HostileMade, TensorsAreNotReadFromElsewhere) {
  const TestFolder folder;
  folder.Write("secret.txt", "secret of the host");
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(SourcePath("tests/models/tiny/hostile"))) {
    names.push_back(entry.path().filename().string());
  }
  std::ranges::sort(names);
  ASSERT_GE(names.size(), 19u);
  GuestRun run{.guest = "load_files",
               .flags = {"--dir", SourcePath("tests/models/tiny/hostile") + "::/hostile"},
               .folder = folder.path().string()};
  std::vector<Attack> attacks;
  for (const std::string& name : names) {
    run.args.push_back("/hostile/" + name);
    attacks.push_back({name, "unsupported_operation", {"load: security: onnx: ", "external data"}});
  }
  attacks.push_back(Honest());
  const CommandResult result = run.Execute();
  ExpectAttacks(result, attacks);
  for (const char* leak : {"secret of", "root:"}) {
    EXPECT_EQ((result.out + result.err).find(leak), result.out.npos);
  }
}

// Whether something holds the memory of workers.
bool HaveWorkersLimits() { return !HasAddressSanitizer(); }

// ONNX Runtime writes them out before it looks whether it was stopped.
TEST(HostileMade, FunctionsThatDoubleEndTheirWorker) {
  if (!HaveWorkersLimits()) GTEST_SKIP() << "workers of this build have no sandbox";
  ExpectResults({{"2^40_calls", FunctionsOfFunctions(40), {{"", kRuntimeError, {"load: "}}}}}, {},
                "limits.load_timeout_ms = 1000\n");
}

// A framework has much to say about bad models. A guest's are no reason to fill the host's log: the errors say it.
TEST(HostileMade, TheFrameworkDoesNotFillTheLog) {
  const CommandResult result = ExpectResults({{"10000_weights", ManyUnusedWeights(10'000), Loads()}});
  EXPECT_LE(Lines(result.err).size(), 10u) << result.err.substr(0, 2000);
}

TEST(HostileMade, LargeWhenComputed) {
  if (!HaveWorkersLimits()) GTEST_SKIP() << "workers of this build have no sandbox";
  const std::vector<std::string> budget = {"compute: too_large: onnx: ", "no more than 268435456 are allowed"};
  const TestFolder folder;
  folder.Write("folds", FoldsHuge(int64_t{1} << 30));
  folder.Write("folds_2^62", FoldsHuge(int64_t{1} << 62));
  folder.Write("doubles", Doubles(40, false));
  folder.Write("doubles_constants", Doubles(40, true));
  GuestRun run{.guest = "load_files",
               .args = {"/made/folds", "/made/folds_2^62", "/made/doubles", "/made/doubles_constants"},
               .flags = {"--nn-max-bytes", "256M", "--dir", folder.path().string() + "::/made"}};
  std::vector<Attack> attacks;
  for (const char* name : {"folds", "folds_2^62", "doubles", "doubles_constants"}) {
    attacks.push_back({name});
    attacks.push_back({std::string(name) + " context"});
    if (name == std::string_view("folds_2^62")) {
      attacks.push_back({std::string(name) + " compute", kRuntimeError, {"onnx: ", "storage size"}});
    } else {
      attacks.push_back({std::string(name) + " compute", kTooLarge, budget});
    }
  }
  attacks.push_back(Honest());
  const CommandResult result = run.Execute();
  ExpectAttacks(result, attacks);
  run.args.clear();
  const size_t honest_bytes = run.Execute().peak_bytes;  // of the engine's own program with the framework
  EXPECT_GT(honest_bytes, size_t{0});
  EXPECT_LT(result.peak_bytes >> 20, (honest_bytes >> 20) + 540) << "MiB";
}

// Sixteen bytes of a file become a node of kilobytes: too much for a worker.
TEST(HostileMade, LargeWhenParsed) {
  if (!HaveWorkersLimits()) GTEST_SKIP() << "workers of this build have no sandbox";
  const TestFolder folder;
  folder.Write("nodes", LongChain(150'000));
  folder.Write("names", ManyEmptyNames(5'000'000));
  GuestRun run{.guest = "load_files",
               .args = {"/made/nodes", "/made/names"},
               .flags = {"--nn-max-bytes", "64M", "--dir", folder.path().string() + "::/made"},
               .settings = "limits.load_timeout_ms = 0\n"};
  const CommandResult result = run.Execute();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  // Their errors, or LOST: ONNX Runtime does not look at each allocation.
  EXPECT_EQ(result.out.find("success"), result.out.npos) << result.out;
  EXPECT_TRUE(result.out.ends_with(std::string(kHonest) + "\n")) << result.out;
  EXPECT_LT(result.peak_bytes >> 20, 600u) << "MiB of the host";
}

// Constants are computed when the model is loaded: here for minutes. The others would take seconds.
TEST(HostileMade, SlowToLoadEndAtTheirDeadline) {
  const std::vector<Attack> stopped = {{"", kRuntimeError, {"load: timeout: onnx: ", "stopped after 500 ms"}}};
  ExpectResults({{"constant_products", ComputesForLong(3000), stopped},
                 {"300000_inputs", ManyInputs(300'000), stopped},
                 {"100000_nodes", LongChain(100'000), stopped}},
                {}, "limits.load_timeout_ms = 500\n");
}

// Whatever a division by zero does. INT_MIN / -1 stops a processor, too, and ONNX Runtime 1.31 does not take care of
// it: SECURITY.md says so.
TEST(HostileMade, DivisionsCostTheirGuestAnErrorAtMost) {
  const TestFolder folder;
  folder.Write("by_zero", Divides("Div", /*by_zero=*/true));
  folder.Write("modulo_zero", Divides("Mod", /*by_zero=*/true));
  folder.Write("least", Divides("Div", /*by_zero=*/false));
  const CommandResult result = GuestRun{.guest = "load_files",
                                        .args = {"/made/by_zero", "/made/modulo_zero", "/made/least"},
                                        .flags = {"--dir", folder.path().string() + "::/made"}}
                                   .Execute();
  EXPECT_EQ(result.exit_code, 0) << result.err;
  const std::string end = std::string("least: runtime_error\n") + kHonest;
  EXPECT_TRUE(result.out.ends_with(end + "\n")) << result.out;
  ASSERT_FALSE(GuestLog(result).empty());
  std::vector<std::string> words = {"load: lost: ", "the model's worker is gone", "signal 8"};
  if (HasAddressSanitizer()) words.resize(1);  // which ends a worker in a way of its own
  EXPECT_TRUE(HasInOrder(GuestLog(result).back(), words)) << result.err;
}

}  // namespace
}  // namespace wasinn::testing
