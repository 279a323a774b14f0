// The host and the guest behind JavaScript's classes, and calls that run on a thread of Node's pool.
#pragma once

#include <napi.h>

#include <memory>
#include <optional>
#include <string>
#include <wasinn/wasinn.hpp>

namespace wasinn::node {

// Turns a status into an exception with the name of its code. An exception that is pending when a function returns is
// thrown in JavaScript.
Napi::Error ToError(Napi::Env env, const Status& status);

// Each is freed with its last user: the object of JavaScript, or a running call.
class HostObject : public Napi::ObjectWrap<HostObject> {
 public:
  static Napi::Function Define(Napi::Env env);
  explicit HostObject(const Napi::CallbackInfo& info);
  const std::shared_ptr<Host>& host() const { return host_; }

 private:
  void AddModel(const Napi::CallbackInfo& info);
  void AddModels(const Napi::CallbackInfo& info);
  void RemoveModel(const Napi::CallbackInfo& info);
  Napi::Value Models(const Napi::CallbackInfo& info);
  Napi::Value Backends(const Napi::CallbackInfo& info);
  Napi::Value Metrics(const Napi::CallbackInfo& info);

  std::shared_ptr<Host> host_;
};

class GuestObject : public Napi::ObjectWrap<GuestObject> {
 public:
  static Napi::Function Define(Napi::Env env);
  explicit GuestObject(const Napi::CallbackInfo& info);

 private:
  void Close(const Napi::CallbackInfo& info);
  Napi::Value LoadByName(const Napi::CallbackInfo& info);
  Napi::Value Load(const Napi::CallbackInfo& info);
  Napi::Value Describe(const Napi::CallbackInfo& info);
  Napi::Value Context(const Napi::CallbackInfo& info);
  Napi::Value Compute(const Napi::CallbackInfo& info);
  void DropGraph(const Napi::CallbackInfo& info);
  void DropContext(const Napi::CallbackInfo& info);

  std::shared_ptr<Guest> guest_;
};

}  // namespace wasinn::node
