// Texts with places for values, from which `wasinn new` makes a program.
#pragma once

#include <expected>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace wasinn::cli {

// Replaces {{name}} by values["name"], a string. The lines between a line {{#names}} and a line {{/names}} are repeated
// for each object in the array values["names"], whose members come before those of `values`. Error: a name that is
// unknown, or lines without an end.
std::expected<std::string, std::string> FillTemplate(std::string_view text, const nlohmann::ordered_json& values);

}  // namespace wasinn::cli
