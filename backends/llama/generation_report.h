// The effective settings of a generation.
#pragma once

#include <span>
#include <string>

#include "common/reservation.h"
#include "llama/llama_library.h"
#include "llama/settings.h"

namespace wasinn::llama {

class Model;

// {"prompt": the text of its tokens, "settings": {key: value, …}}. Charges the text to the reservation, which must
// exist. Throws WASINN_ERROR_TOO_LARGE.
std::string ReportOf(const Model& model, const Settings& settings, std::span<const llama_token> prompt,
                     backend::Reservation* reservation);

}  // namespace wasinn::llama
