#include "calls.h"

#include <iterator>
#include <utility>

namespace wasinn::node {
namespace {

// A view, which is released at the end.
class View {
 public:
  View() = default;
  View(const View&) = delete;
  View& operator=(const View&) = delete;
  ~View() {
    if (view_.release != nullptr) view_.release(view_.owner);
  }
  wasinn_wit_view* out() { return &view_; }
  template <typename T>
  const T* begin() const {
    return static_cast<const T*>(view_.data);
  }
  template <typename T>
  std::vector<T> Copy() const {
    return std::vector<T>(begin<T>(), begin<T>() + view_.count);
  }
  std::string Text() const { return std::string(begin<char>(), view_.count); }
  size_t count() const { return view_.count; }

 private:
  wasinn_wit_view view_ = {};
};

// The code of a WIT error, by the position of its case.
wasinn_code CodeOf(uint32_t error_code) {
  constexpr wasinn_code kCodes[] = {
      WASINN_ERROR_INVALID_ARGUMENT,      WASINN_ERROR_INVALID_ENCODING, WASINN_ERROR_TIMEOUT,   WASINN_ERROR_RUNTIME,
      WASINN_ERROR_UNSUPPORTED_OPERATION, WASINN_ERROR_TOO_LARGE,        WASINN_ERROR_NOT_FOUND, WASINN_ERROR_SECURITY};
  return error_code < std::size(kCodes) ? kCodes[error_code] : WASINN_ERROR_RUNTIME;
}

Status ErrorOf(Guest& guest, uint32_t error) {
  const wasinn_wit_functions& wit = *wasinn_wit();
  uint32_t code = 0;
  std::string message;
  {
    View view;
    Status status(wit.error_code(guest.get(), error, &code));
    if (status.ok()) status = Status(wit.error_data(guest.get(), error, view.out()));
    if (!status.ok()) return status;
    message = view.Text();
  }
  wasinn_status_free(wit.error_drop(guest.get(), error));
  return Status(wasinn_status_new(CodeOf(code), message.c_str()));
}

Result<uint32_t> Rep(Guest& guest, wasinn_status* trap, const wasinn_wit_result& result) {
  Status status(trap);
  if (!status.ok()) return status;
  if (result.is_error != 0) return ErrorOf(guest, result.rep);
  return result.rep;
}

// Returns the tensor's content, and drops the tensor.
Result<Tensor> Take(Guest& guest, uint32_t rep) {
  const wasinn_wit_functions& wit = *wasinn_wit();
  Tensor tensor;
  Status status;
  {
    View dimensions;
    View data;
    status = Status(wit.tensor_type(guest.get(), rep, &tensor.type));
    if (status.ok()) status = Status(wit.tensor_dimensions(guest.get(), rep, dimensions.out()));
    if (status.ok()) status = Status(wit.tensor_data(guest.get(), rep, data.out()));
    if (status.ok()) {
      tensor.dimensions = dimensions.Copy<uint32_t>();
      tensor.data = data.Copy<uint8_t>();
    }
  }
  wasinn_status_free(wit.tensor_drop(guest.get(), rep));
  if (!status.ok()) return status;
  return tensor;
}

}  // namespace

Result<uint32_t> LoadByName(Guest& guest, const std::string& name, const std::string& config) {
  const wasinn_wit_functions& wit = *wasinn_wit();
  wasinn_wit_result result = {};
  wasinn_status* trap = config.empty() ? wit.graph_load_by_name(guest.get(), name.data(), name.size(), &result)
                                       : wit.graph_load_by_name_with_config(guest.get(), name.data(), name.size(),
                                                                            config.data(), config.size(), &result);
  return Rep(guest, trap, result);
}

Result<uint32_t> Load(Guest& guest, const std::vector<std::vector<uint8_t>>& parts, const std::string& encoding,
                      Target target) {
  std::vector<wasinn_bytes> bytes;
  bytes.reserve(parts.size());
  for (const std::vector<uint8_t>& part : parts) bytes.push_back({part.data(), part.size()});
  wasinn_wit_result result = {};
  wasinn_status* trap = wasinn_wit()->graph_load_as(guest.get(), bytes.data(), bytes.size(), encoding.data(),
                                                    encoding.size(), target, &result);
  return Rep(guest, trap, result);
}

Result<std::string> Describe(Guest& guest, uint32_t graph) {
  View view;
  Status status(wasinn_wit()->describe(guest.get(), graph, view.out()));
  if (!status.ok()) return status;
  return view.Text();
}

Result<uint32_t> NewContext(Guest& guest, uint32_t graph) {
  wasinn_wit_result result = {};
  wasinn_status* trap = wasinn_wit()->graph_init_execution_context(guest.get(), graph, &result);
  return Rep(guest, trap, result);
}

Result<uint32_t> NewTensor(Guest& guest, uint32_t type, const std::vector<uint32_t>& dimensions, const uint8_t* data,
                           size_t size) {
  uint32_t rep = 0;
  Status status(wasinn_wit()->tensor_new(guest.get(), dimensions.data(), dimensions.size(), type, data, size, &rep));
  if (!status.ok()) return status;
  return rep;
}

Result<std::vector<NamedTensor>> Compute(Guest& guest, uint32_t context, const std::vector<Named>& inputs) {
  std::vector<wasinn_wit_named_tensor> named;
  named.reserve(inputs.size());
  for (const Named& input : inputs) named.push_back({input.name.data(), input.name.size(), input.rep});
  wasinn_wit_result result = {};
  std::vector<Named> outputs;
  {
    View view;
    wasinn_status* trap =
        wasinn_wit()->context_compute(guest.get(), context, named.data(), named.size(), &result, view.out());
    if (Result<uint32_t> done = Rep(guest, trap, result); !done) return std::move(done).status();
    const auto* first = view.begin<wasinn_wit_named_tensor>();
    for (size_t i = 0; i < view.count(); ++i) outputs.push_back({{first[i].name, first[i].name_size}, first[i].tensor});
  }
  std::vector<NamedTensor> tensors;
  Status failed;
  for (Named& output : outputs) {  // all are dropped, even after an error
    Result<Tensor> tensor = Take(guest, output.rep);
    if (tensor.ok()) {
      tensors.push_back({std::move(output.name), *std::move(tensor)});
    } else if (failed.ok()) {
      failed = std::move(tensor).status();
    }
  }
  if (!failed.ok()) return failed;
  return tensors;
}

}  // namespace wasinn::node
