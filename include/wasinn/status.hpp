// wasinn/status.hpp - Status and Result of wasinn.hpp, which includes this.
#ifndef WASINN_STATUS_HPP_
#define WASINN_STATUS_HPP_

#include <wasinn/wasinn.h>

#include <cassert>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace wasinn {

// The version of the library that is loaded: "0.1.0".
inline const char* Version() { return wasinn_version(); }

using Code = wasinn_code;
using Dtype = wasinn_dtype;
using Target = wasinn_target;
using LogLevel = wasinn_log_level;

// Names as in the command line and in messages: "invalid_argument", "f32", "cpu".
inline const char* CodeName(Code code) { return wasinn_code_name(code); }
inline const char* DtypeName(Dtype dtype) { return wasinn_dtype_name(dtype); }
inline const char* TargetName(Target target) { return wasinn_target_name(target); }

namespace internal {
template <auto kFree>
struct Free {
  template <typename T>
  void operator()(T* object) const {
    kFree(object);
  }
};

inline std::string ToString(const char* text) { return text == nullptr ? std::string() : std::string(text); }
}  // namespace internal

// The outcome of a call: success, or a code and a message.
class [[nodiscard]] Status {
 public:
  // Success.
  Status() = default;
  // Owns the status that a function of wasinn.h returned. NULL is success.
  explicit Status(wasinn_status* status) : status_(status) {}

  bool ok() const { return status_ == nullptr; }
  explicit operator bool() const { return ok(); }
  Code code() const { return wasinn_status_code(status_.get()); }
  // "" for success. The text lives as long as this object.
  const char* message() const { return wasinn_status_message(status_.get()); }
  // The backend that reported the error, "" if none did.
  const char* backend() const { return wasinn_status_backend(status_.get()); }

  const wasinn_status* get() const { return status_.get(); }
  // Gives the C object to the caller, for a function that returns a wasinn_status itself.
  wasinn_status* release() { return status_.release(); }

 private:
  std::unique_ptr<wasinn_status, internal::Free<wasinn_status_free>> status_;
};

// A value, or a Status that reports why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  // Not explicit, so that a function can end with `return value;` or `return status;`. The status must not be ok().
  Result(T value) : result_(std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : result_(std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(result_); }
  explicit operator bool() const { return ok(); }

  // Only if ok().
  T& value() & {
    assert(ok());
    return *std::get_if<T>(&result_);
  }
  const T& value() const& {
    assert(ok());
    return *std::get_if<T>(&result_);
  }
  T value() && { return std::move(value()); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T operator*() && { return std::move(value()); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Why there is no value; a success if there is one. To return it, write std::move(result).status().
  const Status& status() const& {
    static const Status success;
    const Status* status = std::get_if<Status>(&result_);
    return status != nullptr ? *status : success;
  }
  Status status() && {
    Status* status = std::get_if<Status>(&result_);
    return status != nullptr ? std::move(*status) : Status();
  }

 private:
  std::variant<T, Status> result_;
};

namespace internal {
// An error if `text` has a NUL inside: as a C string it would end there.
inline Status CheckText(const char* what, const std::string& text) {
  const size_t nul = text.find('\0');
  if (nul == std::string::npos) return Status();
  const std::string message = std::string(what) + " has a NUL inside, after '" + text.substr(0, nul) + "'";
  return Status(wasinn_status_new(WASINN_ERROR_INVALID_ARGUMENT, message.c_str()));
}

inline Status CheckTexts(const char* what, const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    if (Status status = CheckText(what, text); !status.ok()) return status;
  }
  return Status();
}

inline Status CheckTexts(const char* what, const std::map<std::string, std::string>& names) {
  for (const auto& [model, pipeline] : names) {
    if (Status status = CheckText(what, model); !status.ok()) return status;
    if (Status status = CheckText(what, pipeline); !status.ok()) return status;
  }
  return Status();
}

// Calls the function of wasinn.h with the C string of `text`.
template <typename Function>
Status CallWith(const char* what, const std::string& text, Function function) {
  if (Status status = CheckText(what, text); !status.ok()) return status;
  return Status(function(text.c_str()));
}
}  // namespace internal

}  // namespace wasinn

#endif  // WASINN_STATUS_HPP_
