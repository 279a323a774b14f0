// Models of attackers with the PyTorch backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <random>

#include "backends/torch_models.h"

namespace wasinn::test {
namespace {

using ::testing::HasSubstr;

constexpr char kDouble[] = "def forward(self, x):\n    return x * 2\n";

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

// PyTorch evaluates them while it loads, and no graph shows them.
TEST(TorchHostile, RefusesDefaultsAndConstantsThatRunWhileLoading) {
  const Host host;
  const std::string written = ::testing::TempDir() + "wasinn-written-" + std::to_string(getpid());
  const std::string evil = "float(torch.sum(torch.fill_(torch.from_file(\"" + written + "\", True, 4), 3.0)))";
  const std::string bytes = TorchModel(kDouble);
  const auto load = [&](const std::string& from, const std::string& to) {
    return Model(host, Changed(bytes, ".py", from, to), TorchOptions()).loaded();
  };
  const std::string parameter = "x: Tensor", attribute = "  def forward";
  for (const Result& loaded :
       {load(parameter, parameter + ",\n    y: float=" + evil),
        load(attribute, "  k : Final[float] = " + evil + "\n" + attribute),
        load(parameter, parameter + ",\n    y: float=float(len([i for i in range(100000000000)]))"),
        load(parameter, parameter + ",\n    y: float=-" + evil),
        load(parameter, parameter + ",\n    y: List[float]=[" + evil + "]"),
        load(parameter, parameter + ",\n    y: List[float]=annotate(List[float], [" + evil + "])")}) {
    EXPECT_EQ(loaded.code, WASINN_SECURITY) << loaded.message;
    EXPECT_THAT(loaded.message, HasSubstr("no literal"));
  }
  EXPECT_FALSE(std::filesystem::exists(written));
  for (const char* literal :
       {"float=1.5", "float=-1.", "float=inf", "float=float(\"inf\")", "List[float]=[1., 2.]", "int=3",
        "Optional[int]=None", "bool=True", "str=\"a\"", "List[int]=annotate(List[int], [])"}) {
    const Result loaded = load(parameter, parameter + ",\n    y: " + literal);
    EXPECT_TRUE(loaded) << literal << ": " << loaded.message;
  }
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

// PyTorch finds the entry that it looks for in any case of its letters.
TEST(TorchHostile, LooksAtTheEntriesThatPyTorchReads) {
  const Host host;
  const ZipEntries good = UnzipModel(TorchModel(kDouble));
  const auto load = [&](const std::string& name, const std::string& as, const std::string& content) {
    ZipEntries entries = good;
    for (auto& [entry, bytes] : entries) {
      if (entry != name) continue;
      entry = as;
      if (!content.empty()) bytes = content;
    }
    return Model(host, ZipArchive(entries), TorchOptions()).loaded();
  };
  const Result bad_code = load("code/__torch__.py", "code/__torch__.PY",
                               "class Model(Module):\n  def __setstate__(self: __torch__.Model, s: int) -> None:\n    "
                               "return None\n");
  EXPECT_EQ(bad_code.code, WASINN_SECURITY) << bad_code.message;
  const Result bad_pickle = load("data.pkl", "data.PKL", "cos\nsystem\n.");
  EXPECT_EQ(bad_pickle.code, WASINN_INVALID_ENCODING) << bad_pickle.message;
}

// A local header of a zip archive: 30 bytes, of which the last two are the size of what follows the name.
TEST(TorchHostile, RefusesVersionsOfWhichTheReaderWouldLeak) {
  const Host host;
  const std::string good = TorchModel(kDouble), name = "/version";
  const size_t end_of_name = good.find(name) + name.size();
  const size_t header = good.rfind("PK\3\4", end_of_name);
  const size_t at =
      end_of_name + static_cast<uint8_t>(good[header + 28]) + 256 * static_cast<uint8_t>(good[header + 29]);
  for (const auto& [version, code] :
       std::vector<std::pair<std::string, wasinn_code>>{{"3\n", WASINN_OK},
                                                        {"x\n", WASINN_INVALID_ENCODING},
                                                        {"0\n", WASINN_INVALID_ENCODING},
                                                        {"99", WASINN_INVALID_ENCODING}}) {
    std::string changed = good;
    changed.replace(at, version.size(), version);
    const Result loaded = Model(host, changed, TorchOptions()).loaded();
    EXPECT_EQ(loaded.code, code) << loaded.message;
    EXPECT_EQ(loaded.message.find("version") != std::string::npos, code != WASINN_OK) << loaded.message;
  }
}

// PyTorch's reader cuts long names, ends them at a NUL, and leaks where it fails while it is made.
TEST(TorchHostile, RefusesEntriesThatPyTorchReadsOtherwise) {
  const Host host;
  ZipEntries entries = UnzipModel(TorchModel(kDouble));
  entries.emplace_back("code/__torch__/" + std::string(500, 'A') + ".py",
                       "class B(Module):\n  def __setstate__(self: B, s: int) -> None:\n    return None\n");
  EXPECT_EQ(Model(host, ZipArchive(entries), TorchOptions()).loaded().code, WASINN_INVALID_ENCODING);
  const std::string good = TorchModel(kDouble);
  for (const std::string header : {"PK\3\4", "PK\1\2"}) {
    const size_t flags = header[2] == 3 ? 6 : 8;
    std::string encrypted = good;
    encrypted[encrypted.find(header) + flags] |= 1;
    EXPECT_THAT(Model(host, encrypted, TorchOptions()).loaded().message, HasSubstr("encrypted"));
  }
  std::string with_nul = good;
  const size_t central = with_nul.find("PK\1\2");
  with_nul[central + 46 + 1] = 0;
  EXPECT_EQ(Model(host, with_nul, TorchOptions()).loaded().code, WASINN_INVALID_ENCODING);
}

TEST(TorchHostile, RefusesTruncatedBytesWrongEncodingsAndSeveralBlobs) {
  const Host host;
  const std::string bytes = TorchModel(kDouble);
  for (size_t size = 0; size < bytes.size(); size += 37) {
    EXPECT_EQ(Model(host, bytes.substr(0, size), TorchOptions()).loaded().code, WASINN_INVALID_ENCODING) << size;
  }
  LoadOptions options = TorchOptions();
  options.encoding = "onnx";
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
