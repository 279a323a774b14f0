#include <cstring>
#include <utility>
#include <vector>

#include "arguments.h"
#include "calls.h"
#include "objects.h"
#include "work.h"

namespace wasinn::node {
namespace {

bool Read(const Napi::Value& value, std::vector<uint32_t>& dimensions) {
  Napi::Array array;
  if (!node::Read(value, array)) return false;
  dimensions.resize(array.Length());
  for (uint32_t i = 0; i < dimensions.size(); ++i)
    if (!node::Read(array.Get(i), dimensions[i])) return false;
  return true;
}

// Tensors of a guest, which are dropped unless a compute has taken them.
class Inputs {
 public:
  explicit Inputs(std::shared_ptr<Guest> guest) : guest_(std::move(guest)) {}
  ~Inputs() {
    for (const Named& input : inputs_) wasinn_status_free(wasinn_wit()->tensor_drop(guest_->get(), input.rep));
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;

  // [name, type, dimensions, bytes]. The bytes are copied, so JavaScript can change them at once. Returns false if an
  // exception is pending.
  bool Add(Napi::Env env, const Napi::Value& value) {
    Napi::Array given;
    std::string name;
    uint32_t type = 0;
    std::vector<uint32_t> dimensions;
    Bytes bytes;
    if (!node::Read(value, given) || !node::Read(given.Get(0u), name) || !node::Read(given.Get(1u), type) ||
        !Read(given.Get(2u), dimensions) || !node::Read(given.Get(3u), bytes)) {
      ThrowWrongType(env);
      return false;
    }
    Result<uint32_t> rep = NewTensor(*guest_, type, dimensions, bytes.data, bytes.size);
    if (!rep) {
      ToError(env, rep.status()).ThrowAsJavaScriptException();
      return false;
    }
    inputs_.push_back({std::move(name), *rep});
    return true;
  }
  std::vector<Named> Give() { return std::exchange(inputs_, {}); }

 private:
  std::shared_ptr<Guest> guest_;
  std::vector<Named> inputs_;
};

// [[name, type, dimensions, bytes], …]
Napi::Value ToArray(Napi::Env env, std::vector<NamedTensor>& tensors) {
  Napi::Array array = Napi::Array::New(env, tensors.size());
  for (uint32_t i = 0; i < tensors.size(); ++i) {
    const Tensor& tensor = tensors[i].tensor;
    Napi::Array dimensions = Napi::Array::New(env, tensor.dimensions.size());
    for (uint32_t k = 0; k < tensor.dimensions.size(); ++k)
      dimensions.Set(k, Napi::Number::New(env, tensor.dimensions[k]));
    Napi::ArrayBuffer bytes = Napi::ArrayBuffer::New(env, tensor.data.size());
    if (!tensor.data.empty()) std::memcpy(bytes.Data(), tensor.data.data(), tensor.data.size());
    Napi::Array row = Napi::Array::New(env, 4);
    row.Set(0u, Napi::String::New(env, tensors[i].name));
    row.Set(1u, Napi::Number::New(env, tensor.type));
    row.Set(2u, dimensions);
    row.Set(3u, bytes);
    array.Set(i, row);
  }
  return array;
}

Napi::Value ToNumber(Napi::Env env, uint32_t& rep) { return Napi::Number::New(env, rep); }

}  // namespace

Napi::Function GuestObject::Define(Napi::Env env) {
  return DefineClass(
      env, "NativeGuest",
      {InstanceMethod("close", &GuestObject::Close), InstanceMethod("loadByName", &GuestObject::LoadByName),
       InstanceMethod("load", &GuestObject::Load), InstanceMethod("describe", &GuestObject::Describe),
       InstanceMethod("context", &GuestObject::Context), InstanceMethod("compute", &GuestObject::Compute),
       InstanceMethod("dropGraph", &GuestObject::DropGraph), InstanceMethod("dropContext", &GuestObject::DropContext)});
}

// (host, name)
GuestObject::GuestObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<GuestObject>(info) {
  GuestOptions options;
  std::string name;
  Napi::Object object;
  if (!node::Read(info[0], object) || !node::Read(info[1], name)) {
    ThrowWrongType(info.Env());
    return;
  }
  options.name = name;
  HostObject* host = HostObject::Unwrap(object);
  if (host == nullptr || info.Env().IsExceptionPending()) {
    ThrowWrongType(info.Env());
    return;
  }
  Result<Guest> guest = Guest::Create(*host->host(), options);
  if (!guest) {
    ToError(info.Env(), guest.status()).ThrowAsJavaScriptException();
    return;
  }
  guest_ = std::make_shared<Guest>(*std::move(guest));
}

void GuestObject::Close(const Napi::CallbackInfo&) { guest_->Close(); }

// (name, configuration as JSON or "")
Napi::Value GuestObject::LoadByName(const Napi::CallbackInfo& info) {
  std::string name, config;
  if (!node::Read(info[0], name) || !node::Read(info[1], config)) return WrongType(info.Env());
  return Work<uint32_t>::Begin(
      info.Env(), [guest = guest_, name, config] { return node::LoadByName(*guest, name, config); }, ToNumber);
}

// (parts, encoding, target)
Napi::Value GuestObject::Load(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  Napi::Array given;
  std::string encoding, name;
  if (!node::Read(info[0], given) || !node::Read(info[1], encoding) || !node::Read(info[2], name))
    return WrongType(env);
  std::vector<std::vector<uint8_t>> parts;
  for (uint32_t i = 0; i < given.Length(); ++i) {
    Bytes part;
    if (!node::Read(given.Get(i), part)) return WrongType(env);
    parts.emplace_back(part.data, part.data + part.size);
  }
  Target target = WASINN_TARGET_CPU;
  const Status status(wasinn_target_parse(name.c_str(), &target));
  if (!status.ok()) {
    ToError(env, status).ThrowAsJavaScriptException();
    return env.Undefined();
  }
  return Work<uint32_t>::Begin(
      info.Env(),
      [guest = guest_, parts = std::move(parts), encoding, target] {
        return node::Load(*guest, parts, encoding, target);
      },
      ToNumber);
}

// (graph): JSON
Napi::Value GuestObject::Describe(const Napi::CallbackInfo& info) {
  uint32_t graph = 0;
  if (!node::Read(info[0], graph)) return WrongType(info.Env());
  const Result<std::string> text = node::Describe(*guest_, graph);
  if (text) return Napi::String::New(info.Env(), *text);
  ToError(info.Env(), text.status()).ThrowAsJavaScriptException();
  return info.Env().Undefined();
}

// (graph)
Napi::Value GuestObject::Context(const Napi::CallbackInfo& info) {
  uint32_t graph = 0;
  if (!node::Read(info[0], graph)) return WrongType(info.Env());
  const Result<uint32_t> context = NewContext(*guest_, graph);
  if (context) return Napi::Number::New(info.Env(), *context);
  ToError(info.Env(), context.status()).ThrowAsJavaScriptException();
  return info.Env().Undefined();
}

// (context, inputs)
Napi::Value GuestObject::Compute(const Napi::CallbackInfo& info) {
  uint32_t context = 0;
  Napi::Array given;
  if (!node::Read(info[0], context) || !node::Read(info[1], given)) return WrongType(info.Env());
  auto inputs = std::make_shared<Inputs>(guest_);
  for (uint32_t i = 0; i < given.Length(); ++i)
    if (!inputs->Add(info.Env(), given.Get(i))) return info.Env().Undefined();
  return Work<std::vector<NamedTensor>>::Begin(
      info.Env(), [guest = guest_, context, inputs] { return node::Compute(*guest, context, inputs->Give()); },
      ToArray);
}

void GuestObject::DropGraph(const Napi::CallbackInfo& info) {
  uint32_t graph = 0;
  if (!node::Read(info[0], graph)) return ThrowWrongType(info.Env());
  wasinn_status_free(wasinn_wit()->graph_drop(guest_->get(), graph));
}

void GuestObject::DropContext(const Napi::CallbackInfo& info) {
  uint32_t context = 0;
  if (!node::Read(info[0], context)) return ThrowWrongType(info.Env());
  wasinn_status_free(wasinn_wit()->context_drop(guest_->get(), context));
}

}  // namespace wasinn::node
