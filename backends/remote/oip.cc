#include "remote/protocol.h"

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
#include "remote/json.h"

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

// The size of an input as raw bytes.
uint64_t RawBytes(const Inputs::Input& input) { return input.bytes + (input.port->is_text ? oip::kLengthBytes : 0); }

uint8_t* Append(uint8_t* end, const void* data, size_t bytes) {
  if (bytes > 0) std::memcpy(end, data, bytes);
  return end + bytes;
}

class OipGrpc final : public Protocol {
 public:
  explicit OipGrpc(Address address) : address_(std::move(address)) {}

  Metadata AskMetadata(const Ask& ask) override {
    return ReadMetadata(ask(About<inference::ModelMetadataRequest>(address_, "ModelMetadata")).message);
  }
  // The inputs' bytes follow the rest of the message (raw_input_contents), and are copied once.
  Inference Infer(const LanguageSettings* /*settings*/, const Inputs& inputs, const Outputs& outputs) const override {
    RequestMessage message;
    message.set_model_name(address_.model);
    message.set_model_version(address_.version);
    uint64_t raw = 0;
    for (const Inputs::Input* one : inputs.set()) {
      auto& added = *message.add_inputs();
      added.set_name(one->port->name);
      added.set_datatype(one->port->type_name);
      added.mutable_shape()->Add(one->dims.begin(), one->dims.end());
      const uint64_t bytes = RawBytes(*one);
      raw += CodedOutputStream::VarintSize32(kRawTag) + CodedOutputStream::VarintSize64(bytes) + bytes;
    }
    for (const std::string& name : outputs.WantedNames()) message.add_outputs()->set_name(name);
    std::string head = message.SerializeAsString();
    const uint64_t all = head.size() + raw;
    return {all, [&inputs, all, head = std::move(head)] { return Write(inputs, head, all); }};
  }
  std::vector<AnsweredTensor> ReadAnswer(const Reply& reply, size_t most) const override {
    return remote::ReadAnswer(reply.message, most);
  }
  Request AskReady() const override { return About<inference::ModelReadyRequest>(address_, "ModelReady"); }
  bool IsReady(const Reply& reply) const override {
    inference::ModelReadyResponse response;
    return ParseMessage(reply.message, &response) && response.ready();
  }

 private:
  static Request Write(const Inputs& inputs, const std::string& head, uint64_t all) {
    grpc_slice memory = grpc_slice_malloc(all);
    uint8_t* end = Append(GRPC_SLICE_START_PTR(memory), head.data(), head.size());
    for (const Inputs::Input* one : inputs.set()) {
      end = CodedOutputStream::WriteVarint32ToArray(kRawTag, end);
      end = CodedOutputStream::WriteVarint64ToArray(RawBytes(*one), end);
      if (one->port->is_text)
        end = CodedOutputStream::WriteLittleEndian32ToArray(static_cast<uint32_t>(one->bytes), end);
      end = Append(end, one->data, one->bytes);
    }
    const grpc::Slice slice(memory, grpc::Slice::STEAL_REF);  // now, because a small slice contains its bytes
    return {.path = Method("ModelInfer"), .body = {&slice, 1}};
  }

  const Address address_;
};

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

class OipHttp final : public Protocol {
 public:
  explicit OipHttp(Address address) : path_(std::move(address.path)) {}

