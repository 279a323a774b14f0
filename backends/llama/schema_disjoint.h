// Whether JSON schemas exclude each other.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace wasinn::llama {

// The schema in `root` to which a reference ("#/…") leads, by the parts between slashes, as llama.cpp reads it. NULL: there is none.
const nlohmann::ordered_json* SchemaAt(const nlohmann::ordered_json& root, const nlohmann::ordered_json& reference);

// The type that a schema has for a value: "integer", "null", "string" …
const char* SchemaTypeOf(const nlohmann::ordered_json& value);

// Whether no value can be of both schemas, as far as their types, values and required properties show. References lead into `root`.
bool AreDisjoint(const nlohmann::ordered_json& root, const nlohmann::ordered_json& first,
                 const nlohmann::ordered_json& second);

}  // namespace wasinn::llama
