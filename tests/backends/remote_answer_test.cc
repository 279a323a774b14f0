// Answers of untrusted servers.
#include <inference.pb.h>
#include "backends/thrown.h"
#include "remote/tensors.h"

namespace wasinn::remote {
namespace {

using inference::ModelInferResponse;
using inference::ModelMetadataResponse;

// In slices of so many bytes.
grpc::ByteBuffer BufferOf(const std::string& bytes, size_t slice = SIZE_MAX) {
  std::vector<grpc::Slice> slices;
  for (size_t at = 0; at < bytes.size(); at += std::min(slice, bytes.size() - at)) {
    slices.emplace_back(bytes.substr(at, slice));
  }
  return {slices.data(), slices.size()};
}

std::string Floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

ModelMetadataResponse MetadataOf(const std::string& datatype, const std::vector<int64_t>& shape) {
  ModelMetadataResponse metadata;
  for (auto* tensor : {metadata.add_inputs(), metadata.add_outputs()}) {
    tensor->set_name("x");
    tensor->set_datatype(datatype);
    tensor->mutable_shape()->Add(shape.begin(), shape.end());
  }
  return metadata;
}

ModelInferResponse Response(const std::string& datatype, const std::vector<int64_t>& shape, const std::string& raw) {
  ModelInferResponse response;
  auto& output = *response.add_outputs();
  output.set_name("x");
  output.set_datatype(datatype);
  output.mutable_shape()->Add(shape.begin(), shape.end());
  response.add_raw_output_contents(raw);
  return response;
}

remote::Metadata Read(const ModelMetadataResponse& metadata) {
  return ReadMetadata(BufferOf(metadata.SerializeAsString(), 7));
}

// The outputs of a model with this metadata, and what they make of an answer.
struct Taken {
  explicit Taken(const ModelMetadataResponse& metadata) : signature(Read(metadata)), outputs(signature) {}

  wasinn_code Take(const std::string& message, uint64_t max_bytes = 0, size_t slice = SIZE_MAX) {
    const test::Thrown thrown = test::ThrownBy([&] {
      outputs.Choose({});
      const grpc::ByteBuffer bytes = BufferOf(message, slice);
      outputs.Take(bytes, ReadAnswer(bytes, kMaxTensors), max_bytes);
    });
    what = thrown.message;
    return thrown.code;
  }
  std::string Bytes(uint32_t index = 0) {
    wasinn_tensor view = {};
    outputs.View(index, &view);
    return {static_cast<const char*>(view.data), view.bytes};
  }

