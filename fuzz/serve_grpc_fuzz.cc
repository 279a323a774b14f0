// Inference requests as messages of Protocol Buffers, from clients of wasinn-serve. Any bytes lead to a request or to
// an error, and to the same one in however many pieces the message came, with little memory. The tensors are in the
// message or in the request's own memory, which is charged, and are the same as those that Protocol Buffers reads. An
// answer that is made of the request has the same tensors. An input has the size of the pieces and a budget before the
// message.
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/stubs/logging.h>
#include <grpcpp/support/byte_buffer.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <inference.pb.h>
#include "fuzz/choices.h"
#include "fuzz/expect.h"
#include "fuzz/serve_checks.h"
#include "serve/grpc/grpc_messages.h"

namespace wasinn::fuzz {
namespace {

using inference::ModelInferRequest;
using inference::ModelInferResponse;
using serve::Charge;
using serve::GrpcForm;
using serve::GrpcRequest;
using serve::InferResponse;
using serve::InputTensor;
using serve::Outcome;

// A message in pieces of so many bytes, each at the end of its memory.
class Pieces {
 public:
  Pieces(std::string_view message, size_t piece) : size_(static_cast<int>(message.size())) {
    for (; !message.empty(); message.remove_prefix(std::min(piece, message.size()))) {
      const std::string_view next = message.substr(0, piece);
      bytes_.emplace_back(next.begin(), next.end());
      arrays_.emplace_back(bytes_.back().data(), static_cast<int>(next.size()));
      streams_.push_back(&arrays_.back());
    }
    all_.emplace(streams_.data(), static_cast<int>(streams_.size()));
  }

  // NOLINTNEXTLINE(bugprone-unchecked-optional-access): the constructor has set it
  google::protobuf::io::ZeroCopyInputStream& stream() { return *all_; }
  int size() const { return size_; }
  bool Has(std::span<const uint8_t> bytes) const {
    return std::ranges::any_of(bytes_, [&](const auto& piece) { return IsWithin(bytes, piece); });
  }

 private:
  const int size_;
  std::vector<std::vector<uint8_t>> bytes_;
  std::deque<google::protobuf::io::ArrayInputStream> arrays_;
  std::vector<google::protobuf::io::ZeroCopyInputStream*> streams_;
  std::optional<google::protobuf::io::ConcatenatingInputStream> all_;
};

// The request that is read from a message, with the memory that it holds.
struct Reading {
  Reading(std::string_view message, size_t piece, uint64_t most)
      : pieces(message, piece), budget(std::make_shared<serve::MemoryBudget>(most)), charge(budget) {
    outcome = serve::Try([&] { ReadRequest(pieces.stream(), pieces.size(), charge, request); });
    FUZZ_EXPECT(outcome || !outcome.error().message.empty());
    FUZZ_EXPECT(charge.bytes() <= most);
    if (!outcome) return;
    CheckInputs(request.infer);
    for (const InputTensor& input : request.infer.inputs) FUZZ_EXPECT(input.lent.empty() || pieces.Has(input.lent));
    FUZZ_EXPECT(OwnBytes(request.infer) <= charge.bytes());
  }
  ~Reading() {
    charge = Charge();
    FUZZ_EXPECT(IsFree(budget));
  }
  Reading(const Reading&) = delete;
  Reading& operator=(const Reading&) = delete;

