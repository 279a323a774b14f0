#include "serve/oip/rest_message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <simdjson.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <utility>

#include "base/json.h"
#include "serve/log.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

namespace {

using simdjson::dom::element;
using simdjson::dom::object;

static_assert(RequestBytes::kPadding >= simdjson::SIMDJSON_PADDING);

// Bytes for each of the JSON's: simdjson's memory for parsing, and tensors of 8-byte numbers with one digit each.
constexpr uint64_t kParsed = 14, kTensors = 4;

// An object's member of this name, if any. A duplicate is refused: a proxy may have checked the other one.
std::optional<element> Find(object of, std::string_view name) {
  std::optional<element> found;
  for (const auto& [key, value] : of) {
    if (key != name) continue;
    if (found) ThrowInvalid("'{}' occurs twice", name);
    found = value;
  }
  if (found && found->is_null()) return {};  // clients write it for missing values
  return found;
}

// Logs fields that are not read. `place`: the text before a field's name.
void LogOthers(object of, const char* place, std::initializer_list<std::string_view> read) {
  for (const auto& [key, value] : of) {
    if (value.is_null() || std::ranges::find(read, key) != read.end()) continue;
    LogIgnored("/v2", place, key);
  }
}

element Get(object of, std::string_view name) {
  const std::optional<element> found = Find(of, name);
  if (!found) ThrowInvalid("the request is not an inference request: there is no '{}'", name);
  return *found;
}

// A member of `parameters`, which an object may have.
template <typename T>
std::optional<T> Parameter(object of, std::string_view name) {
  const std::optional<element> parameters = Find(of, "parameters");
  const std::optional<element> found = parameters ? Find(parameters->get_object(), name) : std::nullopt;
  if (!found) return {};
  return static_cast<T>(*found);
}

void LogOtherParameters(object of, const char* place, std::initializer_list<std::string_view> read) {
  if (const std::optional<element> parameters = Find(of, "parameters")) {
    LogOthers(parameters->get_object(), place, read);
  }
}

uint64_t ReadShape(object input, InputTensor& tensor) {
  for (const element dim : Get(input, "shape").get_array()) AddDim(tensor, dim.get_int64());
  return CountElements(tensor);
}

size_t CountLeaves(element data) {
  if (!data.is_array()) return 1;
  size_t leaves = 0;
  for (const element one : data.get_array()) leaves += CountLeaves(one);
  return leaves;
}

// The shape of an input's data: that of the nested arrays, if the input may have it; else open dimensions are 1, except
// for the last one, which takes the rest.
std::vector<int64_t> ShapeFor(const std::vector<int64_t>& dims, element data) {
  std::vector<int64_t> nested;
  for (element at = data; at.is_array() && at.get_array().size() > 0; at = at.get_array().at(0)) {
    nested.push_back(static_cast<int64_t>(at.get_array().size()));
  }
  const bool fits = std::ranges::equal(nested, dims, [](int64_t n, int64_t dim) { return dim < 0 || n == dim; });
  if (fits) return nested;
  std::vector<int64_t> shape = dims;
  int64_t* last = nullptr;
  uint64_t fixed = 1;
  for (int64_t& dim : shape) {
    if (dim < 0) last = &(dim = 1);
    fixed *= static_cast<uint64_t>(dim);
  }
  const size_t leaves = CountLeaves(data);
  if (last != nullptr && fixed > 0 && leaves % fixed == 0) *last = static_cast<int64_t>(leaves / fixed);
  return shape;
}

// First parses the whole JSON, so that nothing of an invalid text is used. simdjson throws for values of unexpected
// types.
class Reader {
 public:
  Reader(std::string_view body, size_t json_size) : json_(body.substr(0, json_size)), binary_(body.substr(json_size)) {}
  RestRequest Read() {
    simdjson::dom::parser parser;
    const object root = parser.parse(json_.data(), json_.size(), false).get_object();
    if (const auto id = Find(root, "id")) request_.id = ToName(*id);
    if (const auto all = Parameter<bool>(root, "binary_data_output")) request_.all_binary = *all;
    for (const element input : Get(root, "inputs").get_array()) {
      if (request_.infer.inputs.size() == kMaxTensors) ThrowInvalid("more than {} inputs", kMaxTensors);
      ReadInput(input.get_object());
    }
    if (!binary_.empty()) ThrowInvalid("{} bytes after the JSON belong to no input", binary_.size());
    if (const auto outputs = Find(root, "outputs")) {
      for (const element output : outputs->get_array()) {
        if (request_.infer.outputs.size() == kMaxTensors) ThrowInvalid("more than {} outputs", kMaxTensors);
        ReadOutput(output.get_object());
      }
    }
    LogOthers(root, "", {"id", "parameters", "inputs", "outputs"});
    LogOtherParameters(root, "parameters.", {"binary_data_output"});
    return std::move(request_);
  }
  RestRequest ReadFields(const nlohmann::json& inputs) {
    simdjson::dom::parser parser;
    const object root = parser.parse(json_.data(), json_.size(), false).get_object();
    if (const auto id = Find(root, "id")) request_.id = ToName(*id);
    for (const nlohmann::json& input : inputs) {
      const auto data = Find(root, input["name"].get_ref<const std::string&>());
      if (!data) continue;  // the model checks whether it needs it
      InputTensor& tensor = request_.infer.inputs.emplace_back();
      tensor.name = input["name"].get_ref<const std::string&>();
      tensor.datatype = FindDatatype(input["datatype"].get_ref<const std::string&>());
      if (tensor.datatype == nullptr) ThrowInvalid("input '{}': JSON has nothing of its type", tensor.name);
      tensor.shape = ShapeFor(input["shape"].get<std::vector<int64_t>>(), *data);
      ReadJson(tensor, CountElements(tensor), *data);
    }
    for (const auto& [key, value] : root) {
      const auto is_it = [name = key](const nlohmann::json& input) { return input["name"] == name; };
      if (key != "id" && !value.is_null() && std::ranges::none_of(inputs, is_it)) LogIgnored("/v2", "", key);
    }
    return std::move(request_);
  }

