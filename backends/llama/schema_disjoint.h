// Whether JSON schemas exclude each other.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace wasinn::llama {

// The schema in `root` that a reference ("#/…") leads to, read like in llama.cpp. NULL: there is none.
const nlohmann::ordered_json* SchemaAt(const nlohmann::ordered_json& root, const nlohmann::ordered_json& reference);

// The schema type of a value: "integer", "null", "string" …
const char* SchemaTypeOf(const nlohmann::ordered_json& value);

// Whether types, values and required properties show that no value fits both schemas. References lead into `root`.
bool AreDisjoint(const nlohmann::ordered_json& root, const nlohmann::ordered_json& first,
                 const nlohmann::ordered_json& second);

}  // namespace wasinn::llama
