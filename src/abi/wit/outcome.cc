#include "abi/wit/outcome.h"

#include "abi/profiles.h"
#include "core/text.h"

namespace wasinn::abi {

wasinn_status* Trap(const core::Status& status) {
  if (status.ok()) return nullptr;
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): a string's, so with a NUL
  return wasinn_status_new(status.code(), status.message().data());
}

core::Status ToErrorObject(wasinn_guest& guest, const char* function, const core::Status& status,
                           wasinn_wit_result& out) {
  guest.Report(function, status);
  std::string message = core::WithoutPaths(status.message());  // only the log has them
  if (!status.backend().empty()) message = std::string(status.backend()) + ": " + message;
  ASSIGN_OR_RETURN(uint32_t error, guest.NewError(kWit.error(status.code()), status.code(), std::move(message)));
  out = {.is_error = 1, .rep = error};
  return {};
}

}  // namespace wasinn::abi
