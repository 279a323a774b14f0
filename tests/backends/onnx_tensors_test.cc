// Inputs that are read in place, and outputs that are taken along.
#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "backends/taken.h"
#include "backends/test_host.h"
#include "check/lent.h"

namespace wasinn::test {
namespace {

constexpr char kPair[] = "two_in_two_out.onnx";

TEST(OnnxTensors, ABoundInputOfAnotherShapeIsRefused) {
  const Host host;
  const Model model(host, ModelBytes(kPair));
  Context context(model);
  const Lent a(Floats({2, 2}, {5, 6, 7, 8}));
  wasinn_tensor wrong = a.view();
  wrong.bytes = 12;
  EXPECT_EQ(context.Bind(0, wrong).code, WASINN_INVALID_ARGUMENT);
  wrong = a.view();
  wrong.dtype = WASINN_I32;
  EXPECT_EQ(context.Bind(0, wrong).code, WASINN_INVALID_ARGUMENT);
}

TEST(OnnxTensors, AnUnboundOptionalInputIsUnset) {
  const Host host;
  const Model model(host, ModelBytes("optional_input.onnx"));
  ASSERT_TRUE(model.loaded()) << model.loaded().message;
  ASSERT_EQ(model.info().n_inputs, 2u);
  const uint32_t optional = (model.input(0).flags & WASINN_IO_OPTIONAL) != 0 ? 0 : 1;
  const auto compute = [&](bool with, bool unbind) {
    Context context(model);
    const std::vector<int64_t> dims(model.input(0).dims, model.input(0).dims + model.input(0).rank);
    size_t n = 1;
    for (int64_t dim : dims) n *= static_cast<size_t>(dim);
    const Lent x(Floats(dims, std::vector<float>(n, 2))), y(Floats(dims, std::vector<float>(n, 100)));
    EXPECT_TRUE(context.Bind(1 - optional, x.view()));
    if (with) {
      EXPECT_TRUE(context.Bind(optional, y.view()));
      EXPECT_TRUE(context.Compute());
    }
    if (unbind) context.Unbind(optional);
    EXPECT_TRUE(context.Compute());
    Tensor out;
    EXPECT_TRUE(context.Get(0, &out));
    return out.As<float>();
  };
  const std::vector<float> without = compute(false, false);
  EXPECT_NE(compute(true, false), without);
  EXPECT_EQ(compute(true, true), without);
}

}  // namespace
}  // namespace wasinn::test
