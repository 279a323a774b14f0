// Custom operators and classes, of libraries that the configuration of a named model lists.
#include "backends/expect.h"
#include "backends/torch_models.h"
#include "support/echo.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

std::string Library() { return testing::InThisBuild("lib/libtorch_test_operators.so"); }
LoadOptions With(const std::string& library) {
  LoadOptions options = TorchOptions();
  options.host_config = R"({"op_libraries": ")" + library + "\"}";
  return options;
}

// This OS process, which makes the models, does not have the operators.
std::string ModelOf(const std::string& expression) {
  ZipEntries entries = UnzipModel(TorchModel("def forward(self, x):\n    return torch.neg(x)\n"));
  for (auto& [name, content] : entries) {
    if (!name.ends_with(".py")) continue;
    const std::string neg = "torch.neg(x)";
    content.replace(content.find(neg), neg.size(), expression);
  }
  return ZipArchive(entries);
}
std::string TwiceModel() { return ModelOf("ops.wasinn_test.twice(x)"); }
std::string AdderModel() { return ModelOf("__torch__.torch.classes.wasinn_test.Adder(3).add(x, )"); }

// A library stays open.
TEST(TorchOperators, AreThoseOfLibrariesThatTheModelListsAlone) {
  const Host host;
  const auto expect_refused = [&] {
    const Model twice(host, TwiceModel(), TorchOptions());
    EXPECT_EQ(twice.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
    EXPECT_THAT(twice.loaded().message, AllOf(HasSubstr("wasinn_test::twice"), HasSubstr("op_libraries")));
    const Model adder(host, AdderModel(), TorchOptions());
    EXPECT_EQ(adder.loaded().code, WASINN_ERROR_UNSUPPORTED_OPERATION);
    EXPECT_THAT(adder.loaded().message, AllOf(HasSubstr("wasinn_test.Adder"), HasSubstr("op_libraries")));
  };
  expect_refused();
  const Model broken(host, TwiceModel(), With("/not/there.so"));
  EXPECT_THAT(broken.loaded().message, AllOf(HasSubstr("op_libraries"), HasSubstr("/not/there.so")));
  for (int i = 0; i < 2; ++i) {
    const LoadedModel twice(host, TwiceModel(), With(Library())), adder(host, AdderModel(), With(Library()));
    EXPECT_THAT(Compute(twice, {Floats({2}, {1, -3})}).As<float>(), ElementsAre(2, -6));
    EXPECT_THAT(Compute(adder, {Floats({2}, {1, -3})}).As<float>(), ElementsAre(4, 0));
  }
  expect_refused();
}

TEST(TorchOperators, OfANamedModelComputeAlsoInItsWorker) {
  const testing::TestFolder folder;
  const std::string path = folder.Write("twice.pt", TwiceModel()),
                    isolated = "]\nisolate = true\npath = '" + path + "'\n";
  testing::Log log;
  const testing::HostPtr host =
      testing::EchoHost(log,
                        "worker = '" + testing::WorkerFile() + "'\n[models.m" + isolated +
                            "[models.m.config]\nop_libraries = ['" + Library() + "']\n[models.without" + isolated +
                            "[models.broken" + isolated + "[models.broken.config]\nop_libraries = ['/not/there.so']\n",
                        std::filesystem::path(testing::BackendFile("torch")).parent_path());
  const testing::GuestPtr guest = testing::NewGuest(host.get());
  testing::FakeGuest calls(guest.get());
  EXPECT_THAT(calls.Infer<float>(calls.NewContext("m"), {1, -3}), ElementsAre(2, -6)) << log.Last();
  uint32_t graph = 0;
  EXPECT_NE(calls.LoadByName("without", graph), testing::kSuccess);
  EXPECT_TRUE(log.Contains("wasinn_test::twice")) << log.Last();
  EXPECT_NE(calls.LoadByName("broken", graph), testing::kSuccess);
  EXPECT_TRUE(log.Contains("op_libraries: /not/there.so")) << log.Last();
}

}  // namespace
}  // namespace wasinn::test