  const Signature signature;
  Outputs outputs;
  std::string what;
};

TEST(RemoteAnswerTest, RawBytesAreReadAcrossSlices) {
  const std::string raw = Floats({1, 2, 3, 4, 5, 6});
  const std::string message = Response("FP32", {2, 3}, raw).SerializeAsString();
  for (size_t slice = 1; slice <= message.size(); ++slice) {
    Taken taken(MetadataOf("FP32", {-1, 3}));
    ASSERT_EQ(taken.Take(message, 0, slice), WASINN_OK) << slice << ": " << taken.what;
    EXPECT_EQ(taken.Bytes(), raw) << slice;
    wasinn_tensor view = {};
    taken.outputs.View(0, &view);
    EXPECT_THAT(std::vector(view.dims, view.dims + view.rank), ElementsAre(2, 3));
  }
}

TEST(RemoteAnswerTest, BoundOutputsAreWrittenToTheHostsMemory) {
  Taken taken(MetadataOf("FP32", {2}));
  ASSERT_TRUE(taken.signature.outputs()[0].bindable());
  const std::string message = Response("FP32", {2}, Floats({1, 2})).SerializeAsString();
  EXPECT_EQ(taken.Take(message), WASINN_ERROR_INVALID_ARGUMENT) << "not bound";
  float memory[2] = {};
  const int64_t dims[] = {2};
  wasinn_tensor tensor = {.struct_size = sizeof tensor,
                          .dtype = WASINN_DTYPE_F32,
                          .rank = 1,
                          .dims = dims,
                          .data = memory,
                          .bytes = sizeof memory};
  taken.outputs.Bind(0, tensor);
  ASSERT_EQ(taken.Take(message, 1), WASINN_OK) << taken.what << ": it is not allocated";
  EXPECT_EQ(memory[1], 2);
}

TEST(RemoteAnswerTest, RefusesOutputsThatDoNotMatchTheSignature) {
  Taken taken(MetadataOf("FP32", {-1, 2}));
  EXPECT_EQ(taken.Take(Response("FP64", {1, 2}, std::string(16, 0)).SerializeAsString()), WASINN_ERROR_RUNTIME);
  EXPECT_EQ(taken.what, "output 'x': expected FP32, and the server answers with FP64");
  EXPECT_EQ(taken.Take(Response("FP32", {1, 3}, Floats({1, 2, 3})).SerializeAsString()), WASINN_ERROR_RUNTIME);
  EXPECT_EQ(taken.what, "output 'x': expected shape [-1, 2], and the server answers with [1, 3]");
  EXPECT_EQ(taken.Take(Response("FP32", {2}, Floats({1, 2})).SerializeAsString()), WASINN_ERROR_RUNTIME);
  EXPECT_EQ(taken.Take(Response("FP32", {-1, 2}, Floats({1, 2})).SerializeAsString()), WASINN_ERROR_RUNTIME);
  EXPECT_EQ(taken.Take(Response("FP32", {1, 2}, Floats({1})).SerializeAsString()), WASINN_ERROR_RUNTIME);
  EXPECT_EQ(taken.what, "output 'x': expected 8 bytes for shape [1, 2], and the server answers with 4");
  EXPECT_EQ(taken.Take(Response("FP32", {INT64_MAX, 2}, Floats({1})).SerializeAsString()), WASINN_ERROR_RUNTIME);
  ModelInferResponse other = Response("FP32", {1, 2}, Floats({1, 2}));
  other.mutable_outputs(0)->set_name("y");
  EXPECT_EQ(taken.Take(other.SerializeAsString()), WASINN_ERROR_RUNTIME);
  EXPECT_EQ(taken.what, "output 'x': expected it, and the server answers with 1 others");
  EXPECT_EQ(taken.Take(""), WASINN_ERROR_RUNTIME);
}

TEST(RemoteAnswerTest, RefusesInvalidMessages) {
  Taken taken(MetadataOf("FP32", {-1, 2}));
  const std::string message = Response("FP32", {1, 2}, Floats({1, 2})).SerializeAsString();
  for (size_t n = 0; n < message.size(); ++n) {
    EXPECT_NE(taken.Take(message.substr(0, n)), WASINN_OK) << n;
  }
  for (size_t at = 0; at < message.size(); ++at) {
    for (const int bit : {0, 3, 7}) {
      std::string flipped = message;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << bit));
      (void)taken.Take(flipped, 0, 5);  // whatever it says, it does not read past the end
    }
  }
  ModelInferResponse one_more = Response("FP32", {1, 2}, Floats({1, 2}));
  one_more.add_raw_output_contents("more");
  EXPECT_EQ(taken.Take(one_more.SerializeAsString()), WASINN_ERROR_RUNTIME);
  ModelInferResponse many;
  for (size_t i = 0; i <= kMaxTensors; ++i) many.add_outputs()->set_name("x");
  EXPECT_EQ(taken.Take(many.SerializeAsString()), WASINN_ERROR_RUNTIME);
  EXPECT_THAT(taken.what, HasSubstr("more than 1024 outputs"));
  ModelInferResponse deep = Response("FP32", std::vector<int64_t>(WASINN_MAX_RANK + 1, 1), Floats({1}));
  EXPECT_EQ(taken.Take(deep.SerializeAsString()), WASINN_ERROR_UNSUPPORTED_OPERATION);
}

