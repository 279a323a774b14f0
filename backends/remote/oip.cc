#include "remote/oip.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <google/protobuf/io/coded_stream.h>
#include <grpc/slice.h>
#include <grpcpp/support/proto_buffer_reader.h>
#include <inference.pb.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/json.h"
#include "base/number.h"
#include "common/error.h"
#include "oip/datatype.h"
#include "remote/exchange.h"
#include "remote/json_answer.h"
#include "remote/json_cursor.h"
#include "remote/json_elements.h"

namespace wasinn::remote {

namespace {

using google::protobuf::io::CodedOutputStream;
using RequestMessage = inference::ModelInferRequest;

std::string Method(const char* name) { return std::string("/inference.GRPCInferenceService/") + name; }

template <typename Message>
Request About(const Address& address, const char* method) {
  Message message;
  message.set_name(address.model);
  message.set_version(address.version);
  return {.path = Method(method), .body = ToBuffer(message)};
}

constexpr uint32_t kRawTag = RequestMessage::kRawInputContentsFieldNumber << 3 | 2;

uint8_t* Append(uint8_t* end, const void* data, size_t bytes) {
  if (bytes > 0) std::memcpy(end, data, bytes);
  return end + bytes;
}

// An inference whose inputs' bytes follow the rest of the message (raw_input_contents), and are copied once.
class GrpcInference final : public Inference {
 public:
  GrpcInference(const Address& address, const Inputs& inputs, const Outputs& outputs) : inputs_(inputs) {
    RequestMessage message;
    message.set_model_name(address.model);
    message.set_model_version(address.version);
    uint64_t raw = 0;
    for (const Inputs::Input* one : inputs.set()) {
      const Inputs::Input& input = *one;
      auto& added = *message.add_inputs();
      added.set_name(input.port->name);
      added.set_datatype(input.port->type_name);
      added.mutable_shape()->Add(input.dims.begin(), input.dims.end());
      const uint64_t bytes = RawBytes(input);
      raw += CodedOutputStream::VarintSize32(kRawTag) + CodedOutputStream::VarintSize64(bytes) + bytes;
    }
    for (const std::string& name : outputs.WantedNames()) message.add_outputs()->set_name(name);
    head_ = message.SerializeAsString();
    bytes_ = head_.size() + raw;
  }

  uint64_t bytes() const override { return bytes_; }
  Request Write() const override {
    grpc_slice memory = grpc_slice_malloc(bytes_);
    uint8_t* end = Append(GRPC_SLICE_START_PTR(memory), head_.data(), head_.size());
    for (const Inputs::Input* one : inputs_.set()) {
      const Inputs::Input& input = *one;
      end = CodedOutputStream::WriteVarint32ToArray(kRawTag, end);
      end = CodedOutputStream::WriteVarint64ToArray(RawBytes(input), end);
      if (input.port->is_text)
        end = CodedOutputStream::WriteLittleEndian32ToArray(static_cast<uint32_t>(input.bytes), end);
      end = Append(end, input.data, input.bytes);
    }
    const grpc::Slice slice(memory, grpc::Slice::STEAL_REF);  // now, because a small slice contains its bytes
    return {.path = Method("ModelInfer"), .body = {&slice, 1}};
  }

