// Cancelling, limits of memory, and models of attackers with the PyTorch backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "backends/torch_models.h"

namespace wasinn::test {
namespace {

using ::testing::HasSubstr;

constexpr char kDouble[] = "def forward(self, x):\n    return x * 2\n";

// Computes until it is cancelled, and answers what it said.
Result ComputeCancelled(Context& context) {
  std::atomic<bool> done = false;
  std::thread watchdog([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    while (!done) {
      context.Cancel();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  });
  const Result result = context.Compute();
  done = true;
  watchdog.join();
  return result;
}

TEST(TorchCancel, StopsEndlessLoops) {
  const Host host;
  for (const char* body : {"    i = 0\n    while bool(x.sum() > 0):\n        i += 1\n    return x\n",
                           "    i = 0\n    while i >= 0:\n        i = i ^ 1\n    return x + i\n",
                           "    for i in range(9223372036854775807):\n        for j in range(9223372036854775807):\n"
                           "            x = x * 1\n    return x\n"}) {
    const Model model(host, TorchModel(std::string("def forward(self, x):\n") + body), TorchOptions());
    ASSERT_TRUE(model.loaded()) << model.loaded().message;
    Context context(model);
    ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
    for (int i = 0; i < 2; ++i) {
      const Result cancelled = ComputeCancelled(context);
      EXPECT_EQ(cancelled.code, WASINN_TIMEOUT) << cancelled.message;
    }
    if (std::string(body).find("sum") == std::string::npos) continue;
    ASSERT_TRUE(context.Set(0, Floats({1}, {-1})));
    EXPECT_TRUE(context.Compute()) << "the cancelling of another compute has no effect";
  }
}

TEST(TorchLimits, HoldsAComputeToItsMemory) {
  const Host host;
  const Model model(host, TorchModel("def forward(self, n: int):\n    return torch.zeros([n]).sum()\n"),
                    TorchOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model, 1 << 20);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {}, {1 << 10})));
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(context.Compute());
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {}, {1 << 20})));
  const Result computed = context.Compute();
  EXPECT_EQ(computed.code, WASINN_TOO_LARGE);
  EXPECT_THAT(computed.message, HasSubstr("1048576"));
  // More than any machine has, without a limit of ours.
  Context unlimited(model);
  ASSERT_TRUE(unlimited.Set(0, MakeTensor<int64_t>(WASINN_I64, {}, {int64_t{1} << 50})));
  EXPECT_EQ(unlimited.Compute().code, WASINN_TOO_LARGE);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {}, {1 << 10})));
  EXPECT_TRUE(context.Compute());
}

