#include "remote/oip_http.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "remote/json_answer.h"
#include "remote/json_cursor.h"
#include "remote/json_request.h"
#include "remote/whole_message.h"

namespace wasinn::remote {

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
  uint64_t bytes = 0;
  const char* const end = header->second.data() + header->second.size();
  const auto [at, error] = std::from_chars(header->second.data(), end, bytes);
  if (error != std::errc() || at != end) JsonCursor::Refuse("the header with its length is not a number");
  return bytes;
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
  std::vector<grpc::Slice> slices;
  if (!reply.message->Valid() || reply.message.Length() > 4096 || !reply.message->Dump(&slices).ok()) return true;
  std::string text;
  for (const grpc::Slice& one : slices) text.append(reinterpret_cast<const char*>(one.begin()), one.size());
  const auto json = nlohmann::json::parse(text, nullptr, false);
  return !json.is_object() || !json.contains("ready") || json["ready"] != false;
}

}  // namespace wasinn::remote
