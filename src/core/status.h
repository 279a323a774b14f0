// The outcome of an operation of the core: success, or a code, a message and the backend that reported it.
#pragma once

#include <fmt/format.h>
#include <wasinn/types.h>

#include <exception>
#include <expected>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace wasinn::core {

// The limit of a message in bytes: it may quote texts of any length from guests and models.
inline constexpr size_t kMaxMessageBytes = 1024;

// The text, or its beginning with a mark that it was cut: at most `most` bytes, and whole characters. Invalid UTF-8 is
// cut anywhere.
std::string Cut(std::string text, size_t most = kMaxMessageBytes);

class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  // The message is cut.
  Status(wasinn_code code, std::string message, std::string backend = {})
      : rep_(std::make_unique<const Rep>(code, Cut(std::move(message)), std::move(backend))) {}
  // So that an error is returned in the same words by functions with a Status and with a Result.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Status(std::unexpected<Status> error) : Status(std::move(error.error())) {}

  bool ok() const { return rep_ == nullptr; }
  wasinn_code code() const { return rep_ ? rep_->code : WASINN_OK; }
  std::string_view message() const { return rep_ ? std::string_view(rep_->message) : std::string_view(); }
  std::string_view backend() const { return rep_ ? std::string_view(rep_->backend) : std::string_view(); }

  // The same error with another message.
  Status With(std::string message) const { return Status(code(), std::move(message), std::string(backend())); }

 private:
  struct Rep {
    wasinn_code code;
    std::string message;
    std::string backend;
  };
  std::unique_ptr<const Rep> rep_;  // NULL: success, so that it costs one pointer
};

// Copies a status, for another caller.
inline Status Copy(const Status& status) { return status.ok() ? Status() : status.With(std::string(status.message())); }

template <typename T>
using Result = std::expected<T, Status>;

// The same outcome; the message of an error names its place first: "place: message".
inline Status At(std::string_view place, Status status) {
  return status.ok() ? std::move(status) : status.With(fmt::format("{}: {}", place, status.message()));
}
template <typename T>
Result<T> At(std::string_view place, Result<T> result) {
  if (!result) result = std::unexpected(At(place, std::move(result.error())));
  return result;
}

// An error with a formatted message: Error(WASINN_ERROR_NOT_FOUND, "no model '{}'", name).
template <typename... Args>
[[gnu::cold]] Status Error(wasinn_code code, fmt::format_string<Args...> format, Args&&... args) {
  return Status(code, fmt::format(format, std::forward<Args>(args)...));
}

// As above, for functions that return a Result.
template <typename... Args>
[[gnu::cold]] std::unexpected<Status> Fail(wasinn_code code, fmt::format_string<Args...> format, Args&&... args) {
  return std::unexpected(Error(code, format, std::forward<Args>(args)...));
}

// Return the error of a Status or Result, as in Abseil and Triton; the second one declares or assigns the value.
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration takes none
#define RETURN_IF_ERROR(expression)                                                                      \
  do {                                                                                                   \
    if (auto its_status = (expression); !its_status.ok()) return std::unexpected(std::move(its_status)); \
  } while (false)
#define ASSIGN_OR_RETURN(declaration, expression) ASSIGN_OR_RETURN_BY(__COUNTER__, declaration, expression)
#define ASSIGN_OR_RETURN_BY(number, declaration, expression) ASSIGN_OR_RETURN_AS(number, declaration, expression)
#define ASSIGN_OR_RETURN_AS(number, declaration, expression)                        \
  auto result_##number = (expression);                                              \
  if (!result_##number) return std::unexpected(std::move(result_##number).error()); \
  declaration = *std::move(result_##number)
// NOLINTEND(bugprone-macro-parentheses)

// The status of a function that may throw.
template <typename Function>
Status Guarded(Function&& function) {
  try {
    return function();  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): it does not see that a Status moves
  } catch (const std::bad_alloc&) {
    return Status(WASINN_ERROR_RUNTIME, "the host is out of memory");
  } catch (const std::exception& error) {
    return Status(WASINN_ERROR_RUNTIME, error.what());
  }
}

// As above. No value: there is no memory, not even for the error.
template <typename Function>
std::optional<Status> TryGuarded(Function&& function) noexcept try {
  return Guarded(function);
} catch (const std::exception&) {
  return std::nullopt;
}

const char* CodeName(wasinn_code code);

// The code of a failure from outside: RUNTIME_ERROR if this version does not know it, or if it is no error.
constexpr wasinn_code FailureCode(uint32_t code) {
  return code != WASINN_OK && code <= WASINN_ERROR_LOST ? static_cast<wasinn_code>(code) : WASINN_ERROR_RUNTIME;
}

}  // namespace wasinn::core
