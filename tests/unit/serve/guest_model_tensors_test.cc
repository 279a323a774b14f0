// The tensors of a guest that is a model, and invalid ones.
#include "serve/models/guest_models.h"
#include "support/test.h"

namespace wasinn::serve {
namespace {

using engines::ModelAnswer;
using engines::ModelIos;

const ModelIos& Ios() {
  static const ModelIos ios = {.inputs = {{"x", WASINN_DTYPE_F32, {-1, 2}}, {"t", WASINN_DTYPE_UNKNOWN, {-1}}},
                               .outputs = {{"y", WASINN_DTYPE_F64, {-1, -1}}, {"u", WASINN_DTYPE_UNKNOWN, {}}}};
  return ios;
}

InputTensor Input(const char* name, const char* datatype, std::vector<int64_t> shape, std::string bytes) {
  return {
      .name = name, .datatype = FindDatatype(datatype), .shape = std::move(shape), .lent = {}, .own = std::move(bytes)};
}

std::string Texts(const std::vector<std::string>& texts) {
  std::string bytes;
  for (const std::string& text : texts) {
    AppendElement(bytes, {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  }
  return bytes;
}

// "": it is one.
std::string WhyNoRequest(std::vector<InputTensor> inputs, std::vector<std::string> outputs = {}) {
  std::vector<std::vector<uint64_t>> shapes;
  const InferRequest request = {"m", "", std::move(inputs), std::move(outputs)};
  const auto made = Try([&] { return ToModelRequest(Ios(), request, shapes); });
  if (!made) return made.error().message;
  EXPECT_EQ(made->inputs.size(), 2);
  EXPECT_EQ(made->inputs[0].shape.size(), request.inputs[0].shape.size());
  return "";
}

TEST(GuestModelRequest, IsAsDescribed) {
  const InputTensor x = Input("x", "FP32", {1, 2}, "12345678"), t = Input("t", "BYTES", {2}, Texts({"a", ""}));
  EXPECT_EQ(WhyNoRequest({x, t}), "");
  EXPECT_EQ(WhyNoRequest({t, x}, {"u", "y"}), "");
  EXPECT_EQ(WhyNoRequest({Input("x", "FP32", {0, 2}, ""), Input("t", "BYTES", {0}, "")}), "");
  EXPECT_THAT(WhyNoRequest({x}), HasSubstr("input 't' is missing"));
  EXPECT_THAT(WhyNoRequest({x, t, x}), HasSubstr("given twice"));
  EXPECT_THAT(WhyNoRequest({x, t}, {"y", "y"}), HasSubstr("asked for twice"));
  EXPECT_THAT(WhyNoRequest({x, t}, {"x"}), HasSubstr("no output 'x'"));
  EXPECT_THAT(WhyNoRequest({Input("x", "INT32", {1, 2}, "12345678"), t}), HasSubstr("is of FP32, not INT32"));
  EXPECT_THAT(WhyNoRequest({Input("x", "FP32", {1, 3}, "123456789012"), t}), HasSubstr("shape"));
  EXPECT_THAT(WhyNoRequest({Input("x", "FP32", {2}, "12345678"), t}), HasSubstr("shape"));
}

TEST(GuestModelRequest, HasNoLengthThatOverflows) {
  const InputTensor t = Input("t", "BYTES", {0}, "");
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  EXPECT_THAT(WhyNoRequest({Input("x", "FP32", {kMax, 2}, ""), t}), HasSubstr("has 0 bytes"));
  EXPECT_THAT(WhyNoRequest({Input("x", "FP32", {kMax / 2 + 1, 2}, ""), t}), HasSubstr("has 0 bytes"));
  const InputTensor x = Input("x", "FP32", {0, 2}, "");
  EXPECT_THAT(WhyNoRequest({x, Input("t", "BYTES", {kMax}, "")}), HasSubstr("has 0 elements"));
  EXPECT_THAT(WhyNoRequest({x, Input("t", "BYTES", {1}, "\xff\xff\xff\xff")}), HasSubstr("not BYTES"));
  EXPECT_THAT(WhyNoRequest({x, Input("t", "BYTES", {1}, "abc")}), HasSubstr("not BYTES"));
}

// "": it is one, of so many outputs.
std::string WhyNoAnswer(std::vector<engines::ModelTensor> tensors, size_t outputs,
                        std::vector<std::string> wanted = {}) {
  const auto owner = std::make_shared<int>(1);
  const ModelAnswer answer = {ModelAnswer::Kind::kTensors, "", std::move(tensors), owner};
  const auto taken = Try([&] { return TakeOutputs(Ios(), wanted, answer); });
  if (!taken) return taken.error().message;
  EXPECT_EQ(taken->size(), outputs);
  EXPECT_EQ(owner.use_count(), 2 + static_cast<long>(outputs));
  return "";
}

TEST(GuestModelAnswer, IsAsDescribed) {
  const std::vector<uint64_t> shape = {1, 2}, none, huge = {1ull << 63, 2}, zero = {0, 1ull << 63},
                              wide = {1ull << 61, 1};
  const std::vector<uint8_t> bytes(16);
  const std::string text = Texts({"abc"}), two = Texts({"a", "b"});
  const auto u = [&](const std::string& of) {
    return engines::ModelTensor{
        "u", WASINN_DTYPE_UNKNOWN, none, {reinterpret_cast<const uint8_t*>(of.data()), of.size()}};
  };
  const engines::ModelTensor y = {"y", WASINN_DTYPE_F64, shape, bytes};
  EXPECT_EQ(WhyNoAnswer({y, u(text)}, 2), "");
  EXPECT_EQ(WhyNoAnswer({y, u(text)}, 1, {"u"}), "");
  EXPECT_EQ(WhyNoAnswer({y}, 1, {"y"}), "");
  EXPECT_THAT(WhyNoAnswer({y}, 0), HasSubstr("gave no output 'u'"));
  EXPECT_THAT(WhyNoAnswer({y}, 0, {"u"}), HasSubstr("gave no output 'u'"));
  EXPECT_THAT(WhyNoAnswer({y, y}, 0), HasSubstr("given twice"));
  EXPECT_THAT(WhyNoAnswer({y, u(two)}, 0), HasSubstr("has 2 elements, not the 1"));
  EXPECT_THAT(WhyNoAnswer({{"y", WASINN_DTYPE_F32, shape, bytes}}, 0), HasSubstr("is of FP64, not FP32"));
  EXPECT_THAT(WhyNoAnswer({{"y", WASINN_DTYPE_F64, none, bytes}}, 0), HasSubstr("shape"));
  EXPECT_THAT(WhyNoAnswer({{"y", WASINN_DTYPE_F64, huge, {}}}, 0), HasSubstr("no tensor can have"));
  EXPECT_THAT(WhyNoAnswer({{"y", WASINN_DTYPE_F64, zero, {}}}, 0), HasSubstr("no tensor can have"));
  EXPECT_THAT(WhyNoAnswer({{"y", WASINN_DTYPE_F64, wide, {}}}, 0), HasSubstr("has 0 bytes"));
  EXPECT_THAT(WhyNoAnswer({{std::string_view("y\0z", 3), WASINN_DTYPE_F64, shape, bytes}}, 0),
              HasSubstr("not one that it described"));
}

TEST(GuestModelDescription, IsAModels) {
  EXPECT_NO_THROW(CheckIos(Ios()));
  const auto why_not = [](const ModelIos& ios) {
    const auto checked = Try([&] { CheckIos(ios); });
    return checked ? "" : checked.error().message;
  };
  EXPECT_THAT(why_not({}), HasSubstr("no output"));
  EXPECT_THAT(why_not({.inputs = {}, .outputs = {{"", WASINN_DTYPE_F32, {}}}}), HasSubstr("name"));
  EXPECT_THAT(why_not({.inputs = {}, .outputs = {{std::string(kMaxName + 1, 'x'), WASINN_DTYPE_F32, {}}}}),
              HasSubstr("name of no or of more than 4096 bytes"));
  EXPECT_THAT(why_not({.inputs = {}, .outputs = {{"y", WASINN_DTYPE_F32, {-2}}}}), HasSubstr("-2"));
  EXPECT_THAT(why_not({.inputs = {}, .outputs = {{"y", WASINN_DTYPE_F32, {}}, {"y", WASINN_DTYPE_F32, {}}}}),
              HasSubstr("twice"));
  // An input may be called as an output is.
  EXPECT_EQ(why_not({.inputs = {{"y", WASINN_DTYPE_F32, {}}}, .outputs = {{"y", WASINN_DTYPE_F32, {}}}}), "");
}

}  // namespace
}  // namespace wasinn::serve
