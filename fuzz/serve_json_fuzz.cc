// Inference requests as JSON, with bytes after it, from clients of wasinn-serve. Any bytes lead to a request or to an
// error. The tensors are in the body or in the request's own memory, have as many elements as their shapes say, and
// hold no more memory than is charged. An answer that is made of the request can be read again. An input has the number
// of bytes after the JSON and a budget, before both.
#include <simdjson.h>

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "fuzz/choices.h"
#include "fuzz/expect.h"
#include "fuzz/serve_checks.h"
#include "serve/oip/rest_message.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::fuzz {
namespace {

using serve::Charge;
using serve::InputTensor;
using serve::Outcome;
using serve::OutputTensor;
using serve::RequestBytes;
using serve::RestRequest;
using serve::RestResponse;

// A body like that of a connection: its bytes, and after them as many as may be read, which have no meaning.
class Body {
 public:
  Body(std::string_view text, uint64_t most, char behind)
      : budget_(std::make_shared<serve::MemoryBudget>(most)), bytes_(Charge(budget_)) {
    fits_ = text.empty() || bytes_.Append(text.data(), text.size());
    FUZZ_EXPECT(fits_ == (text.size() <= most));
    if (fits_ && !text.empty()) std::memset(const_cast<char*>(view().data()) + size(), behind, RequestBytes::kPadding);
  }
  ~Body() {
    bytes_ = RequestBytes();
    FUZZ_EXPECT(IsFree(budget_));
  }
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;

  bool fits() const { return fits_; }
  std::string_view view() const { return bytes_.view(); }
  size_t size() const { return bytes_.size(); }
  Charge& charge() { return bytes_.charge(); }
  Outcome<RestRequest> Read(size_t json_size) {
    auto read = serve::Try([&] { return ReadRequest(view(), json_size, charge()); });
    FUZZ_EXPECT(charge().bytes() <= budget_->most());
    return read;
  }

