// Packages of AOTInductor. scores.pt2 (tests/models/torch/make_package.py) gives {"scores": linear(x) * scale, "parts":
// (relu(scores), x.sum())}, with the weights [[1, -2], [0.5, 3], [-1, 0]], of a batch of any size up to 64.
#include "backends/expect.h"
#include "backends/torch_models.h"
#include "support/echo.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

std::string PackagePath() { return testing::InSources("tests/models/torch/scores.pt2"); }
std::string PackageBytes() { return ReadFile(PackagePath()); }
LoadOptions Named() { return TorchOptions(PackagePath()); }

TEST(TorchPackage, GivesWhatItsModelGives) {
  auto&& [host, model, context] = Opened(PackageBytes(), Named());
  ASSERT_EQ(model.info().n_inputs, 2u);
  EXPECT_STREQ(model.input(0).name, "0");
  EXPECT_STREQ(model.input(1).name, "scale");
  ASSERT_EQ(model.info().n_outputs, 3u);
  for (const auto& [i, name] : {std::pair(0u, "scores"), {1u, "parts.0"}, {2u, "parts.1"}}) {
    EXPECT_STREQ(model.output(i).name, name);
  }
  const Tensor scores = Compute(&context, {Floats({1, 2}, {1, 2}), Floats({1}, {2})});
  EXPECT_THAT(scores.dims, ElementsAre(1, 3));
  EXPECT_THAT(scores.As<float>(), ElementsAre(-6, 13, -2));
  EXPECT_THAT(MustGet(&context, 1).As<float>(), ElementsAre(0, 13, 0));
  EXPECT_THAT(MustGet(&context, 2).As<float>(), ElementsAre(3));
  EXPECT_THAT(Compute(&context, {Floats({2, 2}, {1, 2, 0, 1}), Floats({1}, {1})}).As<float>(),
              ElementsAre(-3, 6.5, -1, -2, 3, 0));
}

// With any other shape it would read beyond the end.
TEST(TorchPackage, RefusesShapesAndTypesThatItWasNotCompiledFor) {
  auto&& [host, model, context] = Opened(PackageBytes(), Named());
  for (const Tensor& x : {Floats({1, 1}, {1}), Floats({0, 2}, {}), Floats({65, 2}, std::vector<float>(130, 1)),
                          MakeTensor<int64_t>(WASINN_DTYPE_I64, {1, 2}, {1, 2})}) {
    ASSERT_TRUE(context.Set(0, x));
    ASSERT_TRUE(context.Set(1, Floats({1}, {2})));
    EXPECT_EQ(context.Compute().code, WASINN_ERROR_RUNTIME);
  }
  EXPECT_THAT(Compute(&context, {Floats({1, 2}, {1, 2}), Floats({1}, {2})}).As<float>(), ElementsAre(-6, 13, -2));
}

TEST(TorchPackage, LeavesNoFiles) {
  const testing::TestFolder folder;
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", folder.path().c_str(), 1);
  {
    const Host host;
    const LoadedModel model(host, PackageBytes(), Named());
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  }
  setenv("TMPDIR", (folder / "missing").c_str(), 1);
  const Host host;
  const Model unplaced(host, PackageBytes(), Named());
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
  EXPECT_FALSE(unplaced.loaded());
  EXPECT_THAT(unplaced.loaded().message, HasSubstr("TMPDIR"));
}

TEST(TorchPackage, OfAnotherDeviceOrOfSourcesIsAnErrorThatSaysWhatToDo) {
  const Host host;
  const auto load = [&](const ZipEntries& entries) { return Model(host, ZipArchive(entries), Named()).loaded(); };
  ZipEntries entries = UnzipModel(PackageBytes());
  for (auto& [name, content] : entries) {
    if (name.ends_with("_metadata.json")) content = R"({"AOTI_DEVICE_KEY": "cuda"})";
  }
  EXPECT_THAT(load(entries).message, AllOf(HasSubstr("compiled for cuda"), HasSubstr("model.cpu()")));
  std::erase_if(entries, [](const auto& entry) { return entry.first.ends_with(".so"); });
  EXPECT_THAT(load(entries).message, HasSubstr("package_cpp_only"));
  EXPECT_THAT(load({{"data/aotinductor/m/m.so", "no library"}}).message, HasSubstr("does not open with PyTorch"));
}

TEST(TorchPackage, OfAGuestIsRefused) {
  const Host host;
  const Model model(host, PackageBytes(), TorchOptions());
  EXPECT_EQ(model.loaded().code, WASINN_ERROR_SECURITY);
  EXPECT_THAT(model.loaded().message, HasSubstr("native code"));
}

// A worker opens nothing once models come, and its guests' models are bytes to it, too.
TEST(TorchPackage, OfANamedModelComputesAlsoInItsWorker) {
  const testing::TestFolder folder;
  folder.Write("versions/1/model.pt2", PackageBytes());
  const auto named = [](const std::string& name, const std::string& path, const std::string& more) {
    return "[models." + name + "]\npath = '" + path + "'\n" + more;
  };
  const std::string isolated = "isolate = true\n", exported = ZipArchive({{"archive_format", "pt2"}});
  testing::Log log;
  const testing::HostPtr host =
      testing::EchoHost(log,
                        "worker = '" + testing::WorkerFile() + "'\n" + named("here", PackagePath(), "") +
                            named("apart", PackagePath(), isolated) + named("versions", folder / "versions", isolated) +
                            named("renamed", folder.Write("package.pt", PackageBytes()), isolated) +
                            named("exported", folder.Write("exported.pt2", exported), isolated) +
                            named("broken", folder.Write("broken.pt2", "PK\x03\x04"), isolated),
                        std::filesystem::path(testing::BackendFile("torch")).parent_path());
  const testing::GuestPtr guest = testing::NewGuest(host.get());
  testing::FakeGuest calls(guest.get());
  for (const char* name : {"here", "apart", "versions"}) {
    const uint32_t context = calls.NewContext(name);
    EXPECT_EQ(calls.SetInput<float>(context, 0, {1, 2}, testing::kTypeOf<float>, {1, 2}), testing::kSuccess);
    EXPECT_EQ(calls.Set<float>(context, {2}, 1), testing::kSuccess);
    ASSERT_EQ(calls.Compute(context), testing::kSuccess) << log.Last();
    EXPECT_THAT(calls.Output<float>(context), ElementsAre(-6, 13, -2));
  }
  for (const auto& [name, words] :
       {std::pair("renamed", "ends in .pt2"), {"exported", "torch.onnx.export("}, {"broken", ""}}) {
    uint32_t graph = 0;
    EXPECT_NE(calls.LoadByName(name, graph), testing::kSuccess) << name;
    EXPECT_TRUE(log.Contains(words)) << log.Last();
  }
}

}  // namespace
}  // namespace wasinn::test