TEST(TorchLimits, StateCountsFromComputeToCompute) {
  const Host host;
  const Model model(host,
                    TorchModel("def forward(self, x):\n    self.kept = torch.cat([self.kept, x])\n    return x * 1\n",
                               {{"kept", Floats({0}, {})}}),
                    TorchOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  Context context(model, 1 << 20);
  ASSERT_TRUE(context.Set(0, Floats({16384}, std::vector<float>(16384, 1))));
  int computed = 0;
  Result last;
  while (computed < 100 && (last = context.Compute())) ++computed;
  EXPECT_EQ(last.code, WASINN_TOO_LARGE);
  EXPECT_GT(computed, 3);
}

TEST(TorchLimits, ShowsNoMemoryThatNobodyWrote) {
  const Host host;
  const Model model(host, TorchModel("def forward(self, n: int):\n    return torch.empty([n], dtype=0)\n"),
                    TorchOptions());
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  std::vector<char> secret(100000, 's');
  secret = {};
  Context context(model);
  ASSERT_TRUE(context.Set(0, MakeTensor<int64_t>(WASINN_I64, {}, {100000})));
  ASSERT_TRUE(context.Compute());
  Tensor out;
  ASSERT_TRUE(context.Get(0, &out));
  EXPECT_EQ(out.bytes, std::string(100000, '\0'));
}

TEST(TorchHostile, RefusesWhatReachesOutside) {
  const Host host;
  for (const char* code : {
           "def forward(self, x):\n    return torch.from_file('/etc/passwd', False, 10, dtype=0)\n",
           "def forward(self, x):\n    torch.save(x, '/tmp/wasinn-torch-must-not-be')\n    return x\n",
           "def forward(self, x):\n    return torch._sparse_coo_tensor_unsafe(x, x, [1])\n",
           "def forward(self, x):\n    return torch.set_(x, x)\n",
       }) {
    const std::string bytes = TorchModel(code);
    const Model model(host, bytes, TorchOptions());
    EXPECT_EQ(model.loaded().code, WASINN_SECURITY) << code << model.loaded().message;
    // The operator's own file may.
    LoadOptions trusted = TorchOptions();
    trusted.path = "/models/model.pt";
    EXPECT_TRUE(Model(host, bytes, trusted).loaded()) << code;
  }
}

TEST(TorchHostile, TheOperatorCanAllowOperatorsAndRefuseGuests) {
  const std::string bytes = TorchModel("def forward(self, x):\n    return torch._cdist_forward(x, x, 2.0, None)\n");
  EXPECT_EQ(Model(Host(), bytes, TorchOptions()).loaded().code, WASINN_SECURITY);
  const Host allows(R"({"operators": ["aten::_cdist_forward"]})");
  ASSERT_TRUE(allows.opened()) << allows.opened().message;
  const Model model(allows, bytes, TorchOptions());
  EXPECT_TRUE(model.loaded()) << model.loaded().message;
  const Host refuses(R"({"guest_models": false})");
  const Model refused(refuses, TorchModel(kDouble), TorchOptions());
  EXPECT_EQ(refused.loaded().code, WASINN_SECURITY);
  LoadOptions trusted = TorchOptions();
  trusted.path = "/models/model.pt";
  EXPECT_TRUE(Model(refuses, TorchModel(kDouble), trusted).loaded());
}

// A model in which `from` of one entry is `to`.
std::string Changed(const std::string& bytes, const std::string& suffix, const std::string& from,
                    const std::string& to) {
  ZipEntries entries = UnzipModel(bytes);
  bool found = false;
  for (auto& [name, content] : entries) {
    if (!name.ends_with(suffix)) continue;
    const size_t at = content.find(from);
    if (at == std::string::npos) continue;
    content.replace(at, from.size(), to);
    found = true;
  }
  EXPECT_TRUE(found) << suffix << " has no " << from;
  return ZipArchive(entries);
}

TEST(TorchHostile, RefusesTensorsBeyondTheirMemory) {
  const Host host;
  const std::string bytes =
      TorchModel("def forward(self, x):\n    return self.w + x\n", {{"w", Floats({77}, std::vector<float>(77, 1))}});
  const auto load = [&](const std::string& changed) { return Model(host, changed, TorchOptions()).loaded(); };
  const Result as_it_was = load(ZipArchive(UnzipModel(bytes)));
  EXPECT_TRUE(as_it_was) << as_it_was.message;
  // BININT1 77: the number of elements of the storage first, then the tensor's size.
  ZipEntries entries = UnzipModel(bytes);
  int changed = 0;
  for (size_t e = 0; e < entries.size(); ++e) {
    if (entries[e].first != "data.pkl") continue;
    const std::string pickle = entries[e].second;
    for (size_t at = pickle.find("KM"); at != std::string::npos; at = pickle.find("KM", at + 1)) {
      ZipEntries broken = entries;
      broken[e].second[at + 1] = static_cast<char>(200);
      const Result loaded = load(ZipArchive(broken));
      EXPECT_EQ(loaded.code, WASINN_INVALID_ENCODING) << "at " << at << loaded.message;
      ++changed;
    }
  }
  EXPECT_GE(changed, 2);
}

TEST(TorchHostile, RefusesClassesAndCodeThatRunWhileLoading) {
  const Host host;
  const std::string bytes = TorchModel(kDouble);
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"__torch__\nModel", "__torch__.torch.classes.quantized\nLinearPackedParamsBase"},
           {"__torch__\nModel", "os\nsystem"},
           {"__torch__\nModel", "__torch__.torch\nclasses.rnn.CellParamsBase"}}) {
    const Result loaded = Model(host, Changed(bytes, "data.pkl", from, to), TorchOptions()).loaded();
    EXPECT_EQ(loaded.code, WASINN_SECURITY) << loaded.message;
  }
  const Result state = Model(host,
                             Changed(bytes, ".py", "def forward",
                                     "def __setstate__(self: __torch__.Model, s: int) -> None:\n    "
                                     "return None\n  def forward"),
                             TorchOptions())
                           .loaded();
  EXPECT_EQ(state.code, WASINN_SECURITY) << state.message;
  EXPECT_THAT(state.message, HasSubstr("__setstate__"));
}

