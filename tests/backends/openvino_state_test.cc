// Models with a state: the IR "total" gives the sum of all inputs so far.
#include "backends/expect.h"
#include "backends/openvino_models.h"

namespace wasinn::test {
namespace {

class OpenVinoState : public ::testing::TestWithParam<const char*> {
 protected:
  static void ExpectTotal(Context* context, float add, float total) {
    ASSERT_TRUE(context->Set(0, Floats({1, 4}, {add, add, add, add})));
    MustCompute(context);
    EXPECT_THAT(MustGet(context, 0).As<float>(), Each(total));
  }

  const Host host_;
  const LoadedModel model_{host_, IrXml(GetParam()), IrOptions(GetParam())};
};

TEST_P(OpenVinoState, IsTheContexts) {
  Context one(model_), other(model_);
  for (int i = 1; i <= 3; ++i) {
    ExpectTotal(&one, 1, static_cast<float>(i));
    ExpectTotal(&other, 100, static_cast<float>(100 * i));
  }
}

// Whatever OpenVINO keeps of a request that is gone.
TEST_P(OpenVinoState, EndsWithItsContext) {
  for (int i = 0; i < 5; ++i) {
    Context context(model_);
    ExpectTotal(&context, 7, 7);
    ExpectTotal(&context, 7, 14);
  }
  // Nor does a model of the same bytes know it.
  const Model again(host_, IrXml(GetParam()), IrOptions(GetParam()));
  Context context(again);
  ExpectTotal(&context, 7, 7);
}

// The core discards outputs after each compute of a component.
TEST_P(OpenVinoState, OutlivesItsOutputs) {
  Context context(model_);
  for (int i = 1; i <= 3; ++i) {
    ExpectTotal(&context, 1, static_cast<float>(i));
    host_.table().discard_outputs(context.get());
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, OpenVinoState, ::testing::Values("total", "total_open"),
                         [](const auto& model) { return std::string(model.param); });

// x and the sum of all x, of side × side floats each.
std::string LargeTotal(int side) {
  std::string xml = IrXml("total");
  const auto replace = [&xml](const std::string& from, const std::string& to) {
    for (size_t at = xml.find(from); at != std::string::npos; at = xml.find(from, at + to.size())) {
      xml.replace(at, from.size(), to);
    }
  };
  const std::string dim = std::to_string(side);
  replace("shape=\"1,4\"", "shape=\"" + dim + "," + dim + "\"");
  replace("<dim>1</dim>", "<dim>" + dim + "</dim>");
  replace("<dim>4</dim>", "<dim>" + dim + "</dim>");
  return xml;
}

TEST(OpenVinoStateMemory, IsCharged) {
  constexpr int kSide = 1024;
  constexpr uint64_t kState = sizeof(float) * kSide * kSide;
  const Host host;
  const LoadedModel model(host, LargeTotal(kSide), IrOptions("total"));
  Account account = {.limit = 3 * kState};
  const Tensor x = Floats({kSide, kSide}, std::vector<float>(kSide * kSide, 1));
  {
    Context context(model, 0, "{}", &account);
    EXPECT_GE(account.used, 2 * kState);
    for (int i = 1; i <= 3; ++i) {
      ASSERT_TRUE(context.Set(0, x));
      MustCompute(&context);
      EXPECT_EQ(static_cast<const float*>(context.View(0).data)[0], i);
    }
    EXPECT_GE(account.used, 2 * kState);
  }
  EXPECT_EQ(account.used, 0u);
  account.limit = 2 * kState - 1;
  const Contexts none(host, model, {.account = &account});
  EXPECT_EQ(none.made, 0u);
  EXPECT_EQ(none.refused.code, WASINN_ERROR_TOO_LARGE) << none.refused.message;
}

// XML has several ways to write a character.
TEST(OpenVinoStateMemory, IsFoundAsOpenVinoReadsIt) {
  constexpr int kSide = 64;
  std::string xml = LargeTotal(kSide);
  for (size_t at = xml.find("ReadValue"); at != std::string::npos; at = xml.find("ReadValue")) {
    xml.replace(at, 9, "Read&#86;alue");
  }
  const Host host;
  const LoadedModel model(host, xml, IrOptions("total"));
  EXPECT_THAT(host.table().describe(model.get()), HasSubstr(R"("stateful":true)"));
  Account account;
  const Context context(model, 0, "{}", &account);
  EXPECT_GE(account.used, 2 * sizeof(float) * kSide * kSide);
}

// A model of open shapes is compiled again after a failed compute, for all its contexts, and the log has a line.
TEST(OpenVinoStateOfOpenShapes, IsLostInPlainWords) {
  const Host host;
  const Model model(host, IrXml("total_open"), IrOptions("total_open"));
  Context one(model), other(model);
  const auto compute = [](Context* context, int64_t rows) {
    EXPECT_TRUE(context->Set(0, Floats({rows, 4}, std::vector<float>(static_cast<size_t>(rows) * 4, 1))));
    return context->Compute();
  };
  ASSERT_TRUE(compute(&one, 1));
  ASSERT_TRUE(compute(&other, 2));
  // The state has two rows.
  ASSERT_FALSE(compute(&other, 3));
  const Result lost = compute(&one, 1);
  EXPECT_EQ(lost.code, WASINN_ERROR_RUNTIME);
  EXPECT_THAT(lost.message, HasSubstr("lost its state"));
  ASSERT_TRUE(compute(&one, 1));
  EXPECT_THAT(MustGet(&one, 0).As<float>(), Each(1));
}

// OpenVINO keeps outputs of open shapes for as long as the state: their guest pays for them if no other account does.
TEST(OpenVinoStateOfOpenShapes, KeepsDiscardedOutputsWhereTheyCanBePaid) {
  constexpr int64_t kRows = 1000;
  constexpr uint64_t kBytes = sizeof(float) * 4 * kRows;
  const Host host;
  const Model model(host, IrXml("total_open"), IrOptions("total_open"));
  Account account;
  {
    Context context(model, 0, "{}", &account);
    const auto compute = [&context] {
      EXPECT_TRUE(context.Set(0, Floats({kRows, 4}, std::vector<float>(4 * kRows, 1))));
      return context.Compute();
    };
    for (int i = 1; i <= 3; ++i) {
      const Result computed = compute();
      ASSERT_TRUE(computed) << computed.message;
      EXPECT_THAT(MustGet(&context, 0).As<float>(), Each(i));
      EXPECT_EQ(account.used, 0u) << "outputs are the core's";
      host.table().discard_outputs(context.get());
      EXPECT_EQ(account.used, kBytes);
    }
    ASSERT_TRUE(compute());
    account.limit = kBytes - 1;
    const uint64_t before = AllocatedBytes();
    host.table().discard_outputs(context.get());
    EXPECT_EQ(account.used, 0u);
    EXPECT_LE(AllocatedBytes() + kBytes, before);
    const Result lost = compute();
    EXPECT_EQ(lost.code, WASINN_ERROR_RUNTIME);
    EXPECT_THAT(lost.message, HasSubstr("lost its state, for its request keeps more"));
    ASSERT_TRUE(compute());
    EXPECT_THAT(MustGet(&context, 0).As<float>(), Each(1));
  }
  EXPECT_EQ(account.used, 0u);
}

// "total", with a second input of an open shape that goes through a ReLU.
std::string TotalAndMore() {
  const std::string dims = "<dim>-1</dim><dim>4</dim></port>";
  const std::string layers =
      R"(<layer id="100" name="z" type="Parameter" version="opset1"><data shape="?,4" element_type="f32" /><output>)"
      R"(<port id="0" precision="FP32" names="z">)" +
      dims + R"(</output></layer><layer id="101" name="r" type="ReLU" version="opset1"><input>)" +
      R"(<port id="0" precision="FP32">)" + dims + R"(</input><output><port id="1" precision="FP32" names="r">)" +
      dims + R"(</output></layer><layer id="102" name="s" type="Result" version="opset1" output_names="r"><input>)" +
      R"(<port id="0" precision="FP32">)" + dims + "</input></layer></layers>";
  const std::string edges = R"(<edge from-layer="100" from-port="0" to-layer="101" to-port="0" />)"
                            R"(<edge from-layer="101" from-port="1" to-layer="102" to-port="0" /></edges>)";
  std::string xml = IrXml("total");
  xml.replace(xml.find("</layers>"), 9, layers);
  return xml.replace(xml.find("</edges>"), 8, edges);
}

// A context whose request could not be made in time is as good as any when there is room for one.
TEST(OpenVinoStateOfOpenShapes, ComesBackWhenThereIsRoom) {
  constexpr int64_t kRows = 1000;
  const Host host;
  const LoadedModel model(host, TotalAndMore(), IrOptions("total"));
  Account account;
  Context context(model, 0, "{}", &account);
  const uint64_t state = account.used;
  ASSERT_GT(state, 0u);
  const auto compute = [&context] {
    EXPECT_TRUE(context.Set(0, Floats({1, 4}, {1, 1, 1, 1})));
    EXPECT_TRUE(context.Set(1, Floats({kRows, 4}, std::vector<float>(4 * kRows, 1))));
    return context.Compute();
  };
  ASSERT_TRUE(compute());
  account.limit = state + 100;
  host.table().discard_outputs(context.get());
  account.limit = state - 1;
  for (int i = 0; i < 2; ++i) {
    const Result refused = compute();
    EXPECT_EQ(refused.code, WASINN_ERROR_TOO_LARGE) << refused.message;
    EXPECT_EQ(account.used, 0u);
  }
  account.limit = state + 100;
  EXPECT_THAT(compute().message, HasSubstr("lost its state"));
  const Result computed = compute();
  ASSERT_TRUE(computed) << computed.message;
  EXPECT_THAT(MustGet(&context, 0).As<float>(), Each(1));
}

}  // namespace
}  // namespace wasinn::test
