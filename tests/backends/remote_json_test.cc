// Answers of servers in JSON, and what is asked of them.
#include "backends/thrown.h"
#include "remote/json.h"
#include "remote/protocol.h"
#include "remote/tensors.h"

namespace wasinn::remote {
namespace {

// The error of `call`; "": none.
template <typename Call>
std::string RefusedJson(Call call) {
  return test::ThrownBy(call).message;
}

template <typename T>
std::vector<T> Decoded(std::string_view json, uint32_t dtype, size_t count) {
  std::vector<T> out(count);
  EXPECT_TRUE(DecodeJson(json, dtype, {reinterpret_cast<uint8_t*>(out.data()), count * sizeof(T)})) << json;
  return out;
}

bool Decodes(std::string_view json, uint32_t dtype, size_t bytes) {
  std::vector<uint8_t> out(bytes);
  bool decodes = false;
  test::Refused(WASINN_ERROR_RUNTIME, [&] { decodes = DecodeJson(json, dtype, out); });
  return decodes;
}

TEST(RemoteJsonTest, ReadsNumbersOfEachType) {
  EXPECT_THAT(Decoded<float>("[1, [2.5, -3e2], 1e-60]", WASINN_DTYPE_F32, 4), ElementsAre(1, 2.5, -300, 0));
  EXPECT_THAT(Decoded<double>("[0.1]", WASINN_DTYPE_F64, 1), ElementsAre(0.1));
  EXPECT_THAT(Decoded<int8_t>("[-128,127]", WASINN_DTYPE_I8, 2), ElementsAre(-128, 127));
  EXPECT_THAT(Decoded<uint64_t>("[18446744073709551615]", WASINN_DTYPE_U64, 1), ElementsAre(UINT64_MAX));
  EXPECT_THAT(Decoded<uint8_t>("[true,false]", WASINN_DTYPE_BOOL, 2), ElementsAre(1, 0));
  EXPECT_THAT(Decoded<float>("[]", WASINN_DTYPE_F32, 0), ElementsAre());
}

TEST(RemoteJsonTest, RefusesInvalidNumbers) {
  for (const char* json : {"[128]", "[-129]", "[1.0]", "[1e2]", "[true]", "[null]", "[\"1\"]", "[01]", "[00]", "[+1]",
                           "[NaN]", "[1,]", "[1", "1", "{}", "[1]]", "", "[1 2]", "[1,2]"}) {
    EXPECT_FALSE(Decodes(json, WASINN_DTYPE_I8, 1)) << json;
  }
  EXPECT_FALSE(Decodes("[1e39]", WASINN_DTYPE_F32, 4));
  EXPECT_FALSE(Decodes("[1e999]", WASINN_DTYPE_F64, 8));
  EXPECT_FALSE(Decodes("[Infinity]", WASINN_DTYPE_F32, 4));
  EXPECT_FALSE(Decodes("[1]", WASINN_DTYPE_F32, 8)) << "too few";
  EXPECT_FALSE(Decodes("[1]", WASINN_DTYPE_F16, 2)) << "JSON has none";
  EXPECT_FALSE(Decodes(std::string(100'000, '['), WASINN_DTYPE_F32, 4)) << "deep";
}

TEST(RemoteJsonTest, ReadsTextsOfAnyLength) {
  std::string text;
  EXPECT_TRUE(TextOfJson(R"([["gr\u00fc\ud83d\ude00\n\"\/"]])", &text));
  EXPECT_EQ(text, "grü😀\n\"/");
  for (const char* json : {R"(["a","b"])", "[]", "[1]", R"("a")"}) EXPECT_FALSE(TextOfJson(json, &text)) << json;
  for (const char* json : {R"(["\ud83d"])", R"(["\ude00"])", R"(["\u12"])", R"(["\x"])", "[\"\n\"]", R"(["a)"}) {
    EXPECT_THAT(RefusedJson([&] { TextOfJson(json, &text); }), HasSubstr("not JSON of the protocol")) << json;
  }
}

TEST(RemoteJsonTest, SkipsUnknownValues) {
  const std::string_view value = R"({"a":[1,{"b":"}]\""},[],{}],"c":null,"d":true})";
  EXPECT_EQ(JsonCursor(std::string(value) + " ,").Skip(), value);
  for (const char* json :
       {"{", "[", "{\"a\"}", "{1:2}", "[1}", "nul", "\"", "\"\\", "[,]", "{\"a\":1,}", "-", "1.", "1e"}) {
    EXPECT_NE(RefusedJson([&] { (void)JsonCursor(json).Skip(); }), "") << json;
  }
  EXPECT_THAT(RefusedJson([&] { (void)JsonCursor(std::string(1'000'000, '[')).Skip(); }),
              HasSubstr("more than 64 levels"));
}

