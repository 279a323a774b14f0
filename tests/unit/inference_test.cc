// inference.hpp: a program that infers by itself, over the echo backend.
#include <wasinn/inference.hpp>

#include "support/echo.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

class Inference : public ::testing::Test {
 protected:
  Host NewHost() {
    Config config;
    EXPECT_TRUE(config.LoadToml("backend_dirs = ['" + EchoFolder() + "']\n"));
    return *Host::Create(config, [this](const wasinn_log_record& record) { lines_.emplace_back(record.message); });
  }
  Context ContextOf(const std::string& model) {
    AddEchoModel(host_.get(), "m", model);
    return *Context::Create(*Graph::LoadByName(guest_, "m"));
  }
  uint32_t tensors() const { return guest_.Statistics().tensors; }

  std::vector<std::string> lines_;
  Host host_ = NewHost();
  Guest guest_ = *Guest::Create(host_);
};

TEST_F(Inference, AComputeReturnsItsOutputsByName) {
  Context context = ContextOf("in x i16 2\n");
  const std::vector<int16_t> x = {-2, 300};
  const Result<Context::Outputs> outputs = context.Compute({{"x", Input({2}, x)}});
  ASSERT_TRUE(outputs) << outputs.status().message();
  const Tensor& output = outputs->at("x");
  EXPECT_EQ(output.dtype(), WASINN_DTYPE_U8);
  EXPECT_EQ(output.dims(), (std::vector<int64_t>{4}));
  EXPECT_EQ(output.data<int16_t>()[1], 300);
  EXPECT_EQ(tensors(), 1u);
}

TEST_F(Inference, ADimensionBeyondTheStandardsIsAnErrorAndLeavesNoTensor) {
  Context context = ContextOf("in x i16 -1\n");
  const std::vector<int16_t> none;
  for (const int64_t dim : {int64_t{-1}, int64_t{1} << 31, int64_t{1} << 32, INT64_MAX}) {
    const Status status = context.Compute({{"x", Input({dim}, none)}}).status();
    EXPECT_EQ(status.code(), WASINN_ERROR_INVALID_ARGUMENT) << dim;
    EXPECT_NE(std::string(status.message()).find("from 0 to 2147483647, found " + std::to_string(dim)),
              std::string::npos)
        << status.message();
  }
  EXPECT_EQ(tensors(), 0u);
}

TEST_F(Inference, AComputeThatFailsEndsTheGenerationUnderWay) {
  Context context = ContextOf("in prompt u8 -1 opaque\npieces 3\n");
  ASSERT_TRUE(context.Start({{"prompt", Input("abcdefgh")}}));
  EXPECT_EQ(*context.Next(), std::optional<std::string>("abc"));
  const std::vector<float> numbers = {1};
  EXPECT_EQ(context.Compute({{"prompt", Input({1}, numbers)}}).status().code(), WASINN_ERROR_INVALID_ARGUMENT);
  ASSERT_TRUE(context.Start({{"prompt", Input("12345")}}));
  EXPECT_EQ(*context.Next(), std::optional<std::string>("123")) << "a generation of its own";
  EXPECT_EQ(*context.Next(), std::optional<std::string>("45"));
  EXPECT_EQ(*context.Next(), std::nullopt);
  EXPECT_TRUE(context.Finish());
  EXPECT_EQ(tensors(), 0u);
  for (const std::string& line : lines_) EXPECT_EQ(line.find("amid a generation"), std::string::npos) << line;
}

}  // namespace
}  // namespace wasinn::testing
