#include "serve/models/wit_calls.h"

namespace wasinn::serve {
namespace {

Failure TakeError(wasinn_guest* guest, uint32_t error) {
  const wasinn_wit_functions& wit = *wasinn_wit();
  uint32_t code = 0;
  wasinn_wit_view data = {};
  if (auto done = ToOutcome(wit.error_status(guest, error, &code)); !done) return done.error();
  if (auto done = ToOutcome(wit.error_data(guest, error, &data)); !done) return done.error();
  const View view(data);
  const std::span<const char> text = view.of<char>();
  Failure failure{static_cast<wasinn_code>(code), {text.begin(), text.end()}};
  wasinn_status_free(wit.error_drop(guest, error));
  return failure;
}

}  // namespace

Outcome<void> ToOutcome(wasinn_status* status) {
  if (status == nullptr) return {};
  Failure failure{wasinn_status_code(status), wasinn_status_message(status)};
  wasinn_status_free(status);
  return std::unexpected(std::move(failure));
}

Outcome<uint32_t> ToOutcome(wasinn_guest* guest, wasinn_status* status, const wasinn_wit_result& result) {
  if (auto done = ToOutcome(status); !done) return std::unexpected(std::move(done.error()));
  if (result.is_error == 0) return result.rep;
  return std::unexpected(TakeError(guest, result.rep));
}

}  // namespace wasinn::serve
