// What the conversion of a JSON schema to a grammar takes, reckoned before llama.cpp does it.
#ifndef WASINN_BACKENDS_LLAMA_SCHEMA_SIZE_H_
#define WASINN_BACKENDS_LLAMA_SCHEMA_SIZE_H_

#include <string>

namespace wasinn::llama {

// Throws WASINN_TOO_LARGE for a JSON schema whose conversion to a grammar takes too long: it grows with the third power
// of an object's properties. WASINN_INVALID_ARGUMENT: it has no end.
void CheckSchemaSize(const std::string& schema);

}  // namespace wasinn::llama

#endif  // WASINN_BACKENDS_LLAMA_SCHEMA_SIZE_H_
