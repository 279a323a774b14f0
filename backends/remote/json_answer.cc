#include "remote/json_answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "common/error.h"
#include "remote/json_cursor.h"
#include "remote/signature.h"

namespace wasinn::remote {

using backend::Error;

namespace {

// What of a key counts: twice the same one says two things.
void Once(bool& was, const char* key) {
  if (was) JsonCursor::Refuse(fmt::format("'{}' twice", key));
  was = true;
}

struct Told {
  AnsweredTensor tensor;
  bool has_name = false, has_datatype = false, has_shape = false, has_size = false, has_parameters = false;
};

void ReadShape(JsonCursor& cursor, AnsweredTensor& tensor) {
  cursor.Array([&] {
    if (tensor.dims.size() == WASINN_MAX_RANK) {
      throw Error(WASINN_ERROR_UNSUPPORTED_OPERATION,
                  fmt::format("the server tells a tensor with more than {} dimensions", WASINN_MAX_RANK));
    }
    tensor.dims.push_back(cursor.Integer());
  });
}

void ReadParameters(JsonCursor& cursor, Told& told) {
  if (cursor.Peek() != '{') {  // null
    (void)cursor.Skip();
    return;
  }
  cursor.Object([&](const std::string& key) {
    if (key != "binary_data_size") {
      (void)cursor.Skip();
      return;
    }
    Once(told.has_size, "binary_data_size");
    const int64_t bytes = cursor.Integer();
    if (bytes < 0) JsonCursor::Refuse("a negative 'binary_data_size'");
    told.tensor.is_raw = true;
    told.tensor.bytes = static_cast<uint64_t>(bytes);
  });
}

AnsweredTensor ReadTensorOf(JsonCursor& cursor) {
  Told told;
  cursor.Object([&](const std::string& key) {
    if (key == "name") {
      Once(told.has_name, "name");
      told.tensor.name = cursor.String(kMostName);
    } else if (key == "datatype") {
      Once(told.has_datatype, "datatype");
      told.tensor.datatype = cursor.String(kMostName);
    } else if (key == "shape") {
      Once(told.has_shape, "shape");
      ReadShape(cursor, told.tensor);
    } else if (key == "parameters") {
      Once(told.has_parameters, "parameters");
      ReadParameters(cursor, told);
    } else if (key == "data") {
      Once(told.tensor.is_json, "data");
      told.tensor.json = cursor.Skip();
    } else {
      (void)cursor.Skip();
    }
  });
  if (!told.has_name || !told.has_datatype || !told.has_shape) {
    JsonCursor::Refuse("a tensor without name, datatype or shape");
  }
  return std::move(told.tensor);
}

std::vector<AnsweredTensor> ReadTensors(JsonCursor& cursor, const char* kind, size_t most, wasinn_code code) {
  std::vector<AnsweredTensor> tensors;
  cursor.Array([&] {
    if (tensors.size() == most) throw Error(code, fmt::format("the server tells more than {} {}", most, kind));
    tensors.push_back(ReadTensorOf(cursor));
  });
  return tensors;
}

[[noreturn]] void RefuseMetadata(std::string_view text) {
  constexpr size_t kLongestBeginning = 60;
  std::string shown(text.substr(0, kLongestBeginning));
  std::ranges::replace_if(shown, [](char c) { return c < ' ' || c > '~'; }, ' ');
  throw Error(WASINN_ERROR_RUNTIME, fmt::format("the server's answer is no metadata of a model: it begins with '{}'{}",
                                                shown, text.size() > kLongestBeginning ? "…" : ""));
}

// Nothing of an object that says nothing of a model. The protocol wants a name, inputs and outputs; servers leave out what
// they do not know, so any of them is enough.
std::optional<Metadata> ReadMetadataOf(JsonCursor& cursor) {
  Metadata metadata;
  bool has_name = false, has_inputs = false, has_outputs = false;
  cursor.Object([&](const std::string& key) {
    if (key == "platform" && cursor.Peek() == '"') {
      metadata.platform = cursor.String(kMostName);
    } else if (key == "inputs" && cursor.Peek() == '[') {
      Once(has_inputs, "inputs");
      metadata.inputs = ReadTensors(cursor, "inputs", kMostTensors, WASINN_ERROR_UNSUPPORTED_OPERATION);
    } else if (key == "outputs" && cursor.Peek() == '[') {
      Once(has_outputs, "outputs");
      metadata.outputs = ReadTensors(cursor, "outputs", kMostTensors, WASINN_ERROR_UNSUPPORTED_OPERATION);
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
  // Any server of HTTP has a page for any path.
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
    cursor.Array([&] { has = std::ranges::count(names, cursor.String(kMostName)) > 0 || has; });
  });
  cursor.ExpectEnd();
  return has;
}

std::vector<AnsweredTensor> ReadJsonAnswer(std::string_view answer, uint64_t head, size_t most) {
  if (head > answer.size()) JsonCursor::Refuse("its JSON is longer than all of it");
  std::optional<std::vector<AnsweredTensor>> tensors;
  JsonCursor cursor(answer.substr(0, head));
  cursor.Object([&](const std::string& key) {
    if (key != "outputs") {
      (void)cursor.Skip();
      return;
    }
    bool was = tensors.has_value();
    Once(was, "outputs");
    tensors = ReadTensors(cursor, "outputs", most, WASINN_ERROR_RUNTIME);
  });
  cursor.ExpectEnd();
  if (!tensors) JsonCursor::Refuse("it has no outputs");
  uint64_t at = head;
  for (AnsweredTensor& tensor : *tensors) {
    if (tensor.is_raw == tensor.is_json) JsonCursor::Refuse("an output without data, or with data in two places");
    if (!tensor.is_raw) continue;
    if (tensor.bytes > answer.size() - at) JsonCursor::Refuse("more bytes of outputs than there are");
    tensor.at = at;
    at += tensor.bytes;
  }
  if (at != answer.size()) JsonCursor::Refuse("bytes that no output has");
  return std::move(*tensors);
}

}  // namespace wasinn::remote