std::string Output(const std::string& more) { return R"({"outputs":[{"name":"x","datatype":"FP32",)" + more + "}]}"; }

std::string RefusedAnswer(const std::string& answer, uint64_t head) {
  return RefusedJson([&] { ReadJsonAnswer(answer, head, 4); });
}

TEST(RemoteJsonTest, RefusesInvalidAnswers) {
  const std::string raw = Output(R"("shape":[1],"parameters":{"binary_data_size":4})");
  EXPECT_EQ(RefusedAnswer(raw + "1234", raw.size()), "");
  EXPECT_THAT(RefusedAnswer(raw + "123", raw.size()), HasSubstr("more bytes of outputs than were sent"));
  EXPECT_THAT(RefusedAnswer(raw + "12345", raw.size()), HasSubstr("bytes that belong to no output"));
  EXPECT_THAT(RefusedAnswer(raw, raw.size() + 1), HasSubstr("longer than the answer"));
  const auto refused = [](const std::string& more) { return RefusedAnswer(Output(more), Output(more).size()); };
  EXPECT_THAT(refused(R"("data":[1])"), HasSubstr("without name, datatype or shape"));
  EXPECT_THAT(refused(R"("shape":[1])"), HasSubstr("without data"));
  EXPECT_THAT(refused(R"("shape":[1],"data":[1],"data":[2])"), HasSubstr("'data' twice"));
  EXPECT_THAT(refused(R"("shape":[1],"shape":[2],"data":[1])"), HasSubstr("'shape' twice"));
  EXPECT_THAT(refused(R"("shape":[1],"data":[1],"parameters":{"binary_data_size":0})"), HasSubstr("in two places"));
  EXPECT_THAT(refused(R"("shape":[1],"parameters":{"binary_data_size":-1})"), HasSubstr("negative"));
  EXPECT_THAT(refused(R"("shape":[1],"parameters":{"binary_data_size":18446744073709551616})"),
              HasSubstr("not a 64-bit integer"));
  EXPECT_THAT(refused(R"("shape":[1.5],"data":[1])"), HasSubstr("not a 64-bit integer"));
  EXPECT_THAT(refused("\"shape\":[" + std::string(66, '1') + "],\"data\":[1]"), HasSubstr("not a 64-bit integer"));
  std::string many = R"({"outputs":[)";
  for (int i = 0; i < 5; ++i) many += R"({"name":"x","datatype":"FP32","shape":[0],"data":[]},)";
  EXPECT_THAT(RefusedAnswer(many, many.size()), HasSubstr("more than 4 outputs"));
  EXPECT_THAT(RefusedAnswer("{}", 2), HasSubstr("no outputs"));
  EXPECT_THAT(RefusedAnswer(R"({"outputs":[]} x)", 16), HasSubstr("more than one value"));
}

TEST(RemoteJsonTest, RefusesInvalidMetadata) {
  const auto refused = [](const std::string& text) { return RefusedJson([&] { ReadJsonMetadata(text); }); };
  EXPECT_THAT(refused("<html>\n<h1>It works</h1></html>"),
              HasSubstr("is not a model's metadata: it begins with '<html> <h1>It works</h1></html>'"));
  EXPECT_THAT(refused(""), HasSubstr("it begins with ''"));
  EXPECT_THAT(refused("[]"), HasSubstr("it begins with '[]'"));
  EXPECT_THAT(refused("{}"), HasSubstr("it begins with '{}'"));
  EXPECT_THAT(refused(R"({"status": "ok", "name": null})"), HasSubstr("not a model's metadata"));
  EXPECT_THAT(refused(std::string(100, '\xff')), HasSubstr("'" + std::string(60, ' ') + "'…"));
}

