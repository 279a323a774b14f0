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

// Triton's name, and that of KServe's documents.
constexpr std::string_view kBinary[] = {"binary_tensor_data", "binary_tensor_data_extension"};

// An answer of HTTP lies in one slice. Those so small that gRPC keeps them in the slice itself say nothing.
std::string_view TextOf(const Reply& reply) {
  constexpr size_t kLeast = 32;
  grpc::Slice slice;
  if (!reply.message->Valid() || !reply.message->TrySingleSlice(&slice).ok() || slice.size() < kLeast) return "{}";
  return {reinterpret_cast<const char*>(slice.begin()), slice.size()};
}

// Of the JSON before raw bytes; all of it where no header says so.
uint64_t HeadOf(const Reply& reply, size_t all) {
  const auto told =
      std::ranges::find(reply.headers, "inference-header-content-length", [](const auto& one) { return one.first; });
  if (told == reply.headers.end()) return all;
  uint64_t bytes = 0;
  const char* const end = told->second.data() + told->second.size();
  const auto [at, error] = std::from_chars(told->second.data(), end, bytes);
  if (error != std::errc() || at != end) JsonCursor::Refuse("the header that says its length is no number");
  return bytes;
}

}  // namespace

Metadata OipHttp::AskMetadata(const Ask& ask) {
  const Reply told = ask({.path = path_, .has_body = false});
  Metadata metadata = ReadJsonMetadata(WholeMessage(told.message).text());
  try {
    is_binary_ = HasExtension(TextOf(ask({.path = "/v2", .has_body = false})), kBinary);
  } catch (const backend::Error& error) {  // who says nothing of itself speaks JSON
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

// A server that is not says another status; some say it in the body, too.
bool OipHttp::IsReady(const Reply& reply) const {
  std::vector<grpc::Slice> slices;
  if (!reply.message->Valid() || reply.message.Length() > 4096 || !reply.message->Dump(&slices).ok()) return true;
  std::string text;
  for (const grpc::Slice& one : slices) text.append(reinterpret_cast<const char*>(one.begin()), one.size());
  const auto json = nlohmann::json::parse(text, nullptr, false);
  return !json.is_object() || !json.contains("ready") || json["ready"] != false;
}

}  // namespace wasinn::remote
