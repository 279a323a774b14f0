// Arguments of several tensors: lists, as detectors of torchvision have them, and tuples.
#include "backends/expect.h"
#include "backends/torch_models.h"
#include "support/echo.h"
#include "support/files.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

// The arguments of torchvision's detectors, which take images of different sizes.
constexpr char kDetector[] =
    "def forward(self, images: List[Tensor], targets: Optional[List[Dict[str, Tensor]]] = None):\n"
    "    losses: Dict[str, Tensor] = {}\n    found: List[Dict[str, Tensor]] = []\n    for image in images:\n"
    "        found.append({'boxes': image * 2, 'scores': image.sum()})\n    return losses, found\n";

std::vector<std::string> InputNames(const Model& model) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < model.info().n_inputs; ++i) names.emplace_back(model.input(i).name);
  return names;
}

TEST(TorchLists, AreInputsOfWhichAsManyAreTakenAsAreSet) {
  LoadOptions options = TorchOptions();
  options.host_config = R"({"list_inputs": 3})";
  auto&& [host, model, context] = Opened(TorchModel(kDetector), options);
  EXPECT_THAT(InputNames(model), ElementsAre("images.0", "images.1", "images.2", "targets"));
  EXPECT_EQ(model.input(0).flags, 0u);
  EXPECT_EQ(model.input(1).flags, WASINN_IO_OPTIONAL);
  EXPECT_THAT(Compute(&context, {Floats({2}, {1, 2})}).As<float>(), ElementsAre(2, 4));
  EXPECT_THAT(MustGet(&context, 1).As<float>(), ElementsAre(3));
  Tensor none;
  EXPECT_EQ(context.Get(2, &none).code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(Compute(&context, {Floats({2}, {1, 2}), Floats({1}, {7})}).As<float>(), ElementsAre(2, 4));
  EXPECT_THAT(MustGet(&context, 2).As<float>(), ElementsAre(14));
}

TEST(TorchLists, HaveNoGapAndAtLeastOneUnlessTheyAreOptional) {
  auto&& [host, model, context] = Opened(TorchModel(kDetector), TorchOptions());
  EXPECT_EQ(model.info().n_inputs, 17u);
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_INVALID_ARGUMENT);
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  ASSERT_TRUE(context.Set(2, Floats({1}, {1})));
  const Result gap = context.Compute();
  EXPECT_EQ(gap.code, WASINN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(gap.message, HasSubstr("images.1"));
  auto&& [same, may, unset] = Opened(
      TorchModel(
          "def forward(self, x, more: Optional[List[Tensor]] = None):\n    if more is not None:\n        for one "
          "in more:\n            x = x + one\n    return x\n"),
      TorchOptions());
  EXPECT_THAT(Compute(&unset, {Floats({1}, {1})}).As<float>(), ElementsAre(1));
  EXPECT_THAT(Compute(&unset, {Floats({1}, {1}), Floats({1}, {2}), Floats({1}, {4})}).As<float>(), ElementsAre(7));
}

// A model's changes of its list, and of tensors in it, stay in that run.
TEST(TorchLists, StayAsTheyAreIfTheModelWritesToThem) {
  auto&& [host, model, context] = Opened(
      TorchModel("def forward(self, x: List[Tensor]):\n    x[0].add_(1)\n    x.append(x[0])\n    return x[1] * 10\n"),
      TorchOptions());
  ASSERT_TRUE(context.Set(0, Floats({1}, {1})));
  for (int i = 0; i < 3; ++i) {
    MustCompute(&context);
    EXPECT_THAT(MustGet(&context).As<float>(), ElementsAre(20));
  }
}

TEST(TorchTuples, AreAnInputForEachElement) {
  auto&& [host, model, context] =
      Opened(TorchModel("def forward(self, x, state: Optional[Tuple[Tensor, int]] = None):\n    if state is not None:\n"
                        "        x = x + state[0] * state[1]\n    return x\n"),
             TorchOptions());
  EXPECT_THAT(InputNames(model), ElementsAre("x", "state.0", "state.1"));
  EXPECT_THAT(Compute(&context, {Floats({1}, {1})}).As<float>(), ElementsAre(1));
  ASSERT_TRUE(context.Set(1, Floats({1}, {5})));
  EXPECT_THAT(context.Compute().message, HasSubstr("state.1"));
  ASSERT_TRUE(context.Set(2, MakeTensor<int64_t>(WASINN_DTYPE_I64, {}, {7})));
  MustCompute(&context);
  EXPECT_THAT(MustGet(&context).As<float>(), ElementsAre(36));
}

TEST(TorchLists, OfANamedModelComputeAlsoInItsWorker) {
  const testing::TestFolder folder;
  const std::string path = folder.Write("detector.pt", TorchModel(kDetector));
  testing::Log log;
  const testing::HostPtr host =
      testing::EchoHost(log,
                        "worker = '" + testing::WorkerFile() + "'\n[models.here]\npath = '" + path +
                            "'\n[models.apart]\nisolate = true\npath = '" + path + "'\n",
                        std::filesystem::path(testing::BackendFile("torch")).parent_path());
  const testing::GuestPtr guest = testing::NewGuest(host.get());
  testing::FakeGuest calls(guest.get());
  for (const char* name : {"here", "apart"}) {
    const uint32_t context = calls.NewContext(name);
    EXPECT_EQ(calls.Set<float>(context, {1, 2}, 0), testing::kSuccess);
    EXPECT_EQ(calls.Set<float>(context, {7}, 1), testing::kSuccess);
    ASSERT_EQ(calls.Compute(context), testing::kSuccess) << log.Last();
    EXPECT_THAT(calls.Output<float>(context, 0), ElementsAre(2, 4));
    EXPECT_THAT(calls.Output<float>(context, 2), ElementsAre(14));
  }
}

}  // namespace
}  // namespace wasinn::test
