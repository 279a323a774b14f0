// Requests and answers of components for the C functions of handler_abi.h.
#pragma once

#include <exception>
#include <vector>

#include "engines/engine.h"
#include "engines/wasmtime/bytes.h"
#include "engines/wasmtime/handler_abi.h"

namespace wasinn::wasmtime {

// Refers to the request.
class RequestToC {
 public:
  explicit RequestToC(const engines::HttpRequest& its) {
    fields_.reserve(its.fields.size());
    for (const auto& [name, value] : its.fields) fields_.push_back({ToC(name), ToC(value)});
    request_ = {sizeof request_,          ToC(its.method), ToC(its.scheme), ToC(its.authority),
                ToC(its.path_with_query), fields_.data(),  fields_.size(),  ToC(its.body)};
  }
  RequestToC(const RequestToC&) = delete;
  RequestToC& operator=(const RequestToC&) = delete;

  const wasinn_http_request* get() const { return &request_; }

 private:
  std::vector<wasinn_http_field> fields_;
  wasinn_http_request request_;
};

// The `user` of an answer's functions. No exception may pass through Rust.
struct Answering {
  engines::HttpSink& sink;

  static engines::HttpSink& SinkOf(void* user) { return static_cast<Answering*>(user)->sink; }
  static bool Begin(void* user, uint32_t status, const wasinn_http_field* fields, size_t n_fields) noexcept try {
    engines::HttpFields list;
    for (size_t i = 0; i < n_fields; ++i) list.emplace_back(FromC(fields[i].name), FromC(fields[i].value));
    return SinkOf(user).Begin(status, list);
  } catch (const std::exception&) {
    return false;
  }
  static bool Write(void* user, wasinn_bytes bytes) { return SinkOf(user).Write(FromC(bytes)); }
  static void Fail(void* user, wasinn_bytes why) { SinkOf(user).Fail(FromC(why)); }
  static void Refuse(void* user, wasinn_bytes why) { SinkOf(user).Refuse(FromC(why)); }
};

inline bool Allows(const engines::HttpPermission& may_send, wasinn_bytes scheme, wasinn_bytes authority) noexcept try {
  return may_send(FromC(scheme), FromC(authority));
} catch (const std::exception&) {
  return false;
}

}  // namespace wasinn::wasmtime
