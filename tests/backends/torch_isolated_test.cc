// Models that PyTorch crashes on, runs code of or takes memory for as it loads them: in workers.
#include "backends/isolated.h"
#include "backends/torch_models.h"
#include "support/files.h"

namespace wasinn::test {
namespace {

constexpr char kDoubled[] = "def forward(self, x):\n    return x * 2\n";
constexpr uint32_t kInvalidEncoding = 2;

Brought Of(const std::string& name, const std::string& bytes) {
  return {.name = name, .builders = {bytes}, .inputs = {Floats({8}, std::vector<float>(8, 1))}};
}

Workers PyTorch() { return {Encoding::kPyTorch, Of("honest", TorchModel(kDoubled))}; }

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

std::string WithCode(const std::string& from, const std::string& to) {
  return Changed(TorchModel(kDoubled), ".py", from, to);
}

// Each calls the next one twice: PyTorch replaces each call by the next one's nodes.
std::string FunctionsOfFunctions(int depth) {
  std::string code = "def forward(self, x):\n    return self.f0(x)\n";
  for (int i = 0; i < depth; ++i) {
    const std::string next = "self.f" + std::to_string(i + 1) + "(x)";
    code += "def f" + std::to_string(i) + "(self, x):\n    return " + next + " + " + next + "\n";
  }
  return TorchModel(code + "def f" + std::to_string(depth) + "(self, x):\n    return x\n");
}

TEST(TorchIsolated, ModelsThatCrashedTheirProcess) {
  Workers workers = PyTorch();
  const std::string body = "torch.mul(x, 2)", pickled = "__torch__\nModel", define = "def forward";
  for (const Brought& model : {
           Of("parentheses", WithCode(body, std::string(3'000'000, '(') + "x" + std::string(3'000'000, ')'))),
           Of("sum", WithCode(body, "x" + testing::Repeated(" + x", 500'000))),
           Of("lines", WithCode("  " + define, testing::Repeated("\n", 5'000'000) + "  " + define)),
           Of("class", Changed(TorchModel(kDoubled), "data.pkl", pickled,
                               "__torch__.torch.classes.quantized\nLinearPackedParamsBase")),
           Of("global", Changed(TorchModel(kDoubled), "data.pkl", pickled, "os\nsystem")),
           Of("memo", Changed(TorchModel(kDoubled), "data.pkl", "q", std::string("r\xff\xff\xff\xff", 5))),
           Of("default", WithCode("x: Tensor", "x: Tensor,\n    y: float=float(len([i for i in range(100000000)]))")),
           Of("functions", FunctionsOfFunctions(40)),
           Of("list", TorchModel("def forward(self, x):\n    a = [1]\n    while len(a) > 0:\n        a = a + a\n"
                                 "    return x + len(a)\n")),
       }) {
    EXPECT_NE(workers.TryBesideHonest(model), 0u) << model.name << workers.log();
  }
  EXPECT_GT(workers.lost(), 0u) << workers.log();
}

// Tensors whose sizes are in the archive: PyTorch trusts them.
TEST(TorchIsolated, TensorsBeyondTheirMemory) {
  Workers workers = PyTorch();
  const std::string bytes =
      TorchModel("def forward(self, x):\n    return self.w.sum() + x\n", {{"w", Floats({77}, std::vector<float>(77))}});
  // BININT1 77: the number of elements of the storage first, then the tensor's size.
  int errors = 0;
  for (auto& [name, pickle] : UnzipModel(bytes)) {
    if (name != "data.pkl") continue;
    for (size_t at = pickle.find("KM"); at != std::string::npos; at = pickle.find("KM", at + 1)) {
      std::string larger = pickle;
      larger.replace(at, 2, std::string("J\0\0\0\x7f", 5));  // 2^31 - 2^24
      errors += workers.TryBesideHonest(Of("larger", Changed(bytes, "data.pkl", pickle, larger))) == 0 ? 0 : 1;
    }
  }
  EXPECT_GE(errors, 1);
}

// PyTorch evaluates them while it loads. What they would do to files they cannot do in the sandbox.
TEST(TorchIsolated, CodeThatRunsWhileLoading) {
  Workers workers = PyTorch();
  const testing::TestFolder folder;
  const std::string written = folder / "written";
  const std::string evil = "float(torch.sum(torch.fill_(torch.from_file(\"" + written + "\", True, 4), 3.0)))";
  const std::string parameter = "x: Tensor", attribute = "  def forward";
  for (const Brought& model : {Of("default", WithCode(parameter, parameter + ",\n    y: float=" + evil)),
                               Of("attribute", WithCode(attribute, "  k : Final[float] = " + evil + "\n" + attribute)),
                               Of("list", WithCode(parameter, parameter + ",\n    y: List[float]=[" + evil + "]"))}) {
    EXPECT_NE(workers.TryBesideHonest(model), 0u) << model.name;
  }
  EXPECT_FALSE(std::filesystem::exists(written));
  for (const char* literal : {"float=1.5", "float=float(\"inf\")", "List[float]=[1., 2.]", "Optional[int]=None"}) {
    const Brought model = Of(literal, WithCode(parameter, parameter + ",\n    y: " + literal));
    EXPECT_EQ(workers.Try(model, Workers::Time::kAll), 0u) << literal;
  }
}

// A part of a zip archive: its signature, and where its flags are.
void Encrypt(const std::string& header, size_t flags, std::string* bytes) {
  (*bytes)[bytes->find(header) + flags] |= 1;
}

TEST(TorchIsolated, BrokenArchives) {
  Workers workers = PyTorch();
  const std::string good = TorchModel(kDoubled);
  std::vector<Brought> models = {Of("words", "hello"), Of("zeros", std::string(1000, '\0'))};
  for (size_t size = 0; size < good.size(); size += good.size() / 5) models.push_back(Of("cut", good.substr(0, size)));
  std::string changed = good;
  Encrypt("PK\3\4", 6, &changed);
  Encrypt("PK\1\2", 8, &changed);
  models.push_back(Of("encrypted", changed));
  for (const Brought& model : models) {
    EXPECT_EQ(workers.Try(model, Workers::Time::kAll), kInvalidEncoding) << model.name << workers.log();
  }
  workers.ExpectHonest();
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

// The archive's own checksums are right: what is broken reaches the unpickler and the parser.
TEST(TorchIsolated, CorruptEntries) {
  Workers workers = PyTorch();
  const ZipEntries good = GoodEntries();
  constexpr unsigned kSeed = 1;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  workers.TryVariants(100, [&] {
    ZipEntries entries = good;
    std::string* content = nullptr;
    while (content == nullptr || content->empty()) content = &entries[random() % entries.size()].second;
    ChangeBytes(random, content);
    return Of("corrupt", ZipArchive(entries));
  });
}

}  // namespace
}  // namespace wasinn::test
