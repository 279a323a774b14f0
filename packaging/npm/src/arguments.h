// What JavaScript gives, taken only where it is of the type that is wanted. lib/index.js checks all of it and says what is wrong; here a wrong
// one may not end the process, as a conversion of Node-API does that leaves an exception behind and goes on.
#pragma once

#include <napi.h>

#include <cstdint>
#include <string>

namespace wasinn::node {

// Each tells whether the value was one. A value that could not be got, since its getter threw, is none.
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

// Throws, unless what made a value wrong has thrown already.
inline void ThrowWrongType(Napi::Env env) {
  if (!env.IsExceptionPending())
    Napi::TypeError::New(env, "an argument is of a wrong type").ThrowAsJavaScriptException();
}

inline Napi::Value WrongType(Napi::Env env) {
  ThrowWrongType(env);
  return env.Undefined();
}

}  // namespace wasinn::node