// Short answers, too, which gRPC's buffers keep elsewhere.
TEST(RemoteJsonTest, AServerOfPagesHasNoModel) {
  for (const std::string page : {"<html></html>", "<html><head><title>It works</title></head></html>"}) {
    const auto model = NewOipHttp(ParseAddress("http://a:1/v2/models/m"));
    const auto ask = [&](const Request&) {
      const grpc::Slice slice(page);
      return Reply{.status = {}, .message = {&slice, 1}};
    };
    EXPECT_THAT(RefusedJson([&] { (void)model->AskMetadata(ask); }),
                ::testing::EndsWith("not a model's metadata: it begins with '" + page + "'"));
  }
}

TEST(RemoteJsonTest, MetadataMayBeIncomplete) {
  EXPECT_TRUE(ReadJsonMetadata(R"({"name": "m", "inputs": null})").inputs.empty());
  EXPECT_TRUE(ReadJsonMetadata(R"({"inputs": []})").inputs.empty());
  const Metadata outputs = ReadJsonMetadata(R"({"outputs": [{"name": "x", "datatype": "FP32", "shape": [1]}]})");
  EXPECT_EQ(outputs.outputs.size(), 1U);
}

// The request for a model with the input `x`.
std::string Written(const std::string& datatype, const std::vector<int64_t>& dims, const void* data, uint64_t bytes,
                    bool is_binary, std::vector<std::string> outputs = {}) {
  Metadata metadata;
  metadata.inputs.push_back({.name = "x", .datatype = datatype, .dims = dims});
  metadata.outputs = metadata.inputs;
  const Signature signature(metadata);
  Inputs inputs(signature);
  const wasinn_tensor tensor = {.struct_size = sizeof tensor,
                                .dtype = signature.inputs()[0].io.dtype,
                                .rank = static_cast<uint32_t>(dims.size()),
                                .dims = dims.data(),
                                .data = const_cast<void*>(data),
                                .bytes = bytes};
  inputs.Bind(0, tensor);
  inputs.Choose();
  const Inference inference = AskInJson("/p", inputs, outputs, is_binary);
  const Request request = inference.write();
  EXPECT_EQ(request.body.Length(), inference.bytes);
  std::string text(request.body.Length(), '\0');
  RawReader(request.body).Read(0, {reinterpret_cast<uint8_t*>(text.data()), text.size()});
  if (is_binary) {
    EXPECT_EQ(request.headers.back().second, std::to_string(text.rfind('}') + 1));
  }
  return text;
}

TEST(RemoteJsonTest, RequestsAreWritten) {
  const float floats[] = {1, 0.1F};
  EXPECT_EQ(Written("FP32", {1, 2}, floats, 8, false),
            R"({"id":"0","inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,0.1]}]})");
  const uint8_t bools[] = {1, 0};
  EXPECT_EQ(
      Written("BOOL", {2}, bools, 2, false, {"x"}),
      R"({"id":"0","inputs":[{"name":"x","datatype":"BOOL","shape":[2],"data":[true,false]}],"outputs":[{"name":"x"}]})");
  EXPECT_EQ(Written("UINT8", {2}, bools, 2, true),
            "{\"id\":\"0\",\"inputs\":[{\"name\":\"x\",\"datatype\":\"UINT8\",\"shape\":[2],\"parameters\":{\"binary_"
            "data_size\":2}}],"
            "\"parameters\":{\"binary_data_output\":true}}" +
                std::string("\1\0", 2));
  EXPECT_THAT(Written("BYTES", {1}, "\"\n", 2, false), HasSubstr(R"("shape":[1],"data":["\"\n"])"));
}

TEST(RemoteJsonTest, RefusesInputsThatJsonCannotExpress) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(RefusedJson([&] { Written("FP32", {1}, &nan, 4, false); }),
              HasSubstr("input 'x': the server takes numbers as JSON, which has no nan"));
  EXPECT_THAT(RefusedJson([&] { Written("FP16", {2}, &nan, 4, false); }), HasSubstr("which has no FP16"));
  EXPECT_THAT(RefusedJson([&] { Written("BYTES", {1}, "\xff", 1, false); }), HasSubstr("UTF-8"));
}

}  // namespace
}  // namespace wasinn::remote
