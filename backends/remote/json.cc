#include "remote/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/number.h"
#include "common/error.h"
#include "remote/tensors.h"

namespace wasinn::remote {

namespace {

constexpr size_t kMaxDepth = 64;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

void JsonCursor::Refuse(const std::string& why) {
  throw backend::Error(WASINN_ERROR_RUNTIME, "the server's answer is not JSON of the protocol: " + why);
}

char JsonCursor::Peek() {
  while (at_ < text_.size() && std::string_view(" \t\r\n").contains(text_[at_])) ++at_;
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool JsonCursor::Take(char c) {
  if (Peek() != c || at_ == text_.size()) return false;
  ++at_;
  return true;
}

void JsonCursor::Expect(char c) {
  if (!Take(c)) Refuse(fmt::format("expected '{}' at byte {}", c, at_));
}

void JsonCursor::ExpectEnd() {
  (void)Peek();
  if (at_ != text_.size()) Refuse(fmt::format("more than one value, at byte {}", at_));
}

std::string JsonCursor::String(size_t most) {
  (void)Peek();
  const std::string_view quoted = SkipString(), plain = quoted.substr(1, quoted.size() - 2);
  constexpr size_t kLongestEscape = 6;
  if (plain.size() / kLongestEscape > most) Refuse(fmt::format("a text of more than {} bytes", most));
  const bool is_plain =
      std::ranges::all_of(plain, [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '\\'; });
  std::string text(is_plain ? plain : "");
  if (!is_plain) {
    auto parsed = nlohmann::json::parse(quoted, nullptr, /*allow_exceptions=*/false);
    if (!parsed.is_string()) Refuse(fmt::format("an invalid string before byte {}", at_));
    text = std::move(parsed.get_ref<std::string&>());
  }
  if (text.size() > most) Refuse(fmt::format("a text of more than {} bytes", most));
  return text;
}

std::string_view JsonCursor::SkipString() {
  const size_t begin = at_;
  Expect('"');
  while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
  if (at_ >= text_.size()) Refuse("a string without an end");
  ++at_;
  return text_.substr(begin, at_ - begin);
}

void JsonCursor::TakeDigits() {
  const size_t begin = at_;
  while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
  if (at_ == begin) Refuse(fmt::format("expected a number at byte {}", begin));
}

std::string_view JsonCursor::Number() {
  (void)Peek();
  const size_t begin = at_;
  const auto next = [this](std::string_view any) { return at_ < text_.size() && any.contains(text_[at_]); };
  if (next("-")) ++at_;
  const bool is_zero = next("0");
  const size_t digits = at_;
  TakeDigits();
  if (is_zero && at_ - digits > 1) Refuse("a number that begins with 0");
  if (next(".")) {
    ++at_;
    TakeDigits();
  }
  if (next("eE")) {
    ++at_;
    if (next("+-")) ++at_;
    TakeDigits();
  }
  return text_.substr(begin, at_ - begin);
}

int64_t JsonCursor::Integer() {
  const std::string text = Peek() == '"' ? String(32) : std::string();
  const std::string_view number = text.empty() ? Number() : text;
  const auto value = base::ParseNumber<int64_t>(number);
  if (!value) Refuse(fmt::format("'{}' is not a 64-bit integer", number.substr(0, 40)));
  return *value;
}

bool JsonCursor::TakeWord(std::string_view word) {
  (void)Peek();
  if (!text_.substr(at_).starts_with(word)) return false;
  at_ += word.size();
  return true;
}

bool JsonCursor::Bool() {
  if (TakeWord("true")) return true;
  if (!TakeWord("false")) Refuse(fmt::format("expected true or false at byte {}", at_));
  return false;
}

// Not recursive, because the server chooses the depth.
std::string_view JsonCursor::Skip() {
  (void)Peek();
  const size_t begin = at_;
  std::vector<char> closing;
  const auto key = [this] {
    (void)Peek();
    SkipString();
    Expect(':');
  };
  do {
    bool is_opened = false;
    if (const char c = Peek(); c == '[' || c == '{') {
      if (closing.size() == kMaxDepth) Refuse(fmt::format("more than {} levels", kMaxDepth));
      ++at_;
      closing.push_back(c == '[' ? ']' : '}');
      is_opened = Peek() != closing.back();
      if (is_opened && c == '{') key();
    } else if (c == '"') {
      SkipString();
    } else if (!TakeWord("true") && !TakeWord("false") && !TakeWord("null")) {
      Number();
    }
    if (is_opened) continue;
    while (!closing.empty() && Take(closing.back())) closing.pop_back();
    if (closing.empty()) break;
    Expect(',');
    if (closing.back() == '}') key();
  } while (true);
  return text_.substr(begin, at_ - begin);
}

using backend::Error;

namespace {

// Refuses a key that occurs twice, which is ambiguous.
void RefuseTwice(bool& was, const char* key) {
  if (was) JsonCursor::Refuse(fmt::format("'{}' twice", key));
  was = true;
}

struct TensorFields {
  AnsweredTensor tensor;
  bool has_name = false, has_datatype = false, has_shape = false, has_size = false, has_parameters = false;
};

void ReadShape(JsonCursor& cursor, AnsweredTensor& tensor) {
  cursor.Array([&] {
    if (tensor.dims.size() == WASINN_MAX_RANK) {
      throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                  fmt::format("the server describes a tensor with more than {} dimensions", WASINN_MAX_RANK));
    }
    tensor.dims.push_back(cursor.Integer());
  });
}

void ReadParameters(JsonCursor& cursor, TensorFields& fields) {
  if (cursor.Peek() != '{') {  // null
    (void)cursor.Skip();
    return;
  }
  cursor.Object([&](const std::string& key) {
    if (key != "binary_data_size") {
      (void)cursor.Skip();
      return;
    }
    RefuseTwice(fields.has_size, "binary_data_size");
    const int64_t bytes = cursor.Integer();
    if (bytes < 0) JsonCursor::Refuse("a negative 'binary_data_size'");
    fields.tensor.is_raw = true;
    fields.tensor.bytes = static_cast<uint64_t>(bytes);
  });
}

AnsweredTensor ReadTensorOf(JsonCursor& cursor) {
  TensorFields fields;
  cursor.Object([&](const std::string& key) {
    if (key == "name") {
      RefuseTwice(fields.has_name, "name");
      fields.tensor.name = cursor.String(kMaxName);
    } else if (key == "datatype") {
      RefuseTwice(fields.has_datatype, "datatype");
      fields.tensor.datatype = cursor.String(kMaxName);
    } else if (key == "shape") {
      RefuseTwice(fields.has_shape, "shape");
      ReadShape(cursor, fields.tensor);
    } else if (key == "parameters") {
      RefuseTwice(fields.has_parameters, "parameters");
      ReadParameters(cursor, fields);
    } else if (key == "data") {
      RefuseTwice(fields.tensor.is_json, "data");
      fields.tensor.json = cursor.Skip();
    } else {
      (void)cursor.Skip();
    }
  });
  if (!fields.has_name || !fields.has_datatype || !fields.has_shape) {
    JsonCursor::Refuse("a tensor without name, datatype or shape");
  }
  return std::move(fields.tensor);
}

std::vector<AnsweredTensor> ReadTensors(JsonCursor& cursor, const char* kind, size_t most, wasinn_code code) {
  std::vector<AnsweredTensor> tensors;
  cursor.Array([&] {
    if (tensors.size() == most) throw Error(code, fmt::format("the server describes more than {} {}", most, kind));
    tensors.push_back(ReadTensorOf(cursor));
  });
  return tensors;
}

[[noreturn]] void RefuseMetadata(std::string_view text) {
  constexpr size_t kLongestBeginning = 60;
  std::string shown(text.substr(0, kLongestBeginning));
  std::ranges::replace_if(shown, [](char c) { return c < ' ' || c > '~'; }, ' ');
  throw Error(WASINN_ERROR_RUNTIME, fmt::format("the server's answer is not a model's metadata: it begins with '{}'{}",
                                                shown, text.size() > kLongestBeginning ? "…" : ""));
}

// Empty if the object describes no model. The protocol requires a name, inputs and outputs; servers omit what they do
// not know, so any of them is enough.
std::optional<Metadata> ReadMetadataOf(JsonCursor& cursor) {
  Metadata metadata;
  bool has_name = false, has_inputs = false, has_outputs = false;
  cursor.Object([&](const std::string& key) {
    if (key == "platform" && cursor.Peek() == '"') {
      metadata.platform = cursor.String(kMaxName);
    } else if (key == "inputs" && cursor.Peek() == '[') {
      RefuseTwice(has_inputs, "inputs");
      metadata.inputs = ReadTensors(cursor, "inputs", kMaxTensors, WASINN_ERROR_UNSUPPORTED_OPERATION);
    } else if (key == "outputs" && cursor.Peek() == '[') {
      RefuseTwice(has_outputs, "outputs");
      metadata.outputs = ReadTensors(cursor, "outputs", kMaxTensors, WASINN_ERROR_UNSUPPORTED_OPERATION);
    } else {
      has_name = has_name || (key == "name" && cursor.Peek() == '"');
      (void)cursor.Skip();
    }
  });
  if (!has_name && !has_inputs && !has_outputs) return std::nullopt;
  return metadata;
}

}  // namespace

Metadata ReadJsonMetadata(std::string_view json) {
  JsonCursor cursor(json);
  // Any HTTP server may return a page for any path.
  if (cursor.Peek() != '{') RefuseMetadata(json);
  std::optional<Metadata> metadata = ReadMetadataOf(cursor);
  cursor.ExpectEnd();
  if (!metadata) RefuseMetadata(json);
  return *std::move(metadata);
}

bool HasExtension(std::string_view json, std::span<const std::string_view> names) {
  bool has = false;
  JsonCursor cursor(json);
  cursor.Object([&](const std::string& key) {
    if (key != "extensions" || cursor.Peek() != '[') {
      (void)cursor.Skip();
      return;
    }
    cursor.Array([&] { has = std::ranges::count(names, cursor.String(kMaxName)) > 0 || has; });
  });
  cursor.ExpectEnd();
  return has;
}

std::vector<AnsweredTensor> ReadJsonAnswer(std::string_view answer, uint64_t head, size_t most) {
  if (head > answer.size()) JsonCursor::Refuse("its JSON is longer than the answer");
  std::optional<std::vector<AnsweredTensor>> tensors;
  JsonCursor cursor(answer.substr(0, head));
  cursor.Object([&](const std::string& key) {
    if (key != "outputs") {
      (void)cursor.Skip();
      return;
    }
    bool was = tensors.has_value();
    RefuseTwice(was, "outputs");
    tensors = ReadTensors(cursor, "outputs", most, WASINN_ERROR_RUNTIME);
  });
  cursor.ExpectEnd();
  if (!tensors) JsonCursor::Refuse("it has no outputs");
  uint64_t at = head;
  for (AnsweredTensor& tensor : *tensors) {
    if (tensor.is_raw == tensor.is_json) JsonCursor::Refuse("an output without data, or with data in two places");
    if (!tensor.is_raw) continue;
    if (tensor.bytes > answer.size() - at) JsonCursor::Refuse("more bytes of outputs than were sent");
    tensor.at = at;
    at += tensor.bytes;
  }
  if (at != answer.size()) JsonCursor::Refuse("bytes that belong to no output");
  return std::move(*tensors);
}

}  // namespace wasinn::remote