  Pieces pieces;
  const std::shared_ptr<serve::MemoryBudget> budget;
  Charge charge;
  GrpcRequest request;
  Outcome<void> outcome;
};

bool EndAlike(const Reading& one, const Reading& other) {
  if (one.request.id != other.request.id) return false;
  if (!one.outcome || !other.outcome) {
    return !one.outcome && !other.outcome && IsSame(one.outcome.error(), other.outcome.error());
  }
  return IsSame(one.request.infer, other.request.infer);
}

// Contents in fields of a contiguous message become the request's own, and no more of them than the shape says.
void CheckContents(const GrpcRequest& request) {
  for (const InputTensor& input : request.infer.inputs) {
    if (input.own.empty()) continue;
    if (input.datatype->size == 0) {
      FUZZ_EXPECT(serve::Elements(input.bytes()));
      continue;
    }
    FUZZ_EXPECT(input.own.size() % input.datatype->size == 0);
    FUZZ_EXPECT(input.own.size() / input.datatype->size <= CountElements(input));
  }
}

template <typename T>
std::string BytesOf(const auto& numbers) {
  std::string bytes;
  for (const auto number : numbers) {
    const auto element = static_cast<T>(number);
    bytes.append(reinterpret_cast<const char*>(&element), sizeof element);
  }
  return bytes;
}

std::string BytesOf(const inference::InferTensorContents& contents, wasinn_dtype dtype) {
  std::string texts;
  switch (dtype) {
    case WASINN_DTYPE_BOOL:
      return BytesOf<uint8_t>(contents.bool_contents());
    case WASINN_DTYPE_I8:
      return BytesOf<int8_t>(contents.int_contents());
    case WASINN_DTYPE_I16:
      return BytesOf<int16_t>(contents.int_contents());
    case WASINN_DTYPE_I32:
      return BytesOf<int32_t>(contents.int_contents());
    case WASINN_DTYPE_I64:
      return BytesOf<int64_t>(contents.int64_contents());
    case WASINN_DTYPE_U8:
      return BytesOf<uint8_t>(contents.uint_contents());
    case WASINN_DTYPE_U16:
      return BytesOf<uint16_t>(contents.uint_contents());
    case WASINN_DTYPE_U32:
      return BytesOf<uint32_t>(contents.uint_contents());
    case WASINN_DTYPE_U64:
      return BytesOf<uint64_t>(contents.uint64_contents());
    case WASINN_DTYPE_F32:
      return BytesOf<float>(contents.fp32_contents());
    case WASINN_DTYPE_F64:
      return BytesOf<double>(contents.fp64_contents());
    default:
      for (const std::string& text : contents.bytes_contents()) serve::AppendElement(texts, AsBytes(text));
      return texts;
  }
}

void CheckAgainstProtobuf(const Reading& read, std::string_view message) {
  ModelInferRequest expected;
  // Fields that are not read may be no messages: then there is nothing to compare with.
  if (!expected.ParseFromArray(message.data(), static_cast<int>(message.size()))) return;
  if (!read.outcome) {
    FUZZ_EXPECT(!read.outcome.error().message.starts_with("the message is not an inference request"));
    return;
  }
  const GrpcRequest& request = read.request;
  const serve::InferRequest& infer = request.infer;
  FUZZ_EXPECT(infer.model == expected.model_name() && infer.version == expected.model_version());
  FUZZ_EXPECT(request.id == expected.id());
  FUZZ_EXPECT(std::ranges::equal(infer.outputs, expected.outputs(), {}, {},
                                 &std::decay_t<decltype(expected.outputs(0))>::name));
  FUZZ_EXPECT(infer.inputs.size() == static_cast<size_t>(expected.inputs_size()));
  for (int i = 0; i < expected.inputs_size(); ++i) {
    const InputTensor& input = infer.inputs[static_cast<size_t>(i)];
    const auto& other = expected.inputs(i);
    FUZZ_EXPECT(input.name == other.name() && input.datatype->name == other.datatype());
    FUZZ_EXPECT(std::ranges::equal(input.shape, other.shape()));
    const std::string bytes = expected.raw_input_contents_size() > 0 ? expected.raw_input_contents(i)
                                                                     : BytesOf(other.contents(), input.datatype->dtype);
    FUZZ_EXPECT(std::ranges::equal(input.bytes(), AsBytes(bytes)));
  }
}

ModelInferResponse Parse(const grpc::ByteBuffer& written, GrpcForm form) {
  std::vector<grpc::Slice> slices;
  FUZZ_EXPECT(written.Dump(&slices).ok());
  std::string text;
  for (const grpc::Slice& slice : slices) text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  ModelInferResponse response;
  if (form == GrpcForm::kResponse) {
    FUZZ_EXPECT(response.ParseFromString(text));
    return response;
  }
  inference::ModelStreamInferResponse one;
  FUZZ_EXPECT(one.ParseFromString(text) && one.error_message().empty());
  return one.infer_response();
}

void CheckAnswer(const GrpcRequest& request, GrpcForm form) {
  const auto budget = std::make_shared<serve::MemoryBudget>(kPlenty);
  InferResponse response = Echo(request.infer);
  // One that is written from where it lies.
  const auto large = std::make_shared<const std::string>(10'000, 'x');
  response.outputs.push_back({"large", &serve::Bytes(), {1}, AsBytes(*large), large});
  {
    const grpc::ByteBuffer written = WriteResponse(response, request.id, form, Charge(budget));
    FUZZ_EXPECT(!IsFree(budget));
    const ModelInferResponse parsed = Parse(written, form);
    FUZZ_EXPECT(parsed.id() == request.id && parsed.model_name() == response.model);
    FUZZ_EXPECT(parsed.model_version() == response.version);
    const bool is_final = form == GrpcForm::kStreamFinal;
    FUZZ_EXPECT(form == GrpcForm::kResponse ||
                parsed.parameters().at("triton_final_response").bool_param() == is_final);
    FUZZ_EXPECT(static_cast<size_t>(parsed.outputs_size()) == response.outputs.size());
    FUZZ_EXPECT(static_cast<size_t>(parsed.raw_output_contents_size()) == response.outputs.size());
    for (int i = 0; i < parsed.outputs_size(); ++i) {
      const serve::OutputTensor& output = response.outputs[static_cast<size_t>(i)];
      FUZZ_EXPECT(parsed.outputs(i).name() == output.name && parsed.outputs(i).datatype() == output.datatype->name);
      FUZZ_EXPECT(std::ranges::equal(parsed.outputs(i).shape(), output.shape));
      FUZZ_EXPECT(std::ranges::equal(AsBytes(parsed.raw_output_contents(i)), output.bytes));
    }
  }
  FUZZ_EXPECT(IsFree(budget));
  response.outputs.clear();
  FUZZ_EXPECT(large.use_count() == 1);
}

void CheckLittleMemory(std::string_view message, size_t piece, uint64_t most, const Reading& expected) {
  const Reading read(message, piece, most);
  FUZZ_EXPECT((!read.outcome && IsNoMemory(read.outcome.error())) || EndAlike(read, expected));
}

void Check(Choices choices) {
  const size_t piece = size_t{1} + choices.Number();
  const auto little = choices.Number<uint16_t>();
  const std::string_view message = choices.Rest();
  const size_t whole = message.size() + 1;
  const Reading read(message, whole, kPlenty);
  FUZZ_EXPECT(EndAlike(read, Reading(message, piece, kPlenty)));
  CheckLittleMemory(message, whole, little, read);
  CheckLittleMemory(message, piece, little, read);
  CheckAgainstProtobuf(read, message);
  if (!read.outcome) return;
  CheckContents(read.request);
  CheckAnswer(read.request, GrpcForm::kResponse);
  CheckAnswer(read.request, GrpcForm::kStreamPart);
  CheckAnswer(read.request, GrpcForm::kStreamFinal);
}

}  // namespace
}  // namespace wasinn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  google::protobuf::SetLogHandler(nullptr);  // as the server has it
  wasinn::fuzz::Check(wasinn::fuzz::Choices({data, size}));
  return 0;
}