 private:
  void ReadInput(object input) {
    InputTensor& tensor = request_.infer.inputs.emplace_back();
    tensor.name = ToName(Get(input, "name"));
    const std::string type = ToName(Get(input, "datatype"));
    tensor.datatype = FindDatatype(type);
    if (tensor.datatype == nullptr) ThrowInvalid("input '{}': '{}' is not a datatype", tensor.name, type);
    const uint64_t elements = ReadShape(input, tensor);
    if (Parameter<std::string_view>(input, "shared_memory_region")) {
      ThrowInvalid("input '{}': there is no shared memory here", tensor.name);
    }
    if (const auto bytes = Parameter<uint64_t>(input, "binary_data_size")) {
      if (Find(input, "data")) ThrowInvalid("input '{}' has both data and binary_data_size", tensor.name);
      TakeBinary(*bytes, tensor);
    } else {
      ReadData(input, tensor, elements);
    }
    LogOthers(input, "inputs.", {"name", "datatype", "shape", "parameters", "data"});
    LogOtherParameters(input, "inputs.parameters.", {"binary_data_size", "shared_memory_region"});
  }
  void ReadOutput(object output) {
    std::string name = ToName(Get(output, "name"));
    if (Parameter<uint64_t>(output, "classification").value_or(0) > 0) {
      ThrowInvalid("output '{}': there is no classification here", name);
    }
    if (Parameter<std::string_view>(output, "shared_memory_region")) {
      ThrowInvalid("output '{}': there is no shared memory here", name);
    }
    if (const auto binary = Parameter<bool>(output, "binary_data")) request_.is_binary[name] = *binary;
    request_.infer.outputs.push_back(std::move(name));
    LogOthers(output, "outputs.", {"name", "parameters"});
    LogOtherParameters(output, "outputs.parameters.", {"classification", "shared_memory_region", "binary_data"});
  }
  void ReadData(object input, InputTensor& tensor, uint64_t elements) {
    const element data = Get(input, "data");
    // Its shape may be anything; the characters limit the number of elements.
    tensor.own.reserve(std::min<uint64_t>(elements, json_.size() / 2) * tensor.datatype->size);
    ReadJson(tensor, elements, data);
  }
  void TakeBinary(uint64_t bytes, InputTensor& tensor) {
    if (bytes > binary_.size()) {
      ThrowInvalid("input '{}' has {} bytes, of which only {} came", tensor.name, bytes, binary_.size());
    }
    tensor.lent = {reinterpret_cast<const uint8_t*>(binary_.data()), bytes};
    binary_.remove_prefix(bytes);
  }

