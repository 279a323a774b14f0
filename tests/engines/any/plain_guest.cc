#include "engines/any/plain_guest.h"

namespace wasinn::testing {
namespace {

constexpr char kWitx[] = "wasi_ephemeral_nn.", kExt[] = "wasinn_ext_0.", kLegacy[] = "wasi_nn.";

template <typename T>
void Put(std::string& bytes, uint32_t address, const T& values) {
  std::memcpy(bytes.data() + address, values.data(), values.size() * sizeof(values[0]));
}

using Words = std::vector<uint32_t>;

std::string Records(const std::string& model) {
  std::string bytes(place::kRecordsEnd, '\0');
  Put(bytes, place::kName, std::string("model"));
  Put(bytes, place::kConfig, std::string("{}"));
  Put(bytes, place::kInputName, std::string("0"));
  Put(bytes, place::kFormat, std::string("ggml"));
  Put(bytes, place::kDims, Words{1, 3, 8, 8});
  Put(bytes, place::kTensor, Words{place::kDims, 4, kF32, place::kData, place::kDataSize});
  Put(bytes, place::kBuilders, Words{place::kModel, static_cast<uint32_t>(model.size())});
  Put(bytes, place::kLegacyArray, Words{place::kBuilders, 1});
  Put(bytes, place::kLegacyDims, Words{place::kDims, 4});
  Put(bytes, place::kLegacyTensor, Words{place::kLegacyDims, 1, place::kData});
  Put(bytes, place::kSize, Words{place::kBufferSize / sizeof(float)});
  Put(bytes, place::kOnceInput, Words{0, 0, place::kDims, 4, kF32, place::kData, place::kDataSize});
  Put(bytes, place::kOnceOutput, Words{place::kInputName, 1, place::kBuffer, place::kBufferSize, 0});
  return bytes;
}

std::string NameOf(const wasinn_function& function) { return std::string(function.module) + "." + function.name; }

void CopyIn(const wasinn_memory& memory, uint32_t address, const std::string& bytes, size_t from = 0) {
  if (address >= memory.size || from >= bytes.size()) return;
  std::memcpy(memory.base + address, bytes.data() + from,
              std::min<uint64_t>(bytes.size() - from, memory.size - address));
}

}  // namespace

std::vector<wasinn_function> AllFunctions() {
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  std::vector<wasinn_function> all;
  for (size_t i = 0; i < count; ++i) all.push_back(*functions[i]);
  return all;
}

const wasinn_function& Find(const std::string& module, const std::string& name) {
  size_t count = 0;
  const wasinn_function* const* functions = wasinn_functions(&count);
  const wasinn_function* const* found = std::find_if(functions, functions + count, [&](const auto* function) {
    return module == function->module && name == function->name;
  });
  EXPECT_NE(found, functions + count) << module << "." << name;
  return **found;
}

PlainGuest::PlainGuest(wasinn_host* host)
    : guest_(NewGuest(host)), model_(EchoModel(kPlainModel)), records_(Records(model_)) {
  for (uint32_t i = 0; i < place::kDataSize / sizeof(float); ++i) {
    const float value = static_cast<float>(i) / 8;
    data_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  std::vector<uint8_t> bytes(place::kEnd);
  const wasinn_memory memory = {sizeof(wasinn_memory), 0, bytes.data(), bytes.size()};
  Fill(memory);
  const auto call = [&](const char* name, const char* module = "wasi_ephemeral_nn") {
    const wasinn_function& function = Find(module, name);
    honest_ = HonestCalls();  // with the handles that there are so far
    EXPECT_EQ(Call(function, memory, Honest(function)), kSuccess) << name;
    uint32_t out = 0;
    std::memcpy(&out, bytes.data() + place::kOut, sizeof out);
    return out;
  };
  graph_ = call("load_by_name");
  context_ = begun_ = call("init_execution_context");
  call("set_input");
  call("compute_begin", "wasinn_ext_0");
  Put(records_, place::kContexts, Words{begun_});
  Fill(memory, true);
  call("compute_wait", "wasinn_ext_0");
  context_ = call("init_execution_context");
  call("set_input");
  call("compute");
  call("compute_single");
  honest_ = HonestCalls();
}

void PlainGuest::Fill(const wasinn_memory& memory, bool records_only) const {
  CopyIn(memory, place::kRecords, records_, place::kRecords);
  if (records_only) return;
  CopyIn(memory, place::kData, data_);
  CopyIn(memory, place::kModel, model_);
}

std::map<std::string, Args> PlainGuest::HonestCalls() const {
  const auto name = [](const char* module, const char* function_name) { return std::string(module) + function_name; };
  return {{name(kWitx, "load"), {place::kBuilders, 1, kGgmlEncoding, 0, place::kOut}},
          {name(kWitx, "load_by_name"), {place::kName, 5, place::kOut}},
          {name(kWitx, "init_execution_context"), {graph_, place::kOut}},
          {name(kWitx, "set_input"), {context_, 0, place::kTensor}},
          {name(kWitx, "compute"), {context_}},
          {name(kWitx, "get_output"), {context_, 0, place::kBuffer, place::kBufferSize, place::kWritten}},
          {name(kWitx, "load_by_name_with_config"), {place::kName, 5, place::kConfig, 2, place::kOut}},
          {name(kWitx, "unload"), {graph_}},
          {name(kWitx, "finalize_execution_context"), {context_}},
          {name(kWitx, "compute_single"), {context_}},
          {name(kWitx, "get_output_single"), {context_, 0, place::kBuffer, place::kBufferSize, place::kWritten}},
          {name(kWitx, "fini_single"), {context_}},
          {name(kExt, "last_error"), {place::kBuffer, place::kBufferSize, place::kWritten}},
          {name(kExt, "describe"), {graph_, place::kBuffer, place::kBufferSize, place::kWritten}},
          {name(kExt, "load_as"), {place::kBuilders, 1, place::kFormat, 4, 0, place::kOut}},
          {name(kExt, "set_input_by_name"), {context_, place::kInputName, 1, place::kTensor}},
          {name(kExt, "get_output_by_name"),
           {context_, place::kInputName, 1, place::kBuffer, place::kBufferSize, place::kWritten}},
          {name(kExt, "set_input_from_output"), {context_, 0, context_, 0}},
          {name(kExt, "set_output"), {context_, 0, place::kBuffer, place::kBufferSize, place::kWritten}},
          {name(kExt, "set_output_by_name"),
           {context_, place::kInputName, 1, place::kBuffer, place::kBufferSize, place::kWritten}},
          {name(kExt, "compute_once"), {graph_, place::kOnceInput, 1, place::kOnceOutput, 1}},
          {name(kExt, "compute_begin"), {context_}},
          {name(kExt, "compute_poll"), {begun_}},
          {name(kExt, "compute_cancel"), {begun_}},
          {name(kExt, "compute_wait"), {place::kContexts, 1, UINT32_MAX, place::kOut}},
          {name(kLegacy, "load"), {place::kLegacyArray, kGgmlEncoding, 0, place::kOut}},
          {name(kLegacy, "load_by_name"), {place::kName, 5, place::kOut}},
          {name(kLegacy, "init_execution_context"), {graph_, place::kOut}},
          {name(kLegacy, "set_input"), {context_, 0, place::kLegacyTensor}},
          {name(kLegacy, "compute"), {context_}},
          {name(kLegacy, "get_output"), {context_, 0, place::kBuffer, place::kSize}}};
}

Args PlainGuest::Honest(const wasinn_function& function) const {
  const auto found = honest_.find(NameOf(function));
  EXPECT_NE(found, honest_.end()) << NameOf(function) << " is new: say here how it is called";
  return found == honest_.end() ? Args{} : found->second;
}

uint32_t PlainGuest::Expected(const wasinn_function& function) {
  // The model does not take its own output.
  return std::string_view(function.name) == "set_input_from_output" ? kInvalidArgument : kSuccess;
}

std::string PlainGuest::Infer() const {
  std::vector<uint8_t> bytes(place::kEnd);
  const wasinn_memory memory = {sizeof(wasinn_memory), 0, bytes.data(), bytes.size()};
  Fill(memory);
  const auto word = [&](uint32_t address) {
    uint32_t value = 0;
    std::memcpy(&value, bytes.data() + address, sizeof value);
    return value;
  };
  const auto call = [&](const char* name, const Args& args) {
    EXPECT_EQ(Call(Find("wasi_ephemeral_nn", name), memory, args), kSuccess) << name;
  };
  call("load_by_name", {place::kName, 5, place::kOut});
  call("init_execution_context", {word(place::kOut), place::kOut});
  const uint32_t context = word(place::kOut);
  call("set_input", {context, 0, place::kTensor});
  call("compute", {context});
  call("get_output", {context, 0, place::kBuffer, place::kBufferSize, place::kWritten});
  return {reinterpret_cast<const char*>(bytes.data()) + place::kBuffer, word(place::kWritten)};
}

}  // namespace wasinn::testing
