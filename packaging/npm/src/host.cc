#include <map>
#include <utility>
#include <vector>

#include "arguments.h"
#include "objects.h"

namespace wasinn::node {
namespace {

void Throw(Napi::Env env, const Status& status) { ToError(env, status).ThrowAsJavaScriptException(); }

// A missing key keeps its default.
template <typename T>
bool Option(const Napi::Object& object, const char* name, T& option) {
  const Napi::Value value = object.Get(name);
  return value.IsUndefined() ? !object.Env().IsExceptionPending() : Read(value, option);
}

bool Flag(const Napi::Object& object, const char* name) {
  const Napi::Value value = object.Get(name);
  return value.IsBoolean() && value.As<Napi::Boolean>().Value();
}

// Calls a function of JavaScript with the messages of the library's log, from any thread. It does not keep the program running.
LogFunction LogTo(Napi::Env env, const Napi::Function& function) {
  using ThreadSafe = Napi::ThreadSafeFunction;
  ThreadSafe called = ThreadSafe::New(env, function, "wasinn log", 0, 1);
  called.Unref(env);
  std::shared_ptr<ThreadSafe> shared(new ThreadSafe(called), [](ThreadSafe* last) {
    last->Release();
    delete last;
  });
  return [shared](const wasinn_log_record& record) {
    auto* line = new std::pair<uint32_t, std::string>(record.level, record.message);
    const auto call = [](Napi::Env inside, Napi::Function log, std::pair<uint32_t, std::string>* what) {
      log.Call({Napi::Number::New(inside, what->first), Napi::String::New(inside, what->second)});
      delete what;
    };
    if (shared->NonBlockingCall(line, call) != napi_ok) delete line;
  };
}

// [["text", toml], ["file", path], ["set", key, value], …], in this order. Returns false if an exception is pending.
bool Configure(Napi::Env env, Config& config, const Napi::Value& entries) {
  Napi::Array list, entry;
  bool typed = Read(entries, list);
  for (uint32_t i = 0; typed && i < list.Length(); ++i) {
    std::string kind, first, value;
    typed = Read(list.Get(i), entry) && Read(entry.Get(0u), kind) && Read(entry.Get(1u), first);
    if (typed && kind == "set") typed = Read(entry.Get(2u), value);
    if (!typed) break;
    const Status status = kind == "text"   ? config.LoadToml(first)
                          : kind == "file" ? config.LoadFile(first)
                                           : config.Set(first, value);
    if (status.ok()) continue;
    Throw(env, status);
    return false;
  }
  if (!typed) ThrowWrongType(env);
  return typed;
}

Napi::Array ToArray(Napi::Env env, const std::vector<std::map<std::string, Napi::Value>>& rows) {
  Napi::Array array = Napi::Array::New(env, rows.size());
  for (uint32_t i = 0; i < rows.size(); ++i) {
    Napi::Object object = Napi::Object::New(env);
    for (const auto& [name, value] : rows[i]) object.Set(name, value);
    array.Set(i, object);
  }
  return array;
}

}  // namespace

Napi::Error ToError(Napi::Env env, const Status& status) {
  Napi::Error error = Napi::Error::New(env, status.message());
  error.Set("code", Napi::String::New(env, wasinn_code_name(status.code())));
  if (*status.backend() != '\0') error.Set("backend", Napi::String::New(env, status.backend()));
  return error;
}

Napi::Function HostObject::Define(Napi::Env env) {
  return DefineClass(
      env, "NativeHost",
      {InstanceMethod("addModel", &HostObject::AddModel), InstanceMethod("addModels", &HostObject::AddModels),
       InstanceMethod("removeModel", &HostObject::RemoveModel), InstanceMethod("models", &HostObject::Models),
       InstanceMethod("backends", &HostObject::Backends), InstanceMethod("metrics", &HostObject::Metrics)});
}

// (entries, log or undefined)
HostObject::HostObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<HostObject>(info) {
  Config config;
  if (!Configure(info.Env(), config, info[0])) return;
  LogFunction log = info[1].IsFunction() ? LogTo(info.Env(), info[1].As<Napi::Function>()) : LogFunction();
  Result<Host> host = Host::Create(config, std::move(log));
  if (!host) {
    Throw(info.Env(), host.status());
    return;
  }
  host_ = std::make_shared<Host>(*std::move(host));
}

// (name, options)
void HostObject::AddModel(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  std::string name, path, encoding, config, target;
  Napi::Object given;
  ModelOptions options;
  if (!Read(info[0], name) || !Read(info[1], given) || !Option(given, "path", path) ||
      !Option(given, "encoding", encoding) || !Option(given, "config", config) || !Option(given, "target", target) ||
      !Option(given, "version", options.version) || !Option(given, "warmUp", options.warm_up))
    return ThrowWrongType(env);
  options.path = path;
  options.encoding = encoding;
  options.config = config;
  options.isolate = Flag(given, "isolate");
  options.immutable = Flag(given, "immutable");
  options.preload = Flag(given, "preload");
  Status status(target.empty() ? nullptr : wasinn_target_parse(target.c_str(), &options.target));
  if (!status.ok()) return Throw(env, status);
  Napi::Array parts;
  if (!Option(given, "parts", parts)) return ThrowWrongType(env);
  for (uint32_t i = 0; !parts.IsEmpty() && i < parts.Length(); ++i) {
    Bytes part;
    if (!Read(parts.Get(i), part)) return ThrowWrongType(env);
    options.builders.push_back({part.data, part.size});
  }
  status = host_->AddModel(name, options);
  if (!status.ok()) Throw(env, status);
}

void HostObject::AddModels(const Napi::CallbackInfo& info) {
  std::string text;
  if (!Read(info[0], text)) return ThrowWrongType(info.Env());
  const Status status = host_->AddModels(text);
  if (!status.ok()) Throw(info.Env(), status);
}

void HostObject::RemoveModel(const Napi::CallbackInfo& info) {
  std::string text;
  if (!Read(info[0], text)) return ThrowWrongType(info.Env());
  const Status status = host_->RemoveModel(text);
  if (!status.ok()) Throw(info.Env(), status);
}

Napi::Value HostObject::Models(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  std::vector<std::map<std::string, Napi::Value>> rows;
  for (const ModelInfo& model : host_->Models()) {
    rows.push_back({{"name", Napi::String::New(env, model.name)},
                    {"version", Napi::Number::New(env, model.version)},
                    {"encoding", Napi::String::New(env, model.encoding)},
                    {"target", Napi::String::New(env, wasinn_target_name(model.target))},
                    {"path", Napi::String::New(env, model.path)},
                    {"loaded", Napi::Boolean::New(env, model.loaded)},
                    {"backend", Napi::String::New(env, model.backend)}});
  }
  return ToArray(env, rows);
}

Napi::Value HostObject::Backends(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  std::vector<std::map<std::string, Napi::Value>> rows;
  for (const BackendReport& backend : host_->Backends()) {
    rows.push_back({{"name", Napi::String::New(env, backend.name)},
                    {"encodings", Napi::String::New(env, backend.encodings)},
                    {"available", Napi::Boolean::New(env, backend.available)},
                    {"framework", Napi::String::New(env, backend.framework)},
                    {"devices", Napi::String::New(env, backend.devices)},
                    {"library", Napi::String::New(env, backend.library)},
                    {"missing", Napi::String::New(env, backend.missing)},
                    {"install", Napi::String::New(env, backend.install)},
                    {"lookedFor", Napi::String::New(env, backend.looked_for)}});
  }
  return ToArray(env, rows);
}

Napi::Value HostObject::Metrics(const Napi::CallbackInfo& info) {
  const Result<std::string> metrics = host_->Metrics();
  if (metrics) return Napi::String::New(info.Env(), *metrics);
  Throw(info.Env(), metrics.status());
  return info.Env().Undefined();
}

}  // namespace wasinn::node