TEST(RemoteAnswerTest, RefusesOutputsBeyondTheMemoryLimit) {
  Taken taken(MetadataOf("FP32", {-1}));
  const std::string message = Response("FP32", {100}, std::string(400, 1)).SerializeAsString();
  EXPECT_EQ(taken.Take(message, 399), WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(taken.Take(message, 400), WASINN_OK);
}

TEST(RemoteAnswerTest, ReadsContentsInsteadOfRawBytes) {
  Taken taken(MetadataOf("FP32", {-1}));
  ModelInferResponse response = Response("FP32", {2}, "");
  response.clear_raw_output_contents();
  auto& contents = *response.mutable_outputs(0)->mutable_contents();
  contents.add_fp32_contents(1);
  contents.add_fp32_contents(2);
  ASSERT_EQ(taken.Take(response.SerializeAsString(), 0, 3), WASINN_OK) << taken.what;
  EXPECT_EQ(taken.Bytes(), Floats({1, 2}));
  contents.add_fp32_contents(3);
  EXPECT_EQ(taken.Take(response.SerializeAsString()), WASINN_ERROR_RUNTIME) << "one more than the shape says";
  response.mutable_outputs(0)->set_shape(0, 1000000000);
  EXPECT_EQ(taken.Take(response.SerializeAsString()), WASINN_ERROR_RUNTIME)
      << "nothing is allocated for what is not there";
}

TEST(RemoteAnswerTest, ReadsIntegersOfContents) {
  inference::InferTensorContents contents;
  for (const int32_t value : {-128, 127}) contents.add_int_contents(value);
  int8_t bytes[2] = {};
  const std::span out(reinterpret_cast<uint8_t*>(bytes), 2);
  EXPECT_TRUE(DecodeContents(contents.SerializeAsString(), WASINN_DTYPE_I8, out));
  EXPECT_THAT(bytes, ElementsAre(-128, 127));
  EXPECT_FALSE(DecodeContents(contents.SerializeAsString(), WASINN_DTYPE_I8, out.first(1)));
  EXPECT_FALSE(DecodeContents(contents.SerializeAsString(), WASINN_DTYPE_U8, out)) << "which are other contents";
  contents.set_int_contents(1, 128);
  EXPECT_FALSE(DecodeContents(contents.SerializeAsString(), WASINN_DTYPE_I8, out));
  contents.Clear();
  contents.add_bool_contents(true);
  contents.add_bool_contents(false);
  EXPECT_TRUE(DecodeContents(contents.SerializeAsString(), WASINN_DTYPE_BOOL, out));
  EXPECT_THAT(bytes, ElementsAre(1, 0));
}

TEST(RemoteAnswerTest, ATextIsItsBytes) {
  const std::string raw("\5\0\0\0hello", 9);
  Taken taken(MetadataOf("BYTES", {1}));
  ASSERT_EQ(taken.Take(Response("BYTES", {1}, raw).SerializeAsString(), 5, 2), WASINN_OK) << taken.what;
  EXPECT_EQ(taken.Bytes(), "hello");
  EXPECT_EQ(taken.Take(Response("BYTES", {1}, raw).SerializeAsString(), 4), WASINN_ERROR_TOO_LARGE);
  EXPECT_EQ(taken.Take(Response("BYTES", {2}, raw + raw).SerializeAsString()), WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_EQ(taken.Take(Response("BYTES", {1}, "abc").SerializeAsString()), WASINN_ERROR_UNSUPPORTED_OPERATION);
  EXPECT_TRUE(taken.signature.inputs()[0].io.flags & WASINN_IO_OPAQUE);
}

TEST(RemoteAnswerTest, AnswersCanHaveTheirOwnOutputs) {
  ModelMetadataResponse metadata = MetadataOf("FP32", {-1});
  metadata.clear_outputs();
  Taken taken(metadata);
  EXPECT_EQ(taken.signature.info()->n_outputs, WASINN_COUNT_UNKNOWN);
  ASSERT_EQ(taken.Take(Response("FP32", {2}, Floats({1, 2})).SerializeAsString()), WASINN_OK) << taken.what;
  const auto ios = taken.outputs.Ios();
  ASSERT_EQ(ios.size(), 1U);
  EXPECT_STREQ(ios[0]->name, "x");
  EXPECT_EQ(taken.Bytes(), Floats({1, 2}));
}

remote::Metadata ParsedMetadata(const std::string& datatype, const std::vector<int64_t>& shape) {
  return Read(MetadataOf(datatype, shape));
}

std::string Refused(const ModelMetadataResponse& metadata) {
  return test::Refused(WASINN_ERROR_UNSUPPORTED_OPERATION, [&] { const Signature signature(Read(metadata)); });
}

TEST(RemoteSignatureTest, FollowsTheServersMetadata) {
  const Signature open(ParsedMetadata("INT64", {-1, 3}));
  EXPECT_EQ(open.inputs()[0].io.dtype, WASINN_DTYPE_I64);
  EXPECT_EQ(open.inputs()[0].io.rank, 2);
  EXPECT_FALSE(open.outputs()[0].bindable());
  const Signature any(ParsedMetadata("FP16", {}));
  EXPECT_EQ(any.inputs()[0].io.rank, -1);
  const Signature texts(ParsedMetadata("BYTES", {3}));
  EXPECT_FALSE(texts.inputs()[0].servable()) << "several texts";
  const Signature unknown(ParsedMetadata("COMPLEX", {3}));
  EXPECT_FALSE(unknown.outputs()[0].servable());
  const Signature huge(ParsedMetadata("FP64", {INT64_MAX, INT64_MAX}));
  EXPECT_FALSE(huge.outputs()[0].bindable());
}

TEST(RemoteSignatureTest, RefusesImpossibleMetadata) {
  ModelMetadataResponse metadata = MetadataOf("FP32", std::vector<int64_t>(WASINN_MAX_RANK + 1, 1));
  EXPECT_THAT(Refused(metadata), HasSubstr("more than 32 dimensions"));
  metadata = MetadataOf("FP32", {1});
  metadata.mutable_inputs(0)->set_name(std::string(kMaxName + 1, 'x'));
  EXPECT_THAT(Refused(metadata), HasSubstr("with more than 4096 bytes"));
  metadata.mutable_inputs(0)->set_name("");
  EXPECT_THAT(Refused(metadata), HasSubstr("the server names a tensor ''"));
  metadata.mutable_inputs(0)->set_name("a");
  std::string message = metadata.SerializeAsString();
  message.replace(message.find("a"), 1, "\xff");
  EXPECT_THROW(Signature(ReadMetadata(BufferOf(message))), backend::Error) << "no UTF-8";
  EXPECT_THROW(ReadMetadata(BufferOf(message.substr(1))), backend::Error);
  metadata = MetadataOf("FP32", {1});
  for (size_t i = 0; i < kMaxTensors; ++i) metadata.add_outputs()->set_name("x");
  EXPECT_THAT(Refused(metadata), HasSubstr("the server describes more than 1024 outputs"));
}

}  // namespace
}  // namespace wasinn::remote
