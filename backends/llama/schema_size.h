// What the conversion of a JSON schema to a grammar takes, reckoned before llama.cpp does it.
#ifndef WASINN_BACKENDS_LLAMA_SCHEMA_SIZE_H_
#define WASINN_BACKENDS_LLAMA_SCHEMA_SIZE_H_

#include <string>
#include <vector>

namespace wasinn::llama {

// Throws WASINN_TOO_LARGE for JSON schemas whose conversion to a grammar takes too long: it grows with the third power of
// an object's properties. WASINN_INVALID_ARGUMENT: it has no end. `key`: for messages.
void CheckSchemaSizes(const char* key, const std::vector<std::string>& schemas);

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_SCHEMA_SIZE_H_