 private:
  const Inputs& inputs_;
  std::string head_;
  uint64_t bytes_;
};

}  // namespace

Metadata OipGrpc::AskMetadata(const Ask& ask) {
  return ReadMetadata(ask(About<inference::ModelMetadataRequest>(address_, "ModelMetadata")).message);
}

std::unique_ptr<const Inference> OipGrpc::Infer(const GuestSettings* /*settings*/, const Inputs& inputs,
                                                const Outputs& outputs) const {
  return std::make_unique<const GrpcInference>(address_, inputs, outputs);
}

std::vector<AnsweredTensor> OipGrpc::ReadAnswer(const Reply& reply, size_t most) const {
  return remote::ReadAnswer(reply.message, most);
}

Request OipGrpc::AskReady() const { return About<inference::ModelReadyRequest>(address_, "ModelReady"); }

bool OipGrpc::IsReady(const Reply& reply) const {
  inference::ModelReadyResponse response;
  return ParseMessage(reply.message, &response) && response.ready();
}

uint64_t RawBytes(const Inputs::Input& input) { return input.bytes + (input.port->is_text ? oip::kLengthBytes : 0); }

grpc::ByteBuffer ToBuffer(const google::protobuf::MessageLite& message) {
  const grpc::Slice slice(message.SerializeAsString());
  return {&slice, 1};
}

bool ParseMessage(const grpc::ByteBuffer& bytes, google::protobuf::MessageLite* message) {
  if (!bytes.Valid()) return false;
  grpc::ByteBuffer references(bytes);
  grpc::ProtoBufferReader reader(&references);
  return reader.status().ok() && message->ParseFromZeroCopyStream(&reader);
}

namespace {

// Triton's name, and the one in KServe's documents.
constexpr std::string_view kBinary[] = {"binary_tensor_data", "binary_tensor_data_extension"};

// An answer of HTTP is in one slice. Small ones, which gRPC stores in the slice itself, have no text.
std::string_view TextOf(const Reply& reply) {
  constexpr size_t kLeast = 32;
  grpc::Slice slice;
  if (!reply.message->Valid() || !reply.message->TrySingleSlice(&slice).ok() || slice.size() < kLeast) return "{}";
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// The length of the JSON before raw bytes; the whole answer if no header says so.
uint64_t HeadOf(const Reply& reply, size_t all) {
  const auto header =
      std::ranges::find(reply.headers, "inference-header-content-length", [](const auto& one) { return one.first; });
  if (header == reply.headers.end()) return all;
  const auto bytes = base::ParseNumber<uint64_t>(header->second);
  if (!bytes) JsonCursor::Refuse("the header with its length is not a number");
  return *bytes;
}

std::string InputHead(const Inputs::Input& input) {
  return fmt::format(R"({{"name":{},"datatype":{},"shape":[{}],)", base::Quoted(input.port->name),
                     base::Quoted(input.port->type_name), fmt::join(input.dims, ","));
}

std::string OutputsOf(std::span<const std::string> outputs, bool is_binary) {
  if (outputs.empty()) return is_binary ? R"(],"parameters":{"binary_data_output":true}})" : "]}";
  std::string text = R"(],"outputs":[)";
  for (const std::string& name : outputs) {
    text += fmt::format(R"({}{{"name":{}{}}})", &name == outputs.data() ? "" : ",", base::Quoted(name),
                        is_binary ? R"(,"parameters":{"binary_data":true})" : "");
  }
  return text + "]}";
}

}  // namespace

Metadata OipHttp::AskMetadata(const Ask& ask) {
  const Reply answer = ask({.path = path_, .has_body = false});
  Metadata metadata = ReadJsonMetadata(WholeMessage(answer.message).text());
  try {
    is_binary_ = HasExtension(TextOf(ask({.path = "/v2", .has_body = false})), kBinary);
  } catch (const backend::Error& error) {  // a server without that page speaks JSON
    if (error.code() != WASINN_ERROR_NOT_FOUND) throw;
  }
  return metadata;
}

std::unique_ptr<const Inference> OipHttp::Infer(const GuestSettings* /*settings*/, const Inputs& inputs,
                                                const Outputs& outputs) const {
  return std::make_unique<const JsonInference>(path_ + "/infer", inputs, outputs.WantedNames(), is_binary_);
}

std::vector<AnsweredTensor> OipHttp::ReadAnswer(const Reply& reply, size_t most) const {
  const std::string_view text = TextOf(reply);
  return ReadJsonAnswer(text, HeadOf(reply, text.size()), most);
}

// A server that is not ready returns another status; some also say so in the body.
bool OipHttp::IsReady(const Reply& reply) const {
  if (reply.message.Length() > 4096) return true;
  const auto json = nlohmann::json::parse(WholeMessage(reply.message).text(), nullptr, false);
  return !json.is_object() || !json.contains("ready") || json["ready"] != false;
}

JsonInference::JsonInference(std::string path, const Inputs& inputs, std::span<const std::string> outputs,
                             bool is_binary)
    : path_(std::move(path)), is_binary_(is_binary) {
  std::string text = R"({"id":"0","inputs":[)";  // without an id KServe's answer is invalid
  const char* between = "";
  for (const Inputs::Input* one : inputs.set()) {
    text += std::exchange(between, ",") + InputHead(*one);
    if (is_binary) {
      text += fmt::format(R"("parameters":{{"binary_data_size":{}}}}})", RawBytes(*one));
    } else {
      parts_.push_back({text + R"("data":)", one});
      text = "}";
    }
  }
  parts_.push_back({text + OutputsOf(outputs, is_binary), nullptr});
  head_ = parts_.front().text.size();  // before raw bytes
  if (is_binary) {
    for (const Inputs::Input* one : inputs.set()) parts_.push_back({"", one});
  }
  JsonSink counts;
  for (const Part& part : parts_) {
    counts.Append(part.text);
    if (part.input == nullptr) continue;
    is_binary ? bytes_ += RawBytes(*part.input) : (WriteJson(*part.input, counts), 0U);
  }
  bytes_ += counts.bytes();
}

Request JsonInference::Write() const {
  grpc_slice memory = grpc_slice_malloc(bytes_);
  grpc::Slice whole(memory, grpc::Slice::STEAL_REF);
  JsonSink sink({const_cast<uint8_t*>(whole.begin()), whole.size()});
  for (const Part& part : parts_) {
    sink.Append(part.text);
    if (part.input != nullptr) WriteInput(*part.input, sink);
  }
  const grpc::Slice slice = whole.sub(0, sink.bytes());
  Request request{.path = path_, .body = {&slice, 1}};
  if (is_binary_) {
    request.headers = {{"content-type", "application/octet-stream"},
                       {"inference-header-content-length", std::to_string(head_)}};
  } else {
    request.headers = {{"content-type", "application/json"}};
  }
  return request;
}

void JsonInference::WriteInput(const Inputs::Input& input, JsonSink& sink) const {
  if (!is_binary_) return WriteJson(input, sink);
  if (input.port->is_text) {
    uint8_t length[oip::kLengthBytes];
    google::protobuf::io::CodedOutputStream::WriteLittleEndian32ToArray(static_cast<uint32_t>(input.bytes), length);
    sink.Append(length, sizeof length);
  }
  sink.Append(input.data, input.bytes);
}

}  // namespace wasinn::remote