  const std::string_view json_;
  std::string_view binary_;  // not taken by a tensor yet
  RestRequest request_;
};

RestRequest Parse(std::string_view body, size_t json_size, Charge& charge, auto read) {
  const uint64_t before = charge.bytes();
  if (!charge.Add((kParsed + kTensors) * json_size)) throw NoMemory();
  try {
    RestRequest request = read(Reader(body, json_size));
    uint64_t own = 0;
    for (const InputTensor& input : request.infer.inputs) own += input.own.size();
    charge.ShrinkTo(before + own);
    return request;
  } catch (const simdjson::simdjson_error& error) {
    if (error.error() == simdjson::MEMALLOC) throw std::bad_alloc();
    ThrowInvalid("the request is not an inference request: {}", error.what());
  }
}

}  // namespace

RestRequest ReadRequest(std::string_view body, size_t json_size, Charge& charge) {
  if (json_size > body.size()) ThrowInvalid("the JSON has {} bytes, of which only {} came", json_size, body.size());
  return Parse(body, json_size, charge, [](Reader reader) { return reader.Read(); });
}

RestRequest ReadGenerate(std::string_view body, const nlohmann::json& inputs, Charge& charge) {
  return Parse(body, body.size(), charge, [&](Reader reader) { return reader.ReadFields(inputs); });
}

bool ReadIndexRequest(std::string_view body) {
  if (body.empty()) return false;
  try {
    simdjson::dom::parser parser;
    const std::optional<element> ready = Find(parser.parse(body.data(), body.size(), false).get_object(), "ready");
    return ready && static_cast<bool>(*ready);
  } catch (const simdjson::simdjson_error& error) {
    if (error.error() == simdjson::MEMALLOC) throw std::bad_alloc();
    ThrowInvalid("the request is not a request for the index: {}", error.what());
  }
}

namespace {

using base::Quoted;

bool JsonLacks(const Datatype& datatype) {
  return datatype.dtype == WASINN_DTYPE_F16 || datatype.dtype == WASINN_DTYPE_BF16;
}

bool GoesAsBytes(const RestRequest& request, const OutputTensor& output) {
  return request.IsBinary(output.name) || JsonLacks(*output.datatype);
}

std::string Head(const RestRequest& request, const InferResponse& response) {
  std::string text =
      fmt::format(R"({{"model_name":{},"model_version":{})", Quoted(response.model), Quoted(response.version));
  if (!request.id.empty()) text += fmt::format(R"(,"id":{})", Quoted(request.id));
  return text;
}

}  // namespace

RestResponse WriteResponse(const RestRequest& request, InferResponse response, Charge& charge) {
  const uint64_t before = charge.bytes();
  uint64_t most_json = 0, binary = 0;
  for (const OutputTensor& output : response.outputs) {
    (GoesAsBytes(request, output) ? binary += output.bytes.size() : most_json += MaxJson(output));
  }
  if (!charge.Add(most_json + binary)) throw NoMemory();
  RestResponse written;
  std::string& text = written.json;
  text.reserve(most_json + 256);  // the system only provides the written part of it
  text += Head(request, response) + R"(,"outputs":[)";
  for (OutputTensor& output : response.outputs) {
    if (text.back() != '[') text += ',';
    text += fmt::format(R"({{"name":{},"datatype":"{}","shape":[{}],)", Quoted(output.name), output.datatype->name,
                        fmt::join(output.shape, ","));
    if (GoesAsBytes(request, output)) {
      text += fmt::format(R"("parameters":{{"binary_data_size":{}}}}})", output.bytes.size());
      written.binary.push_back(std::move(output));
    } else {
      text += R"("data":)";
      AppendJson(text, output);
      text += '}';
      output = {};  // its bytes are not needed any more
    }
  }
  text += "]}";
  charge.ShrinkTo(before + text.size() + binary);
  return written;
}

std::string WriteGenerated(const RestRequest& request, const InferResponse& response, Charge& charge) {
  const uint64_t before = charge.bytes();
  uint64_t most = 0;
  for (const OutputTensor& output : response.outputs) most += MaxJson(output);
  if (!charge.Add(most)) throw NoMemory();
  std::string text = Head(request, response);
  for (const OutputTensor& output : response.outputs) {
    if (JsonLacks(*output.datatype)) {
      ThrowInvalid("output '{}' is of {}, which JSON has not", output.name, output.datatype->name);
    }
    text += fmt::format(",{}:", Quoted(output.name));
    const size_t begin = text.size();
    AppendJson(text, output);
    if (std::ranges::any_of(output.shape, [](int64_t dim) { return dim != 1; })) continue;
    text.erase(begin, 1);  // the array around one element
    text.pop_back();
  }
  text += '}';
  charge.ShrinkTo(before + text.size());
  return text;
}

}  // namespace wasinn::serve
