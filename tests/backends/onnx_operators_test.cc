// Custom operators, of libraries that the configuration of a named model lists.
#include "backends/expect.h"
#include "backends/onnx_writer.h"
#include "support/echo.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

std::string Library() { return testing::InThisBuild("lib/libonnx_test_operators.so"); }

std::string TwiceModel() {
  return ModelWithDomain("test.operators", 1,
                         {.nodes = {Node("Twice", {"x"}, {"y"}).Text(7, "test.operators")},
                          .inputs = {Value("x", kFloat, {2})},
                          .outputs = {Value("y", kFloat, {2})}});
}

LoadOptions With(const std::string& libraries, const std::string& more = "") {
  LoadOptions options;
  options.host_config = R"({"op_libraries": )" + libraries + more + "}";
  return options;
}

TEST(OnnxOperators, OfALibraryCompute) {
  const Host host;
  for (int i = 0; i < 2; ++i) {  // the library is open already
    const LoadedModel model(host, TwiceModel(), With("[\"" + Library() + "\"]"));
    EXPECT_THAT(Compute(model, {Floats({2}, {1, -3})}).As<float>(), ElementsAre(2, -6));
  }
}

TEST(OnnxOperators, OfNoLibraryAreNamedWithTheKey) {
  const Host host;
  const Model model(host, TwiceModel());
  ASSERT_FALSE(model.loaded());
  EXPECT_THAT(model.loaded().message, AllOf(HasSubstr("test.operators:Twice"), HasSubstr("op_libraries")));
}

TEST(OnnxOperators, OfALibraryThatIsNoneAreAnErrorThatNamesIt) {
  const Host host;
  for (const auto& [libraries, words] : {std::pair<std::string, std::string>("[\"/not/there.so\"]", "/not/there.so"),
                                         {"[\"" + testing::BackendFile("onnx") + "\"]", "RegisterCustomOps"},
                                         {"[\"libm.so.6\"]", "op_libraries: expected absolute paths"},
                                         {"[1]", "op_libraries: expected a string or a list of strings"}}) {
    const Model model(host, TwiceModel(), With(libraries));
    ASSERT_FALSE(model.loaded()) << libraries;
    EXPECT_THAT(model.loaded().message, HasSubstr(words));
  }
}

// The cache does not know whether the library has changed.
TEST(OnnxOperators, AreNotKeptWithAnOptimizedModel) {
  const testing::TestFolder folder;
  const std::string cache = folder / "cache";
  const Host host;
  LoadOptions options = With("\"" + Library() + "\"", R"(, "cache_dir": ")" + cache + "\"");
  options.path = folder / "model.onnx";
  const LoadedModel model(host, TwiceModel(), options);
  EXPECT_FALSE(std::filesystem::exists(cache));
}

TEST(OnnxOperators, OfANamedModelComputeAlsoInItsWorker) {
  const testing::TestFolder folder;
  const std::string path = folder.Write("twice.onnx", TwiceModel());
  const auto named = [&](const std::string& name, const std::string& settings, const std::string& libraries) {
    return "[models." + name + "]\npath = '" + path + "'\n" + settings + "[models." + name +
           ".config]\nop_libraries = ['" + libraries + "']\n";
  };
  testing::Log log;
  const testing::HostPtr host = testing::EchoHost(
      log,
      "worker = '" + testing::WorkerFile() + "'\n" + named("here", "", Library()) +
          named("apart", "isolate = true\n", Library()) + named("again", "isolate = true\n", Library()) +
          named("broken", "isolate = true\n", "/not/there.so") + "[models.without]\npath = '" + path +
          "'\nisolate = true\n",
      std::filesystem::path(testing::BackendFile("onnx")).parent_path());
  const testing::GuestPtr guest = testing::NewGuest(host.get());
  testing::FakeGuest calls(guest.get());
  for (const char* name : {"here", "apart", "again"}) {
    EXPECT_THAT(calls.Infer<float>(calls.NewContext(name), {1, -3}), ElementsAre(2, -6)) << log.Last();
  }
  uint32_t graph = 0;
  EXPECT_NE(calls.LoadByName("broken", graph), testing::kSuccess);
  EXPECT_TRUE(log.Contains("op_libraries: /not/there.so")) << log.Last();
  EXPECT_NE(calls.LoadByName("without", graph), testing::kSuccess);
  EXPECT_TRUE(log.Contains("test.operators:Twice")) << log.Last();
}

}  // namespace
}  // namespace wasinn::test
