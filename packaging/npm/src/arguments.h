// Arguments from JavaScript, which are only taken if they have the right type. lib/index.js checks all of them and
// reports errors. Here a wrong one must not end the process, like a conversion of Node-API does that leaves an
// exception behind and continues.
#pragma once

#include <napi.h>

#include <cstdint>
#include <string>

namespace wasinn::node {

// Each returns whether the value has the type. If the value's getter threw, it has not.
inline bool Read(const Napi::Value& value, std::string& text) {
  if (!value.IsString()) return false;
  text = value.As<Napi::String>().Utf8Value();
  return !value.Env().IsExceptionPending();
}

inline bool Read(const Napi::Value& value, uint32_t& number) {
  if (!value.IsNumber()) return false;
  number = value.As<Napi::Number>().Uint32Value();
  return !value.Env().IsExceptionPending();
}

inline bool Read(const Napi::Value& value, Napi::Array& array) {
  if (!value.IsArray()) return false;
  array = value.As<Napi::Array>();
  return true;
}

inline bool Read(const Napi::Value& value, Napi::Object& object) {
  if (!value.IsObject()) return false;
  object = value.As<Napi::Object>();
  return true;
}

struct Bytes {
  const uint8_t* data = nullptr;
  size_t size = 0;
};

inline bool Read(const Napi::Value& value, Bytes& bytes) {
  if (!value.IsTypedArray() || value.As<Napi::TypedArray>().TypedArrayType() != napi_uint8_array) return false;
  const auto array = value.As<Napi::Uint8Array>();
  bytes = {array.Data(), array.ByteLength()};
  return !value.Env().IsExceptionPending();
}

// Throws, unless the reading of the value has already thrown.
inline void ThrowWrongType(Napi::Env env) {
  if (!env.IsExceptionPending())
    Napi::TypeError::New(env, "an argument is of a wrong type").ThrowAsJavaScriptException();
}

inline Napi::Value WrongType(Napi::Env env) {
  ThrowWrongType(env);
  return env.Undefined();
}

}  // namespace wasinn::node