TEST(TorchHostile, RefusesWhatWouldExhaustAStack) {
  const Host host;
  const std::string bytes = TorchModel(kDouble);
  const auto with = [&](const std::string& expression) {
    return Model(host, Changed(bytes, ".py", "torch.mul(x, 2)", expression), TorchOptions()).loaded();
  };
  EXPECT_TRUE(with("torch.mul(x, 3)"));
  EXPECT_EQ(with(std::string(100000, '(') + "x" + std::string(100000, ')')).code, WASINN_SECURITY);
  std::string sum = "x";
  for (int i = 0; i < 60000; ++i) sum += " + x";
  const Result long_sum = with(sum);  // within what the large stack takes, or refused
  EXPECT_TRUE(long_sum || long_sum.code == WASINN_SECURITY || long_sum.code == WASINN_TOO_LARGE) << long_sum.message;
  for (int i = 0; i < 60000; ++i) sum += " + x";
  EXPECT_EQ(with(sum).code, WASINN_SECURITY);
}

TEST(TorchHostile, SaysWhatOtherArchivesAre) {
  const Host host;
  const auto load = [&](const ZipEntries& entries) {
    return Model(host, ZipArchive(entries), TorchOptions()).loaded();
  };
  Result loaded = load({{"archive_format", "pt2"}, {"data/aotinductor/model/cabc.so", "ELF"}});
  EXPECT_EQ(loaded.code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(loaded.message, HasSubstr("native code"));
  loaded = load({{"archive_format", "pt2"}, {"models/model.json", "{}"}});
  EXPECT_EQ(loaded.code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(loaded.message, HasSubstr("torch.export"));
  loaded = load({{"data.pkl", "."}});
  EXPECT_EQ(loaded.code, WASINN_UNSUPPORTED_OPERATION);
  EXPECT_THAT(loaded.message, HasSubstr("torch.save"));
  for (const std::string& bytes :
       {std::string(), std::string("hello"), std::string(1000, '\0'), std::string("PK\3\4")}) {
    EXPECT_EQ(Model(host, bytes, TorchOptions()).loaded().code, WASINN_INVALID_ENCODING);
  }
}

TEST(TorchHostile, RefusesTruncatedBytesWrongEncodingsAndSeveralBlobs) {
  const Host host;
  const std::string bytes = TorchModel(kDouble);
  for (size_t size = 0; size < bytes.size(); size += 37) {
    EXPECT_EQ(Model(host, bytes.substr(0, size), TorchOptions()).loaded().code, WASINN_INVALID_ENCODING) << size;
  }
  LoadOptions options = TorchOptions();
  options.encoding = WASINN_ONNX;
  EXPECT_EQ(Model(host, bytes, options).loaded().code, WASINN_INVALID_ENCODING);
  options = TorchOptions();
  options.more_bytes = {"more"};
  EXPECT_EQ(Model(host, bytes, options).loaded().code, WASINN_INVALID_ARGUMENT);
}

// Loads models and computes with them in OS processes of their own, for the sake of what a crash would leave.
template <typename Corrupt>
void SurviveAll(const Host& host, int each, Corrupt corrupt) {
  constexpr int kProcesses = 8;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(100);
      std::mt19937 random(static_cast<unsigned>(p));
      for (int i = 0; i < each; ++i) {
        const Model model(host, corrupt(random), TorchOptions());
        if (!model.loaded()) continue;
        Context context(model, 1 << 24);
        if (context.Set(0, Floats({8}, std::vector<float>(8, 1)))) context.Compute();
      }
      _exit(0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "process " << p << " ended with " << status;
  }
}

ZipEntries GoodEntries() {
  return UnzipModel(
      TorchModel("def forward(self, x):\n    for i in range(3):\n        x = torch.relu(x + self.w)\n    return x\n",
                 {{"w", Floats({8}, std::vector<float>(8, 1))}}));
}

void ChangeBytes(std::mt19937& random, std::string* bytes) {
  const int changes = 1 + static_cast<int>(random() % 4);
  for (int c = 0; c < changes; ++c) (*bytes)[random() % bytes->size()] = static_cast<char>(random());
}

TEST(TorchHostile, SurvivesCorruptArchives) {
  const Host host;
  const std::string good = ZipArchive(GoodEntries());
  SurviveAll(host, 60, [&](std::mt19937& random) {
    std::string bytes = good;
    ChangeBytes(random, &bytes);
    return bytes;
  });
}

// The archive's own checksums are right: what is broken reaches the unpickler and the parser.
TEST(TorchHostile, SurvivesCorruptEntries) {
  const Host host;
  const ZipEntries good = GoodEntries();
  SurviveAll(host, 150, [&](std::mt19937& random) {
    ZipEntries entries = good;
    std::string* content = nullptr;
    while (content == nullptr || content->empty()) content = &entries[random() % entries.size()].second;
    ChangeBytes(random, content);
    return ZipArchive(entries);
  });
}

}  // namespace
}  // namespace wasinn::test