 private:
  const std::shared_ptr<serve::MemoryBudget> budget_;
  RequestBytes bytes_;
  bool fits_ = false;
};

bool EndAlike(const Outcome<RestRequest>& one, const Outcome<RestRequest>& other) {
  if (!one || !other) return !one && !other && IsSame(one.error(), other.error());
  return IsSame(one->infer, other->infer) && one->id == other->id && one->is_binary == other->is_binary &&
         one->all_binary == other->all_binary;
}

bool HasAllElements(const InputTensor& input) {
  const Outcome<uint64_t> count = serve::Try([&] { return CountElements(input); });
  if (!count) return false;
  if (input.datatype->size > 0) return input.own.size() == *count * input.datatype->size;
  const auto elements = serve::Elements(input.bytes());
  return elements && elements->size() == *count;
}

void CheckRead(const RestRequest& request, Body& body, size_t json_size) {
  CheckInputs(request.infer);
  FUZZ_EXPECT(nlohmann::json::accept(body.view().substr(0, json_size)));
  const uint8_t* next = AsBytes(body.view()).data() + json_size;
  for (const InputTensor& input : request.infer.inputs) {
    if (input.lent.data() == nullptr) {
      FUZZ_EXPECT(HasAllElements(input));
    } else {  // one after the other, and no byte is left
      FUZZ_EXPECT(input.lent.data() == next && IsWithin(input.lent, AsBytes(body.view())));
      next += input.lent.size();
    }
  }
  FUZZ_EXPECT(next == AsBytes(body.view()).data() + body.size());
  FUZZ_EXPECT(body.charge().bytes() == body.size() + OwnBytes(request.infer));
  for (const auto& [name, is_binary] : request.is_binary) {
    FUZZ_EXPECT(std::ranges::find(request.infer.outputs, name) != request.infer.outputs.end());
  }
}

template <typename T>
bool AreFinite(std::span<const uint8_t> bytes) {
  for (; bytes.size() >= sizeof(T); bytes = bytes.subspan(sizeof(T))) {
    T number;
    std::memcpy(&number, bytes.data(), sizeof number);
    if (!std::isfinite(number)) return false;
  }
  return true;
}

bool AreTexts(std::span<const uint8_t> bytes) {
  const auto elements = serve::Elements(bytes);
  return elements &&
         std::ranges::all_of(*elements, [](std::string_view text) { return simdjson::validate_utf8(text); });
}

// Not NaN, for example, and no text that is not UTF-8.
bool FitsJson(const OutputTensor& output) {
  switch (output.datatype->dtype) {
    case WASINN_DTYPE_F32:
      return AreFinite<float>(output.bytes);
    case WASINN_DTYPE_F64:
      return AreFinite<double>(output.bytes);
    default:
      return output.datatype->size > 0 || AreTexts(output.bytes);
  }
}

bool JsonLacks(const serve::Datatype& datatype) {
  return datatype.dtype == WASINN_DTYPE_F16 || datatype.dtype == WASINN_DTYPE_BF16;
}

bool CanBeReadAgain(const RestRequest& request, const InputTensor& input) {
  if (request.IsBinary(input.name) || JsonLacks(*input.datatype)) return true;  // as bytes
  return input.lent.data() == nullptr;  // bytes that came as bytes may be anything
}

// Its outputs are called inputs then.
void CheckReadAgain(const RestRequest& request, const RestResponse& written) {
  std::string text = written.json;
  constexpr std::string_view kOutputs = R"("outputs":[)";
  text.replace(text.find(kOutputs), kOutputs.size(), R"("inputs":[)");
  const size_t json_size = text.size();
  for (const OutputTensor& output : written.binary) text.append(output.bytes.begin(), output.bytes.end());
  Body body(text, kPlenty, ' ');
  const Outcome<RestRequest> again = body.Read(json_size);
  FUZZ_EXPECT(again && again->id == request.id);
  FUZZ_EXPECT(std::ranges::equal(again->infer.inputs, request.infer.inputs,
                                 [](const auto& one, const auto& other) { return IsSame(one, other); }));
}

void CheckAnswer(const RestRequest& request, Charge& charge) {
  const serve::InferResponse response = Echo(request.infer);
  bool all_fit = true;
  for (const OutputTensor& output : response.outputs) {
    if (JsonLacks(*output.datatype)) continue;
    std::string text;
    const auto size = serve::Try([&] {
      AppendJson(text, output);
      return text.size();
    });
    FUZZ_EXPECT(size.has_value() == FitsJson(output));
    FUZZ_EXPECT(!size || *size <= MaxJson(output));
    all_fit = all_fit && (size || request.IsBinary(output.name));
  }
  const uint64_t before = charge.bytes();
  const auto tried = serve::Try([&] { return WriteResponse(request, response, charge); });
  FUZZ_EXPECT(tried.has_value() == all_fit);
  if (!tried) return;
  const RestResponse& written = *tried;
  uint64_t size = written.json.size();
  for (const OutputTensor& output : written.binary) size += output.bytes.size();
  FUZZ_EXPECT(charge.bytes() - before <= size);
  const auto json = nlohmann::json::parse(written.json);
  FUZZ_EXPECT(json.at("outputs").size() == response.outputs.size());
  if (std::ranges::all_of(request.infer.inputs,
                          [&](const InputTensor& input) { return CanBeReadAgain(request, input); })) {
    CheckReadAgain(request, written);
  }
}

void CheckLittleMemory(std::string_view text, size_t json_size, uint64_t most, const Outcome<RestRequest>& expected) {
  Body body(text, most, ' ');
  if (!body.fits()) return;
  const Outcome<RestRequest> read = body.Read(json_size);
  FUZZ_EXPECT(EndAlike(read, expected) || (!read && IsNoMemory(read.error())));
}

void Check(Choices choices) {
  const auto n_after = choices.Number<uint16_t>(), little = choices.Number<uint16_t>();
  const std::string_view text = choices.Rest();
  // More than there are, because a header may say so.
  const size_t json_size = n_after <= text.size() ? text.size() - n_after : n_after;
  Body body(text, kPlenty, '\0');
  const auto read = body.Read(json_size);
  FUZZ_EXPECT(read || !read.error().message.empty());
  if (read) {
    CheckRead(*read, body, json_size);
    CheckAnswer(*read, body.charge());
  }
  {
    Body other(text, kPlenty, '"');
    FUZZ_EXPECT(EndAlike(read, other.Read(json_size)));
  }
  CheckLittleMemory(text, json_size, little, read);
}

}  // namespace
}  // namespace wasinn::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  wasinn::fuzz::Check(wasinn::fuzz::Choices({data, size}));
  return 0;
}