  // Also learns whether servers accept raw bytes.
  Metadata AskMetadata(const Ask& ask) override {
    const Reply answer = ask({.path = path_, .has_body = false});
    Metadata metadata = ReadJsonMetadata(WholeMessage(answer.message).text());
    try {
      is_binary_ = HasExtension(TextOf(ask({.path = "/v2", .has_body = false})), kBinary);
    } catch (const backend::Error& error) {  // a server without that page speaks JSON
      if (error.code() != WASINN_ERROR_NOT_FOUND) throw;
    }
    return metadata;
  }
  Inference Infer(const LanguageSettings* /*settings*/, const Inputs& inputs, const Outputs& outputs) const override {
    return AskInJson(path_ + "/infer", inputs, outputs.WantedNames(), is_binary_);
  }
  std::vector<AnsweredTensor> ReadAnswer(const Reply& reply, size_t most) const override {
    const std::string_view text = TextOf(reply);
    return ReadJsonAnswer(text, HeadOf(reply, text.size()), most);
  }
  Request AskReady() const override { return {.path = path_ + "/ready", .has_body = false}; }
  // A server that is not ready returns another status; some also say so in the body.
  bool IsReady(const Reply& reply) const override {
    if (reply.message.Length() > 4096) return true;
    const auto json = nlohmann::json::parse(WholeMessage(reply.message).text(), nullptr, false);
    return !json.is_object() || !json.contains("ready") || json["ready"] != false;
  }

 private:
  const std::string path_;
  bool is_binary_ = false;
};

// Text, followed by an input.
struct Part {
  std::string text;
  const Inputs::Input* input = nullptr;
};

void WriteInput(const Inputs::Input& input, bool is_binary, JsonSink& sink) {
  if (!is_binary) return WriteJson(input, sink);
  if (input.port->is_text) {
    uint8_t length[oip::kLengthBytes];
    CodedOutputStream::WriteLittleEndian32ToArray(static_cast<uint32_t>(input.bytes), length);
    sink.Append(length, sizeof length);
  }
  sink.Append(input.data, input.bytes);
}

Request Write(const std::string& path, const std::vector<Part>& parts, bool is_binary, uint64_t bytes) {
  grpc_slice memory = grpc_slice_malloc(bytes);
  grpc::Slice whole(memory, grpc::Slice::STEAL_REF);
  JsonSink sink({const_cast<uint8_t*>(whole.begin()), whole.size()});
  for (const Part& part : parts) {
    sink.Append(part.text);
    if (part.input != nullptr) WriteInput(*part.input, is_binary, sink);
  }
  const grpc::Slice slice = whole.sub(0, sink.bytes());
  Request request{.path = path, .body = {&slice, 1}};
  request.headers = {{"content-type", is_binary ? "application/octet-stream" : "application/json"}};
  // The JSON is before raw bytes.
  if (is_binary) {
    request.headers.emplace_back("inference-header-content-length", std::to_string(parts.front().text.size()));
  }
  return request;
}

}  // namespace

std::unique_ptr<Protocol> NewOipGrpc(Address address) { return std::make_unique<OipGrpc>(std::move(address)); }
std::unique_ptr<Protocol> NewOipHttp(Address address) { return std::make_unique<OipHttp>(std::move(address)); }

Inference AskInJson(std::string path, const Inputs& inputs, std::span<const std::string> outputs, bool is_binary) {
  std::vector<Part> parts;
  std::string text = R"({"id":"0","inputs":[)";  // without an id KServe's answer is invalid
  const char* between = "";
  for (const Inputs::Input* one : inputs.set()) {
    text += std::exchange(between, ",") + InputHead(*one);
    if (is_binary) {
      text += fmt::format(R"("parameters":{{"binary_data_size":{}}}}})", RawBytes(*one));
    } else {
      parts.push_back({text + R"("data":)", one});
      text = "}";
    }
  }
  parts.push_back({text + OutputsOf(outputs, is_binary), nullptr});
  if (is_binary) {
    for (const Inputs::Input* one : inputs.set()) parts.push_back({"", one});
  }
  JsonSink counts;
  for (const Part& part : parts) {
    counts.Append(part.text);
    if (part.input != nullptr) WriteInput(*part.input, is_binary, counts);
  }
  const uint64_t bytes = counts.bytes();
  return {bytes, [path = std::move(path), parts = std::move(parts), is_binary, bytes] {
            return Write(path, parts, is_binary, bytes);
          }};
}

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

}  // namespace wasinn::remote
