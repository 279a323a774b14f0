// One inference in the Open Inference Protocol's words, for any transport.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <wasinn/wasinn.hpp>

#include "oip/datatype.h"
#include "serve/tenants/memory_budget.h"

namespace wasinn::serve {

using oip::AppendElement, oip::Bytes, oip::CountElements, oip::Datatype, oip::Elements, oip::FindDatatype,
    oip::kLengthBytes, oip::OfWit, oip::OnlyElement;

// Why a request failed: functions throw it. The code shows the cause, and so the client's status.
struct Failure {
  wasinn_code code;
  std::string message;
};
inline Failure Invalid(std::string message) { return {WASINN_ERROR_INVALID_ARGUMENT, std::move(message)}; }
// No one is at fault, and a retry may succeed.
inline Failure TryAgain(std::string message) { return {WASINN_ERROR_BUSY, std::move(message)}; }
inline Failure NoMemory() { return TryAgain("requests and responses have reached their limit of memory"); }
inline Failure ClientGone() { return {WASINN_ERROR_UNAVAILABLE, "the client has gone"}; }
inline Failure ToFailure(const Status& status) { return {status.code(), status.message()}; }
inline Failure OutOfMemory() { return {WASINN_ERROR_UNAVAILABLE, "the server is out of memory"}; }
// Throw(WASINN_ERROR_NOT_FOUND, "there is no model '{}'", name)
template <typename... Args>
[[noreturn]] void Throw(wasinn_code code, fmt::format_string<Args...> format, Args&&... args) {
  throw Failure{code, fmt::format(format, std::forward<Args>(args)...)};
}
template <typename... Args>
[[noreturn]] void ThrowInvalid(fmt::format_string<Args...> format, Args&&... args) {
  Throw(WASINN_ERROR_INVALID_ARGUMENT, format, std::forward<Args>(args)...);
}
template <typename T>
T OrThrow(Result<T> result) {
  if (!result) throw ToFailure(result.status());
  return std::move(*result);
}
inline void OrThrow(const Status& status) {
  if (!status.ok()) throw ToFailure(status);
}

template <typename T>
using Outcome = std::expected<T, Failure>;

// The result of `call`, or its failure.
template <typename Call>
Outcome<std::invoke_result_t<Call>> Try(const Call& call) try {
  if constexpr (std::is_void_v<std::invoke_result_t<Call>>) {
    call();
    return {};
  } else {
    return call();
  }
} catch (Failure& failure) {
  return std::unexpected(std::move(failure));
}
template <typename T>
T OrThrow(Outcome<T> outcome) {
  if (!outcome) throw std::move(outcome.error());
  return std::move(*outcome);
}

// The largest request that an I/O thread handles itself.
inline constexpr size_t kMaxInline = 64u << 10;
// The limit of a request's inputs, and of its outputs. More would let a client make the server hold more than it sent.
inline constexpr size_t kMaxTensors = 4096;
// The limit of a client's name for something, in bytes: errors and answers repeat it, up to six times as long.
inline constexpr size_t kMaxName = 4096;
// Throws Failure.
inline std::string ToName(std::string_view given) {
  if (given.size() > kMaxName) ThrowInvalid("a name or an id has more than 4096 bytes");
  return std::string(given);
}

struct InputTensor {
  std::string name;
  const Datatype* datatype = nullptr;
  std::vector<int64_t> shape;
  std::span<const uint8_t> lent;  // of the request's body; or
  std::string own;

  std::span<const uint8_t> bytes() const {
    return own.empty() ? lent : std::span(reinterpret_cast<const uint8_t*>(own.data()), own.size());
  }
};

// Adds a dimension to the tensor.
void AddDim(InputTensor& tensor, int64_t dim);
// The product of its shape; an error if that overflows.
uint64_t CountElements(const InputTensor& tensor);

struct OutputTensor {
  std::string name;
  const Datatype* datatype = nullptr;
  std::vector<int64_t> shape;
  std::span<const uint8_t> bytes;
  std::shared_ptr<const void> owner;  // of the bytes
};

struct InferRequest {
  std::string model, version;  // version "": the default one
  std::vector<InputTensor> inputs;
  std::vector<std::string> outputs;  // empty: all
};

struct InferResponse {
  std::string model, version;
  std::vector<OutputTensor> outputs;
};

// A model's tensor of strings: u8 with one more dimension (WASINN_IO_STRINGS).
struct StringRecords {
  std::vector<uint32_t> shape;
  std::string bytes;
};

// An input of BYTES for a model. Its memory is added to `charge`.
StringRecords ToRecords(const InputTensor& input, Charge& charge);
// Turns an output of u8 into BYTES.
void ToElements(OutputTensor& output);

}  // namespace wasinn::serve
