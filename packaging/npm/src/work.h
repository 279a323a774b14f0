// A call on a thread of Node's pool, as a promise.
#pragma once

#include <napi.h>

#include <functional>
#include <memory>
#include <utility>
#include <wasinn/wasinn.hpp>

#include "objects.h"

namespace wasinn::node {

// Does nothing in a worker thread that was terminated: running calls still complete there, but nothing waits for them.
inline bool RunsJavaScript(Napi::Env env) {
  napi_value object = nullptr;
  bool has = false;
  return napi_create_object(env, &object) == napi_ok && napi_has_named_property(env, object, "x", &has) == napi_ok;
}

template <typename T>
class Work : public Napi::AsyncWorker {
 public:
  using Call = std::function<Result<T>()>;
  using Convert = std::function<Napi::Value(Napi::Env, T&)>;

  // The captures of `call` live until the promise is settled.
  static Napi::Promise Begin(Napi::Env env, Call call, Convert convert) {
    auto* work = new Work(env, std::move(call), std::move(convert));  // deletes itself
    const Napi::Promise promise = work->deferred_.Promise();
    work->Queue();
    return promise;
  }

 private:
  Work(Napi::Env env, Call call, Convert convert)
      : Napi::AsyncWorker(env),
        call_(std::move(call)),
        convert_(std::move(convert)),
        deferred_(Napi::Promise::Deferred::New(env)) {}

  void Execute() override { result_ = std::make_unique<Result<T>>(call_()); }
  void OnOK() override {
    if (!RunsJavaScript(Env())) return;
    if (result_->ok()) {
      deferred_.Resolve(convert_(Env(), **result_));
    } else {
      deferred_.Reject(ToError(Env(), result_->status()).Value());
    }
  }

  Call call_;
  Convert convert_;
  Napi::Promise::Deferred deferred_;
  std::unique_ptr<Result<T>> result_;  // set once it was called
};

}  // namespace wasinn::node
