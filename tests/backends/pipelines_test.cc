// Pipelines of real models, within a framework and across frameworks: what comes out is, bit for bit, what the models give
// when they are called one by one, and nothing is copied on the way that need not be.
#include "support/echo.h"
#include "support/this_build.h"

namespace wasinn::testing {
namespace {

using Floats = std::vector<float>;

// A part of a chain: a model's file, its input and output.
struct Link {
  std::string path, input, output;
};
const Link kOnnx{"tiny/relu.onnx", "x", "y"}, kTfLite{"tflite/relu.tflite", "x", "y"},
    kOpenVino{"openvino/relu.xml", "x", "y"}, kTensorFlow{"tensorflow/relu.pb", "x", "y"},
    kTorch{"torch/relu.pt", "0", "0"}, kOpen{"tiny/dynamic.onnx", "x", "y"};

struct Chain {
  const char* name;
  std::vector<Link> links;
  std::vector<uint32_t> dims;
  // Between the models, in a compute: of outputs that a framework has in memory of its own, for another framework.
  uint32_t copies = 0;
};
void PrintTo(const Chain& chain, std::ostream* out) { *out << chain.name; }

const std::vector<uint32_t> kImage = {1, 3, 224, 224};

std::vector<Chain> Built() {
  std::vector<Chain> chains;
  const auto add = [&](std::initializer_list<const char*> frameworks, const Chain& chain) {
    for (const char* framework : frameworks) {
      if (!Has(framework)) return;
    }
    chains.push_back(chain);
  };
  add({"onnx"}, {"onnx", {kOnnx, kOnnx, kOnnx}, kImage});
  add({"onnx"}, {"onnx_of_open_shapes", {kOpen, kOpen, kOpen}, {5, 7}});
  add({"tflite"}, {"tflite", {kTfLite, kTfLite}, kImage});
  add({"onnx", "tflite"}, {"onnx_and_tflite", {kOnnx, kTfLite, kOnnx, kTfLite}, kImage});
  add({"onnx", "openvino"}, {"onnx_and_openvino", {kOnnx, kOpenVino, kOnnx}, kImage, 1});
  add({"tensorflow"}, {"tensorflow", {kTensorFlow, kTensorFlow}, kImage});
  add({"torch"}, {"torch", {kTorch, kTorch}, kImage});
  add({"onnx", "torch"}, {"onnx_and_torch", {kOnnx, kTorch, kOnnx}, kImage, 1});
  return chains;
}

class PipelinesOf : public ::testing::TestWithParam<Chain> {
 protected:
  PipelinesOf() {
    std::string toml, steps;
    const std::vector<Link>& links = GetParam().links;
    for (size_t i = 0; i < links.size(); ++i) {
      const std::string name = "m" + std::to_string(i);
      toml += "[models." + name + "]\npath = '" + InSources("tests/models/") + links[i].path + "'\n";
      steps += "{model_name = '" + name + "', input_map = {" + links[i].input + " = 't" + std::to_string(i) +
               "'}, output_map = {" + links[i].output + " = 't" + std::to_string(i + 1) + "'}},";
    }
    host_ = EchoHost(log_, toml + "[models.p]\nstep = [" + steps + "]\n", InThisBuild("lib/wasinn"));
    guest_ = NewGuest(host_.get());
    for (size_t i = 0; i < Size(); ++i) values_.push_back(static_cast<float>(i % 101) / 7 - 5);
  }
  size_t Size() const {
    size_t size = 1;
    for (const uint32_t dim : GetParam().dims) size *= dim;
    return size;
  }

  uint32_t NewContext(const std::string& name) {
    uint32_t graph = 0, context = 0;
    EXPECT_EQ(calls_->LoadByName(name, graph), kSuccess) << LastLine();
    EXPECT_EQ(calls_->InitContext(graph, context), kSuccess) << LastLine();
    return context;
  }
  void Set(uint32_t context, const Floats& values) {
    EXPECT_EQ(calls_->SetInput(context, 0, GetParam().dims, kF32, values), kSuccess) << LastLine();
  }
  Floats Compute(uint32_t context) {
    EXPECT_EQ(calls_->Call("compute", {context}), kSuccess) << LastLine();
    return Output(context);
  }
  Floats Output(uint32_t context) {
    const auto bytes = static_cast<uint32_t>(Size() * sizeof(float));
    const uint32_t place = calls_->Reserve(bytes), written = calls_->Reserve(4);
    EXPECT_EQ(calls_->Call("get_output", {context, 0, place, bytes, written}), kSuccess) << LastLine();
    EXPECT_EQ(calls_->Read<uint32_t>(written), bytes);
    Floats values(Size());
    std::memcpy(values.data(), calls_->memory().data() + place, bytes);
    return values;
  }
  std::string LastLine() const { return log_.lines().empty() ? "" : log_.lines().back(); }
  // As wasi-nn has it: one after the other, through the guest.
  Floats OneByOne() {
    Floats values = values_;
    for (size_t i = 0; i < GetParam().links.size(); ++i) {
      const uint32_t context = NewContext("m" + std::to_string(i));
      Set(context, values);
      values = Compute(context);
      calls_->Rewind();
    }
    return values;
  }
  uint64_t Copies() const { return StatsOf(guest_).copies_in + StatsOf(guest_).copies_out; }

  Log log_;
  HostPtr host_;
  GuestPtr guest_;
  std::unique_ptr<FakeGuest> calls_;
  Floats values_;

  void SetUp() override { calls_ = std::make_unique<FakeGuest>(guest_.get(), size_t{4} << 20); }
};

TEST_P(PipelinesOf, GiveTheSameBits) {
  const Floats expected = OneByOne();
  const uint32_t context = NewContext("p");
  for (int i = 0; i < 3; ++i) {
    Set(context, values_);
    const uint64_t before = Copies();
    EXPECT_EQ(Compute(context), expected);
    EXPECT_EQ(Copies(), before + 1 + GetParam().copies) << "the output's, and those between";
    calls_->Rewind();
  }
}

// By a guest that passes outputs on.
TEST_P(PipelinesOf, GiveWhatAGuestGetsThatChains) {
  const Floats expected = OneByOne();
  std::vector<uint32_t> contexts;
  for (size_t i = 0; i < GetParam().links.size(); ++i) contexts.push_back(NewContext("m" + std::to_string(i)));
  for (int i = 0; i < 3; ++i) {
    Set(contexts.front(), values_);
    const uint64_t before = Copies();
    for (size_t at = 0; at < contexts.size(); ++at) {
      if (at > 0) {
        EXPECT_EQ(calls_->Call("wasinn_ext_0.set_input_from_output", {contexts[at], 0, contexts[at - 1], 0}), kSuccess)
            << LastLine();
      }
      EXPECT_EQ(calls_->Call("compute", {contexts[at]}), kSuccess) << LastLine();
    }
    EXPECT_EQ(Copies(), before + GetParam().copies);
    EXPECT_EQ(Output(contexts.back()), expected);
    calls_->Rewind();
  }
}

INSTANTIATE_TEST_SUITE_P(Frameworks, PipelinesOf, ::testing::ValuesIn(Built()),
                         [](const auto& chain) { return std::string(chain.param.name); });

}  // namespace
}  // namespace wasinn::testing
