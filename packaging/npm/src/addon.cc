#include "objects.h"

namespace {

Napi::Object Init(Napi::Env env, Napi::Object exports) {
  exports.Set("version", Napi::String::New(env, wasinn_version()));
  exports.Set("NativeHost", wasinn::node::HostObject::Define(env));
  exports.Set("NativeGuest", wasinn::node::GuestObject::Define(env));
  return exports;
}

}  // namespace

NODE_API_MODULE(wasinn, Init)
