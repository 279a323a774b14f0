// What a generation was asked for, as it can be read again.
#pragma once

#include <span>
#include <string>

#include "common/reservation.h"
#include "llama/llama_library.h"
#include "llama/settings.h"

namespace wasinn::llama {

class Model;

// {"prompt": the text of its tokens, "settings": {key: value, …}}. The reservation, which has to be there, is of the text. Throws
// WASINN_ERROR_TOO_LARGE.
std::string ReportOf(const Model& model, const Settings& settings, std::span<const llama_token> prompt,
                     backend::Reservation* reservation);

}  // namespace wasinn::llama
